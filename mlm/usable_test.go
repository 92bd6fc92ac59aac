package mlm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"infill/models"
)

// What Go lets a caller pass by mistake is an error with a remedy, and no panic: one in a goroutine
// of this package would end the caller's process.
func TestMissingArgumentsAreErrors(t *testing.T) {
	ctx := t.Context()
	var none context.Context
	m, err := Open(ctx, models.Small(), Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	enc, err := m.Tokenizer().Encode("The [MASK] sat.")
	if err != nil {
		t.Fatal(err)
	}
	s := &Sentence{IDs: enc.IDs, Blanks: []int{2}}
	state, logProb := [][]int32{{100}}, [][]float32{make([]float32, 1)}
	wide := [][]float32{make([]float32, m.VocabSize())}
	for _, c := range []struct {
		name string
		call func() error
		want error
		says string
	}{
		{"open without a context", func() error {
			_, err := Open(none, models.Small(), Options{})
			return err
		}, ErrOption, "context.Background()"},
		{"open without a folder", func() error {
			_, err := Open(ctx, nil, Options{})
			return err
		}, ErrNoModel, "models.Default()"},
		{"inspect without a folder", func() error {
			_, problems := Inspect(nil, "")
			return errors.Join(problems...)
		}, ErrNoModel, "models.Default()"},
		{"network without a context", func() error {
			_, err := OpenNetwork(none, t.TempDir(), "logits", Options{})
			return err
		}, ErrOption, "context.Background()"},
		{"evaluate without a context", func() error {
			return m.LogProb(none, s, state, logProb)
		}, ErrOption, "context.Background()"},
		{"evaluate without a sentence", func() error {
			return m.LogProb(ctx, nil, state, logProb)
		}, errSentence, "Encode"},
		{"an unknown gradient", func() error {
			return m.Gradient(ctx, s, state, 7, logProb, wide)
		}, ErrOption, "Full or Forward"},
	} {
		if err := c.call(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v that says %q", c.name, err, c.want, c.says)
		}
	}
	if _, err := Open(ctx, models.Small(), Options{Precision: 77}); !errors.Is(err, ErrOption) {
		t.Errorf("an unknown precision: %v", err)
	}
	for got, want := range map[string]string{
		GradientMode(9).String(): "gradient(9)", Precision(-3).String(): "precision(-3)",
		Forward.String(): "forward", Auto.String(): "auto",
	} {
		if got != want {
			t.Errorf("a value is called %s, want %s", got, want)
		}
	}
}

// A model that was never opened is a closed one.
func TestZeroModelIsClosed(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), &Model{}
	s := &Sentence{IDs: []int32{0, 1, 2}, Blanks: []int{1}}
	state, one := [][]int32{{0}}, [][]float32{{0}}
	for name, call := range map[string]func() error{
		"LogProb":      func() error { return m.LogProb(ctx, s, state, one) },
		"TokenLogProb": func() error { return m.TokenLogProb(ctx, s, state, []int{0}, one[0]) },
		"Gradient":     func() error { return m.Gradient(ctx, s, state, Full, one, one) },
		"Conditional":  func() error { return m.Conditional(ctx, s, state, []int{0}, one) },
		"Independent":  func() error { return m.Independent(ctx, s, one) },
	} {
		if err := call(); !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var n Network
	if _, _, _, err := n.Run(ctx, "a dog"); !errors.Is(err, errClosed) || n.Close() != nil {
		t.Errorf("a network that was never opened: %v", err)
	}
	if a, b, c := m.Work(); m.Close() != nil || m.Threads() != 0 || a != b || b != c {
		t.Error("a model that was never opened has threads, or has worked")
	}
}
