package samplers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// hearing is a table that records for which chain each state was asked, and holds what else it
// hears against the table and the chains.
type hearing struct {
	*tableTarget
	t     *testing.T
	name  string // of the sampler
	c     *Chains
	n     int  // chains
	fresh bool // memories are to be empty
	asked [][]string
	some  bool // there was a call in which a chain did not ask
}

func newHearing(t *testing.T, tab *tableTarget, name string, n int) *hearing {
	return &hearing{tableTarget: tab, t: t, name: name, n: n, fresh: true,
		asked: make([][]string, n)}
}

// hears is a sampler that shows its chains to the target.
type hears struct {
	Sampler
	h *hearing
}

func (s hears) Attach(c *Chains) (Kernel, error) {
	s.h.c = c
	return s.Sampler.Attach(c)
}

func (h *hearing) Energy(context.Context, [][]int32, []float64) error {
	return fmt.Errorf("%s asks by Energy", h.name)
}

func (h *hearing) EnergyGrad(context.Context, [][]int32, []float64, [][]float64) error {
	return fmt.Errorf("%s asks by EnergyGrad", h.name)
}

// ChainEnergy implements ChainEnergizer.
func (h *hearing) ChainEnergy(ctx context.Context, from Origins, x [][]int32, u []float64,
	grad [][]float64) error {
	h.t.Helper()
	if len(from.Chain) != len(x) || len(from.Memory) != h.n || !slices.IsSorted(from.Chain) ||
		(from.X != nil) != (from.U != nil) || (from.X != nil && grad != nil) != (from.Grad != nil) {
		h.t.Fatalf("%s: %d states, and from %+v", h.name, len(x), from)
	}
	chains := slices.Compact(slices.Clone(from.Chain))
	h.some = h.some || len(chains) < h.n
	for _, k := range chains {
		switch kept := from.Memory[k].(type) {
		case nil:
			from.Memory[k] = k
		case int:
			if kept != k || h.fresh {
				h.t.Errorf("%s: the memory of chain %d has %d, fresh: %v", h.name, k, kept, h.fresh)
			}
		}
	}
	h.fresh = false
	for j, k := range from.Chain {
		h.asked[k] = append(h.asked[k], fmt.Sprint(x[j], grad != nil))
		if from.X == nil {
			if h.c != nil && !slices.Equal(x[j], h.c.X[k]) {
				h.t.Errorf("%s: chain %d is at %v, not at %v", h.name, k, h.c.X[k], x[j])
			}
			continue
		}
		s := h.index(from.X[j])
		if from.U[j] != h.u[s] || h.c != nil && !slices.Equal(from.X[j], h.c.X[k]) {
			h.t.Errorf("%s: %v from %v of energy %v, chain %d", h.name, x[j], from.X[j], from.U[j], k)
		}
		if from.Grad != nil && !slices.Equal(from.Grad[j], h.grad[s]) {
			h.t.Errorf("%s: ∇U = %v at %v, want %v", h.name, from.Grad[j], from.X[j], h.grad[s])
		}
	}
	if grad == nil {
		return h.tableTarget.Energy(ctx, x, u)
	}
	return h.tableTarget.EnergyGrad(ctx, x, u, grad)
}

// asks runs some chains from x0, the first of them number first, with a change of target that is
// none, and evaluates at the end what was not.
func asks(t *testing.T, s Sampler, target Target, x0 [][]int32, first, steps int) *Run {
	t.Helper()
	ctx := context.Background()
	h, _ := target.(*hearing)
	if h != nil {
		s = hears{s, h}
	}
	run, err := Start(ctx, s, target, x0, Options{Seed: 1, First: first, Burnin: steps})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := run.Steps(ctx, steps, nil); err != nil {
			t.Fatal(err)
		}
		if h != nil {
			h.fresh = true
		}
		if err := run.Retarget(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	return run
}

// TestChainEnergy: every sampler says for which chain it asks, and from which state. What it asks
// for a chain is what it asks for that chain alone. The chains are those on a target that hears
// nothing.
func TestChainEnergy(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(5, 1)), Bits(4), 1, 0.5)
	x0 := [][]int32{{0, 1, 0, 1}, {1, 1, 0, 0}, {0, 0, 0, 0}}
	all := append(mhSamplers(4), &DULA{Batch: 2})
	for _, info := range List() {
		all = append(all, fresh(t, info.Name))
	}
	some := map[string]bool{}
	for _, s := range all {
		{
			h := newHearing(t, tab, s.Info().Name, len(x0))
			run, silent := asks(t, s, h, x0, 0, 25), asks(t, s, tab, x0, 0, 25)
			some[s.Info().Name] = some[s.Info().Name] || h.some
			for k, x := range x0 {
				if !slices.Equal(run.X[k], silent.X[k]) || run.U[k] != silent.U[k] {
					t.Errorf("%s: chain %d ends at %v, want %v", s.Info().Name, k, run.X[k], silent.X[k])
				}
				alone := newHearing(t, tab, s.Info().Name, 1)
				asks(t, s, alone, [][]int32{x}, k, 25)
				if !slices.Equal(h.asked[k], alone.asked[0]) {
					t.Errorf("%s: chain %d asked for %v, alone for %v", s.Info().Name, k, h.asked[k],
						alone.asked[0])
				}
				if len(alone.asked[0]) == 0 {
					t.Errorf("%s: chain %d asked for nothing", s.Info().Name, k)
				}
			}
		}
	}
	// In these a proposal may be the state itself, or another kernel moves the chain.
	for _, name := range []string{"dmala", "dula", "rows", "gibbs-mh", "acs"} {
		if !some[name] {
			t.Errorf("%s: every chain asked in every call", name)
		}
	}
}

// TestEvaluateNeedsGradients: a kernel that asks for gradients without NeedGradient gets an error of
// a target that has none.
func TestEvaluateNeedsGradients(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(5, 4)), Bits(2), 1, 0)
	run, err := Start(context.Background(), energyOnly{}, bare{tab}, [][]int32{{0, 1}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	grad := matrix[float64](1, 2)
	err = run.Evaluate(context.Background(), []int{0}, run.X, run.U, grad)
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("the error is %v", err)
	}
}
