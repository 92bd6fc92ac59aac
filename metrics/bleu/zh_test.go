package bleu

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"infill/metrics/corpus"
)

// Tokens and BLEU of 200 lines agree with sacrebleu's zh.
func TestChineseAsSacrebleu(t *testing.T) {
	t.Parallel()
	var want struct {
		Lines, Tokens, Refs []string
		BLEU                map[string]float64
	}
	b, err := os.ReadFile("testdata/zh.json")
	if err == nil {
		err = json.Unmarshal(b, &want)
	}
	if err != nil || len(want.Lines) != 200 {
		t.Fatal(err, len(want.Lines))
	}
	plain, err := corpus.NewPipeline(corpus.Options{Tokenizer: "zh", Case: "mixed"})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range want.Lines {
		if got := strings.Join(plain.Tokens(line), " "); got != want.Tokens[i] {
			t.Errorf("%+q: %+q, want %+q", line, got, want.Tokens[i])
		}
	}
	for name, score := range want.BLEU {
		p, err := corpus.NewPipeline(corpus.Options{Tokenizer: "zh", Case: name})
		if err != nil {
			t.Fatal(err)
		}
		v := &corpus.Vocab{}
		hyps, refs := corpus.New(v, p), corpus.New(v, p)
		for i := range want.Lines {
			if err := hyps.Add(want.Lines[i]); err != nil {
				t.Fatal(err)
			}
			if err := refs.Add(want.Refs[i]); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Paired(hyps, []*corpus.Corpus{refs}, Options{Smoothing: "exp", Denominator: "sacrebleu"})
		if err != nil || math.Abs(r.Percent()-score) > 1e-9 {
			t.Errorf("%s: %v, %v, want %v", name, r, err, score)
		}
	}
}
