package protocols

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"infill/infill"
	"infill/mlm"
	"infill/models"
)

// What a watcher saw after the last step are the states that chains ended in, in words and scores.
// Of earlier steps it has other states, and what is known of the whole run only is left out.
func TestWatch(t *testing.T) {
	m, err := mlm.Open(context.Background(), models.Small(), mlm.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	path := filepath.Join(t.TempDir(), "in.txt")
	if err := os.WriteFile(path, []byte("the [MASK] sat on the [MASK] , and [MASK] .\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := job{data: path, vocab: "all", steps: 12, at: "4", samplers: "gibbs",
		protocols: fromRandom, budgets: "steps", chains: 6}
	tasks, err := j.tasks(m.Tokenizer())
	if err != nil {
		t.Fatal(err)
	}
	opt := tasks[0].opt
	opt.Sampling.Chains, opt.Sampling.Steps, opt.Results.All = 6, 12, true
	if err := protocol(fromRandom, &opt); err != nil {
		t.Fatal(err)
	}
	w := watch(m.Tokenizer(), tasks[0].template, &opt)
	res, err := infill.New(m).Fill(context.Background(), tasks[0].template, opt)
	if err != nil {
		t.Fatal(err)
	}
	got := w.at(&record{}, 12)
	if len(got.States) != len(res.Fillings) {
		t.Fatalf("%d states, want %d", len(got.States), len(res.Fillings))
	}
	for i, f := range res.Fillings {
		s := got.States[i]
		if s.Text != f.Text || s.Count != f.Count || math.Abs(s.Score-f.Score) > 1e-4 {
			t.Errorf("state %d is %+v, want %q of %d at %v", i, s, f.Text, f.Count, f.Score)
		}
	}
	rec, early, err := j.one(context.Background(), &chain{model: m}, tasks[0], j.keys("1", 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	j.at = "12"
	if _, _, err := j.one(context.Background(), &chain{model: m}, tasks[0], j.keys("1", 1)[0]); err == nil {
		t.Error("the last step was accepted as an early one")
	}
	if len(early) != 1 || early[0].Steps != 4 || early[0].Of != 12 || early[0].Rows != 0 ||
		early[0].States[0].Text == rec.States[0].Text || rec.Rows == 0 || !(rec.RHat > 0) {
		t.Errorf("%+v and %+v", early, rec)
	}
}
