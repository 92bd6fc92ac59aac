package samplers_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/samplers"
)

// to proposes one value for the first coordinate, whatever the state is.
type to int32

func (to) Info() samplers.Info { return samplers.Info{Name: "to"} }

func (s to) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	return samplers.NewMH(c, s, samplers.MHOptions{})
}

func (s to) Propose(_ int, _ []int32, _ []float64, _ *rand.Rand, y []int32) float64 {
	y[0] = int32(s)
	return 0
}

func (to) Reverse(int, []int32, []int32, []float64) float64 { return 0 }

var errEnd = errors.New("the end")

// Methods of a run that Start has not made return an error. None of them panics.
func TestRunWithoutStart(t *testing.T) {
	ctx := t.Context()
	for name, call := range map[string]func(*samplers.Run) error{
		"Step":     func(r *samplers.Run) error { return r.Step(ctx) },
		"Steps":    func(r *samplers.Run) error { return r.Steps(ctx, 1, nil) },
		"Sample":   func(r *samplers.Run) error { return r.Sample(ctx, 1) },
		"Rescale":  func(r *samplers.Run) error { return r.Rescale(ctx, 2) },
		"Retarget": func(r *samplers.Run) error { return r.Retarget(ctx) },
	} {
		err := call(&samplers.Run{})
		if !errors.Is(err, samplers.ErrParam) || !strings.Contains(err.Error(), "Start") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What Go lets a caller pass by mistake is an error with a remedy, and no panic.
func TestMissingArgumentsAreErrors(t *testing.T) {
	var none context.Context
	ctx := t.Context()
	target := masked{samplers.Bits(2)}
	x0 := [][]int32{{0, 0}}
	run, err := samplers.Start(ctx, to(0), target, x0, samplers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		call func() error
		want error
		says string
	}{
		{"start without a context", func() error {
			_, err := samplers.Start(none, to(0), target, x0, samplers.Options{})
			return err
		}, samplers.ErrParam, "context.Background()"},
		{"step without a context", func() error { return run.Step(none) }, samplers.ErrParam,
			"context.Background()"},
		{"a kernel without a proposal", func() error {
			_, err := samplers.NewMH(run.Chains, nil, samplers.MHOptions{})
			return err
		}, samplers.ErrParam, "proposal"},
		{"a kernel with gradients in the place of rows", func() error {
			_, err := samplers.NewMH(run.Chains, to(0), samplers.MHOptions{Gradient: true, Rows: true})
			return err
		}, samplers.ErrParam, "leave one out"},
		{"a step after the end of a context", func() error {
			ctx, end := context.WithCancelCause(ctx)
			end(errEnd)
			return run.Step(ctx)
		}, errEnd, "the end"},
	} {
		if err := c.call(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v that says %q", c.name, err, c.want, c.says)
		}
	}
	if err := run.Sample(ctx, 2, nil); err != nil {
		t.Errorf("a visit that is nil: %v", err)
	}
}

// A proposal outside the domain was taken for a state, or panicked in the target.
func TestProposalOutsideTheDomain(t *testing.T) {
	target := masked{samplers.Bits(2)}
	for _, v := range []to{-1, 2, 9} {
		run, err := samplers.Start(t.Context(), v, target, [][]int32{{0, 0}}, samplers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = run.Sample(t.Context(), 3)
		if !errors.Is(err, samplers.ErrState) || !strings.Contains(err.Error(), "want 0 to 1") ||
			!strings.Contains(err.Error(), "sampler to") {
			t.Errorf("proposal of %d: %v", v, err)
		}
	}
	run, err := samplers.Start(t.Context(), to(1), target, [][]int32{{0, 0}}, samplers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Sample(t.Context(), 3); err != nil || run.X[0][0] != 1 {
		t.Errorf("a proposal inside: %v, %v", err, run.X)
	}
}

// masked is a flat target with a category that the domain does not allow.
type masked struct{ d *samplers.Domain }

func (m masked) Domain() *samplers.Domain { return m.d }

func (m masked) Energy(_ context.Context, _ [][]int32, u []float64) error {
	clear(u)
	return nil
}

// A proposal of a masked category is refused, whatever the target says of it.
func TestProposalOutsideTheMask(t *testing.T) {
	d, err := samplers.NewDomain(samplers.Coord{Kind: samplers.Nominal, K: 3,
		Allowed: []bool{true, true, false}})
	if err != nil {
		t.Fatal(err)
	}
	for v, bad := range map[to]bool{1: false, 2: true} {
		run, err := samplers.Start(t.Context(), v, masked{d}, [][]int32{{0}}, samplers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Sample(t.Context(), 3); errors.Is(err, samplers.ErrState) != bad {
			t.Errorf("proposal of %d: %v, state %v", v, err, run.X)
		}
	}
}
