package trigger

import (
	"bufio"
	"context"
	"os"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm"
	"infill/models"
)

func smallModel(t *testing.T) *mlm.Model {
	t.Helper()
	orttest.Load(t)
	m, err := mlm.Open(context.Background(), models.Small(), mlm.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// On the model small and sentences of our own a short search learns what helps on sentences
// that it has not seen.
func TestSmallModel(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/kitchen-weather.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	examples, err := Read(f, f.Name(), "text", "label")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), models.Small(), smallModel(t), examples, Options{Steps: 40, Batch: 6, Words: 3,
		Slope: 5, Objective: Word, Verbalizer: map[string]string{"kitchen": "monday", "weather": "friday"}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%q: %+v; without: %+v", r.Trigger, r.Both, r.Empty)
	const least = 0.5 // nats
	if !(r.HeldOut.Objective > r.Empty.HeldOut.Objective+least &&
		r.HeldOut.Objective > r.Random.HeldOut.Objective+least) {
		t.Errorf("%+v is not better than %+v without, and %+v at random", r.HeldOut, r.Empty.HeldOut,
			r.Random.HeldOut)
	}
}

// Fiction against an encyclopaedia.
func TestFictionAgainstEncyclopaedia(t *testing.T) {
	testmode.Long(t)
	t.Parallel()
	var examples []Example
	for _, c := range []struct{ label, file string }{{"fiction", "tbc.5k.txt"},
		{"encyclopaedia", "wiki103.5k.txt"}} {
		f, err := os.Open(testmode.Shared(t, "data", "eval", c.file))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		lines := bufio.NewScanner(f)
		for n := 0; n < 300 && lines.Scan(); {
			text := lines.Text()
			if strings.Contains(text, "@") || len(strings.Fields(text)) < 8 {
				continue // marks of the corpus, which would give it away
			}
			examples = append(examples, Example{Text: text, Label: c.label})
			n++
		}
	}
	r, err := Run(context.Background(), models.Small(), smallModel(t), examples, Options{Steps: 150, Slope: 1,
		Verbalizer: map[string]string{"encyclopaedia": "history"}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%q: %+v; without: %+v", r.Trigger, r.Both, r.Empty)
	if !(r.HeldOut.Objective > r.Empty.HeldOut.Objective+0.1 &&
		r.HeldOut.Accuracy > r.Empty.HeldOut.Accuracy+0.08) {
		t.Errorf("%+v, without a trigger %+v", r.HeldOut, r.Empty.HeldOut)
	}
}
