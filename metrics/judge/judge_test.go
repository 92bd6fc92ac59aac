package judge

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/open"
	"infill/internal/ort/orttest"
	"infill/mlm"
)

// expected is what torch says of a text, see testdata/gen_gpt2.py.
type expected struct {
	Text    string
	LogProb float64 `json:"log_prob"`
	Tokens  int
}

func readExpected(t *testing.T) (of []expected, texts []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/expected.json")
	if err == nil {
		err = json.Unmarshal(b, &of)
	}
	if err != nil || len(of) < 5 {
		t.Fatalf("%d texts, %v", len(of), err)
	}
	for _, e := range of {
		texts = append(texts, e.Text)
	}
	return of, texts
}

func opened(t *testing.T, name string) *Judge {
	t.Helper()
	orttest.Load(t)
	j, err := Open(t.Context(), name, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// A random GPT-2 gives every text what torch gives it. One text at a time, as all together.
func TestCausal(t *testing.T) {
	j := opened(t, "testdata/gpt2")
	want, texts := readExpected(t)
	got, err := j.Verdicts(t.Context(), texts)
	if err != nil || j.Pseudo || !strings.HasPrefix(j.Sum, "sha256:") {
		t.Fatalf("%v, %+v", err, j)
	}
	sum, tokens, characters, words := 0.0, 0, 0, 0
	for i, w := range want {
		if got[i].Tokens != w.Tokens || math.Abs(got[i].LogProb-w.LogProb) > 1e-4 {
			t.Errorf("%q: %+v, torch has %v of %d tokens", w.Text, got[i], w.LogProb, w.Tokens)
		}
		if ppl := math.Exp(-w.LogProb / float64(w.Tokens)); math.Abs(Perplexity(got[i])/ppl-1) > 1e-4 {
			t.Errorf("%q: perplexity %v, torch has %v", w.Text, Perplexity(got[i]), ppl)
		}
		sum, tokens = sum+w.LogProb, tokens+w.Tokens
		characters, words = characters+len([]rune(w.Text)), words+len(strings.Fields(w.Text))
	}
	for _, c := range []struct {
		n   int
		per func(Verdict) int
	}{{characters, func(v Verdict) int { return v.Characters }},
		{words, func(v Verdict) int { return v.Words }}} {
		if of := Loss(c.per, got...) * float64(c.n); c.n == 0 || math.Abs(of/-sum-1) > 1e-5 {
			t.Errorf("over %d: %v, torch has %v", c.n, of, sum)
		}
	}
	if ppl := math.Exp(-sum / float64(tokens)); math.Abs(Perplexity(got...)/ppl-1) > 1e-4 {
		t.Errorf("of all: %v, torch has %v", Perplexity(got...), ppl)
	}
}

// What a judge cannot read has no verdict, and takes none from the others.
func TestRefused(t *testing.T) {
	j := opened(t, "testdata/gpt2")
	long := strings.Repeat("猫", 48)
	got, err := j.Verdicts(t.Context(), []string{"", "the cat", long, " ", "a\xff", "the cat"})
	if err != nil || got[1].Tokens == 0 || got[1] != got[5] {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, i := range []int{0, 2, 3, 4} {
		if got[i] != (Verdict{}) || !math.IsNaN(Perplexity(got[i])) {
			t.Errorf("text %d: %+v", i, got[i])
		}
	}
}

// A masked model gives the pseudo-log-likelihood that scores have.
func TestMasked(t *testing.T) {
	const folder, sentence = "../../mlm/testdata/tiny-bert", "the old dog sleeps in the house ."
	j := opened(t, folder)
	got, err := j.Verdicts(t.Context(), []string{sentence})
	if err != nil || !j.Pseudo {
		t.Fatal(err)
	}
	m, err := open.Model(t.Context(), folder, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := infill.New(m)
	s, err := e.Score(t.Context(), sentence, infill.ScoreOptions{By: infill.ScorePLL})
	if err = errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	if got[0].Tokens != len(s.Pieces) || math.Abs(got[0].LogProb-s.Score) > 1e-4 ||
		j.Sum != "sha256:"+m.Info().SHA256 {
		t.Errorf("%+v, the score is %v of %d pieces", got[0], s.Score, len(s.Pieces))
	}
}

// With one token a text the loss is a mean, whose jackknife is Student's interval.
func TestInterval(t *testing.T) {
	t.Parallel()
	var units [][]Verdict
	for _, x := range []float64{3, 1, 4, 1, 5} {
		units = append(units, []Verdict{{LogProb: -x, Words: 1}})
	}
	words := func(v Verdict) int { return v.Words }
	const mean, half = 2.8, 2.7764451052 * 0.8
	low, high := Interval(words, units, .95, 50)
	if math.Abs(low-(mean-half)) > 1e-9 || math.Abs(high-(mean+half)) > 1e-9 {
		t.Errorf("%v to %v", low, high)
	}
	if low, _ := Interval(words, units[:1], .95, 50); !math.IsNaN(low) {
		t.Errorf("of one: %v", low)
	}
	// Whole blocks: five units in two parts are the first two and the last three.
	low, high = Interval(words, units, .5, 2) // t of one degree at one half is 1
	middle := (10./3 - 2) / 2
	r := math.Sqrt(.5 * 2 * middle * middle)
	if math.Abs(low+r-mean) > 1e-9 || math.Abs(high-r-mean) > 1e-9 {
		t.Errorf("%v to %v", low, high)
	}
}

// A folder that is not what it says is refused by a name and a reason.
func TestRefusedFolder(t *testing.T) {
	orttest.Load(t)
	dir := filepath.Join(t.TempDir(), "gpt2")
	if err := os.CopyFS(dir, os.DirFS("testdata/gpt2")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "tokenizer_config.json")
	if err := os.WriteFile(config, []byte(`{"bos_token": "<x>"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), dir, mlm.Options{})
	if err == nil || !strings.Contains(err.Error(), dir) ||
		!strings.Contains(err.Error(), `bos_token "<x>" is not in the vocabulary`) {
		t.Errorf("%v", err)
	}
	if err := os.Remove(config); err != nil { // GPT-2's own folder names no token
		t.Fatal(err)
	}
	j, err := Open(t.Context(), dir, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
}

// An error that is no text's names the judge.
func TestVerdictsNameTheJudge(t *testing.T) {
	t.Parallel()
	j := &Judge{name: "models/mine", one: func(context.Context, string) (Verdict, error) {
		return Verdict{}, mlm.ErrNotFinite
	}}
	_, err := j.Verdicts(t.Context(), []string{"A text."})
	if !errors.Is(err, mlm.ErrNotFinite) || !strings.Contains(err.Error(), "models/mine") {
		t.Error(err)
	}
}
