package protocols

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/infill"
	"infill/mlm"
	"infill/models"
)

// The target of protocol M has the energies that package infill has of states in words, in which no
// token lacks a category. With [MASK] in every blank its rows are what the model says there. Its
// forward gradient is its rows, so that entries lie where they belong.
func TestMaskedTarget(t *testing.T) {
	ctx := context.Background()
	m, err := mlm.Open(ctx, models.Small(), mlm.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	path := filepath.Join(t.TempDir(), "in.txt")
	if err := os.WriteFile(path, []byte("the [MASK] sat on the [MASK] , and [MASK] .\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := job{data: path, vocab: "all", steps: 12, at: "4", samplers: "gibbs dmala", budgets: "steps",
		protocols: fromMasks, chains: 6}
	tasks, err := j.tasks(m.Tokenizer())
	if err != nil {
		t.Fatal(err)
	}
	tmpl := tasks[0].template
	s := &mlm.Sentence{IDs: tmpl.IDs, Blanks: tmpl.Positions()}
	target := newMaskedTarget(m, s, mlm.Forward)

	opt := tasks[0].opt
	opt.Sampling.Chains, opt.Sampling.Steps, opt.Sampling.Start = 20, 3, infill.StartRandom
	w := watch(m.Tokenizer(), tmpl, &opt)
	if _, err := infill.New(m).Fill(ctx, tmpl, opt); err != nil {
		t.Fatal(err)
	}
	for k, chain := range w.trace.Tokens {
		for step, tokens := range chain {
			x := make([]int32, len(tokens))
			for i, id := range tokens {
				x[i] = int32(slices.Index(target.ids, id))
			}
			if err := target.dom.Check(x); err != nil {
				t.Fatalf("%v: %v", tokens, err)
			}
			u := make([]float64, 1)
			if err := target.Energy(ctx, [][]int32{x}, u); err != nil {
				t.Fatal(err)
			}
			if want := w.trace.Energy[k][step]; math.Abs(u[0]-want) > 1e-4 {
				t.Errorf("U of %v is %v, want %v", tokens, u[0], want)
			}
		}
	}

	x := target.start(1)
	said := rows(3, m.VocabSize())
	if err := m.Independent(ctx, s, said); err != nil {
		t.Fatal(err)
	}
	u, grad := make([]float64, 1), [][]float64{make([]float64, target.dom.GradLen())}
	if err := target.EnergyGrad(ctx, x, u, grad); err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for i := range 3 {
		row := [][]float64{make([]float64, len(target.ids))}
		if err := target.Conditional(ctx, x, []int{i}, row); err != nil {
			t.Fatal(err)
		}
		for c, id := range target.ids {
			p, g := float64(said[i][id]), grad[0][target.dom.GradOffset(i)+c]
			if math.Abs(row[0][c]-p) > 1e-4 || math.Abs(g-p) > 1e-4 {
				t.Fatalf("blank %d, %s: %v and %v, want %v", i, m.Tokenizer().Token(id), row[0][c], g, p)
			}
		}
		want += float64(said[i][m.Tokenizer().MaskID()])
	}
	if math.Abs(u[0]-want) > 1e-3 || u[0] > -15 {
		t.Errorf("U of masks is %v, want %v", u[0], want)
	}

	for _, k := range j.keys("1", 1) {
		rec, early, err := j.one(ctx, &chain{model: m}, tasks[0], k)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range rec.States {
			n += s.Count
			if strings.Contains(s.Text, "[MASK]") {
				t.Errorf("%s: %q after 12 steps", k.Sampler, s.Text)
			}
		}
		if n != 6 || rec.Steps != 12 || rec.Made != 12 || rec.Of != 0 || rec.Evals == 0 ||
			!(rec.RHat > 0) || !(rec.Moves > 0) || len(early) != 1 || early[0].Of != 12 ||
			early[0].States[0].Text == rec.States[0].Text {
			t.Errorf("%+v and %+v", rec, early)
		}
	}
	for _, bad := range []job{{vocab: "words", budgets: "steps"}, {vocab: "all", budgets: "rows"}} {
		j.vocab, j.budgets = bad.vocab, bad.budgets
		if _, _, err := j.one(ctx, &chain{model: m}, tasks[0], j.keys("1", 1)[0]); err == nil {
			t.Errorf("protocol M with %+v was accepted", bad)
		}
	}
}
