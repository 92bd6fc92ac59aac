package mlm

import (
	"context"
	"errors"
	"testing"
)

// What does not fit is an error.
func TestPromptsRefuse(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := openTiny(t, Options{})
	p, err := m.Prompts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // end of the test
	good := PromptRow{IDs: []int32{1, 2, 3, 4}, Blanks: []int{1}, Ask: 2, Target: 3}
	for name, change := range map[string]func(r *PromptRow){
		"no blank":           func(r *PromptRow) { r.Blanks = nil },
		"a blank outside":    func(r *PromptRow) { r.Blanks = []int{4} },
		"asking at a blank":  func(r *PromptRow) { r.Ask = 1 },
		"asking outside":     func(r *PromptRow) { r.Ask = -1 },
		"a target outside":   func(r *PromptRow) { r.Target = 1 << 30 },
		"an id outside":      func(r *PromptRow) { r.IDs = []int32{1, 2, 3, -1} },
		"a sentence of none": func(r *PromptRow) { r.IDs = nil },
	} {
		row := good
		change(&row)
		prompt := make([]float32, len(row.Blanks)*p.Dimension())
		err := p.Gradient(ctx, []PromptRow{row}, prompt, make([]float32, 1), room32(1, len(prompt)))
		if !errors.Is(err, ErrSentence) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.Gradient(ctx, []PromptRow{good}, make([]float32, p.Dimension()), make([]float32, 1),
		room32(1, p.Dimension())); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := p.Gradient(ended, []PromptRow{good}, make([]float32, p.Dimension()), make([]float32, 1),
		room32(1, p.Dimension())); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func room32(n, width int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, width)
	}
	return out
}
