package trigger

import (
	"context"
	"errors"
	"testing"
)

// What does not fit is an error.
func TestPromptsRefuse(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := tinyPrompts(t)
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
		err := p.Gradient(ctx, []PromptRow{row}, prompt, make([]float32, 1), newRows(1, len(prompt)))
		if !errors.Is(err, ErrPrompt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	prompt := make([]float32, p.Dimension())
	if err := p.Gradient(ctx, []PromptRow{good}, prompt, make([]float32, 1),
		newRows(1, len(prompt))); err != nil {
		t.Error(err)
	}
	if err := p.Gradient(ctx, []PromptRow{good}, prompt, make([]float32, 1),
		newRows(1, 3)); !errors.Is(err, ErrPrompt) {
		t.Errorf("too little room: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := p.LogProb(ended, []PromptRow{good}, prompt, make([]float32, 1)); !errors.Is(err,
		context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if p.Embedding(-1) != nil || p.Embedding(1<<30) != nil || len(p.Embedding(5)) != p.Dimension() {
		t.Error("a token that is not there has a vector")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.LogProb(ctx, []PromptRow{good}, prompt, make([]float32, 1)); !errors.Is(err, ErrPrompt) {
		t.Errorf("closed prompts: %v", err)
	}
}
