package report_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"infill/infill"
	"infill/metrics/judge"
	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

// stern is a judge for whom every word has the probability e⁻¹, "bad" e⁻³, and a text of more than
// five words none.
func stern() *measure.Judge {
	return &measure.Judge{Sum: "sha256:0123456789", Verdicts: func(texts []string) (
		[]judge.Verdict, error) {
		out := make([]judge.Verdict, len(texts))
		for i, s := range texts {
			words := strings.Fields(s)
			if len(words) > 5 {
				continue
			}
			bad := float64(strings.Count(s, "bad"))
			out[i] = judge.Verdict{LogProb: -float64(len(words)) - 2*bad, Tokens: len(words),
				Characters: len(s), Words: len(words)}
		}
		return out, nil
	}}
}

// A corpus has the perplexity of its tokens, files of the same texts a difference on them.
func TestEvalJudge(t *testing.T) {
	t.Parallel()
	records := func(words ...string) (out []string) {
		for i, w := range words {
			text := "text " + strings.Repeat("x", i)
			out = append(out, `{"text": "`+text+` [MASK]", "fillings": [{"text": "`+text+` `+w+`"}]}`)
		}
		return out
	}
	r, err := measure.Eval([]read.Input{
		inMemory("a.jsonl", records("good", "bad", "good", "one two three four five")),
		inMemory("b.jsonl", records("bad", "bad", "bad", "good")),
	}, nil, measure.EvalOptions{Options: judged(stern())})
	if err != nil {
		t.Fatal(err)
	}
	a, b := metric(t, r.Rows[0], "judge_perplexity"), metric(t, r.Rows[1], "judge_perplexity")
	// "text" of the first text, and "text x…" of the others, with a word behind it.
	if want := math.Exp(10. / 8); math.Abs(a.Value-want) > 1e-9 {
		t.Errorf("a: %v, want %v", a.Value, want)
	}
	if want := math.Exp(17. / 11); math.Abs(b.Value-want) > 1e-9 || !b.HasInterval() || b.Low <= 0 {
		t.Errorf("b: %+v, want %v", b, want)
	}
	c, w := metric(t, r.Rows[0], "judge_bits_per_character"), metric(t, r.Rows[0], "judge_nats_per_word")
	if math.Abs(c.Value-10/math.Ln2/32) > 1e-9 || math.Abs(w.Value-10./8) > 1e-9 || !w.HasInterval() ||
		!strings.HasPrefix(c.Signature, "bpc|judge:01234567|agg:characters|N:3|") {
		t.Errorf("%+v, %+v", c, w)
	}
	if len(a.Warnings) != 1 || !strings.HasPrefix(a.Warnings[0], "1 of 4 sentences is left out") ||
		!strings.HasPrefix(a.Signature, "ppl|judge:01234567|agg:tokens|N:3|jk:3|units:3|") {
		t.Errorf("%q, %s", a.Warnings, a.Signature)
	}
	if d := metric(t, r.Differences[0], "judge_perplexity"); math.Abs(d.Value-(b.Value-a.Value)) > 1e-9 ||
		!d.HasInterval() {
		t.Errorf("%+v, want %v", d, b.Value-a.Value)
	}
	var out struct {
		Judged [][]struct {
			Text                string
			LogProb, Perplexity *float64
			Tokens              int
		}
	}
	var text strings.Builder
	if err := show.Eval(r).JSON(&text); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text.String()), &out); err != nil || len(out.Judged) != 2 {
		t.Fatalf("%v: %+v", err, out)
	}
	one, long := out.Judged[0][1], out.Judged[0][3]
	if one.Text != "text x bad" || one.Tokens != 3 ||
		math.Abs(*one.Perplexity-math.Exp(5./3)) > 1e-9 || long.Perplexity != nil || long.Tokens != 0 {
		t.Errorf("%+v, %+v", one, long)
	}
}

// Samplers are judged by their fillings, and a judge that fails ends the report.
func TestCompareJudge(t *testing.T) {
	t.Parallel()
	sources := []read.Source{{Text: "a [MASK]"}, {Text: "b [MASK]"}}
	run := func(name string, texts ...string) measure.SamplerRun {
		out := measure.SamplerRun{Name: name, MoveShare: math.NaN(), Acceptance: math.NaN()}
		for _, s := range texts {
			out.Sentences = append(out.Sentences, measure.SentenceRun{Total: 1, Distinct: 1,
				Fillings: []infill.Filling{{Text: s, Spans: [][2]int{{2, len(s)}}}}})
		}
		return out
	}
	c := &measure.Comparison{Sources: sources, Samplers: []measure.SamplerRun{
		run("x", "a good", "b bad"), run("y", "a bad", "b bad")}}
	compare := func(j *measure.Judge) (*measure.CompareResult, error) {
		p, err := measure.Prepare(sources, nil, measure.CompareOptions{
			Options: judged(j)})
		if err != nil {
			t.Fatal(err)
		}
		return p.Compare(c)
	}
	r, err := compare(stern())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{math.Exp(6. / 4), math.Exp(8. / 4)} {
		if m := metric(t, r.Rows[i], "judge_perplexity"); math.Abs(m.Value-want) > 1e-9 {
			t.Errorf("sampler %d: %v, want %v", i, m.Value, want)
		}
	}
	d := metric(t, r.Differences[0], "judge_perplexity")
	if want := math.Exp(2) - math.Exp(1.5); math.Abs(d.Value-want) > 1e-9 || len(r.Judged) != 2 {
		t.Errorf("%+v, want %v", d, want)
	}
	broken := errors.New("broken")
	if _, err := compare(&measure.Judge{Verdicts: func([]string) ([]judge.Verdict, error) {
		return nil, broken
	}}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
