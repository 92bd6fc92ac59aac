package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/report/measure"
)

// comparison runs infill compare on the tiny model and reads its JSON.
func comparison(t *testing.T, code int, args ...string) (*measure.CompareResult, outcome) {
	t.Helper()
	r := infillRun(
		"",
		withTiny(append([]string{"compare", "--quiet", "--json", "--seed", "1"}, args...)...)...)
	if r.code != code {
		t.Fatalf("%v: exit %d, want %d: %s", args, r.code, code, r.err)
	}
	var res measure.CompareResult
	if err := json.Unmarshal([]byte(r.out), &res); err != nil {
		t.Fatalf("%v: %v: %s", args, err, r.out)
	}
	return &res, r
}

func value(t *testing.T, row measure.Row, key string) float64 {
	t.Helper()
	m, ok := row.Get(key)
	if !ok {
		t.Fatalf("%s has no %s", row.Name, key)
	}
	return m.Value
}

const blanksFile = "the [MASK] sleeps in the [MASK] .\nthe [MASK] [MASK] saw a [MASK] near the [MASK] .\nshe ate a [MASK] banana .\na [MASK*1-2] runs .\n"

// The samplers make the same number of model evaluations, to within half a
// step's worth a sentence, though their steps cost different numbers of them.
func TestCompareEqualEvaluations(t *testing.T) {
	t.Parallel()
	const sentences, chains, steps = 4, 10, 30
	in := write(t, "in.txt", blanksFile)
	five := []string{
		"--steps", fmt.Sprint(steps), "--chains", fmt.Sprint(chains), "--samplers",
		"gibbs,gwg,dula,dmala,dlmc", in,
	}
	res, _ := comparison(t, 0, five...)
	if len(res.Rows) != 5 {
		t.Fatalf("%d rows", len(res.Rows))
	}
	want := float64(sentences * chains * (steps + 1))
	stepCounts := map[float64]bool{}
	for _, row := range res.Rows {
		if n := value(t, row, "evaluations"); math.Abs(n-want) > sentences*chains/2 {
			t.Errorf("%s made %v evaluations, want %v", row.Name, n, want)
		}
		stepCounts[value(t, row, "steps")] = true
	}
	if len(stepCounts) < 3 {
		t.Errorf("steps %v: all samplers cost the same, and the test shows nothing", stepCounts)
	}
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "equal budgets") ||
		!strings.Contains(res.Protocol, "10 chains × 31 model evaluations") {
		t.Errorf("%q, %q", notes, res.Protocol)
	}
	for _, tr := range res.Traces {
		if end := tr.X[len(tr.X)-1]; math.Abs(end-(steps+1)) > 1 || !tr.Evaluations {
			t.Errorf("%s: the trace ends at %v evaluations", tr.Sampler, end)
		}
	}
	// Rows and steps, if those are asked for.
	res, _ = comparison(t, 0, append([]string{"--budget", "rows"}, five...)...)
	for _, row := range res.Rows {
		if n, first := value(t, row, "rows"), value(t, res.Rows[0], "rows"); math.Abs(
			n-first,
		) > 0.02*first {
			t.Errorf("%s: %v rows, gibbs %v", row.Name, n, first)
		}
	}
	res, _ = comparison(t, 0, append([]string{"--budget", "steps"}, five...)...)
	for _, row := range res.Rows {
		if n := value(t, row, "steps"); n != steps {
			t.Errorf("%s: %v steps", row.Name, n)
		}
	}
}

// Fillings come from the last states, from those of each chain after its burn-in, or from all that
// were evaluated.
func TestCompareStates(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", "the [MASK] sleeps in the [MASK] .\nthe [MASK] saw a [MASK] .\n")
	base := []string{"--samplers", "gwg", "--steps", "20", "--budget", "steps", "--chains", "2", in}
	for _, c := range []struct {
		flags, protocol string
		want            string // states of two sentences
	}{
		{"", "last state", "of 4 states"},
		{"--collect chain --thin 1", "states after the burn-in", "of 40 states"},
		{"--collect chain --thin 4", "states after the burn-in", "of 8 states"},
		{"--collect visited", "all states that were evaluated", "of 84 states"},
	} {
		res, _ := comparison(t, 0, append(strings.Fields(c.flags), base...)...)
		m, ok := res.Rows[0].Get("distinct_fillings")
		if !ok || !strings.Contains(m.Detail, c.want) || !strings.Contains(res.Protocol, c.protocol) {
			t.Errorf("%q: %q, %q", c.flags, m.Detail, res.Protocol)
		}
	}
}

// A comparison is a function of its input and seed: threads and batches only
// change how long it takes.
func TestCompareDeterministic(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", blanksFile)
	var first *measure.CompareResult
	for _, how := range [][]string{{"--threads", "1", "--batch-tokens", "16"}, {"--threads", "2"}, {"--threads", "3", "--batch-tokens", "100"}} {
		res, _ := comparison(
			t, 0,
			append(how, "--steps", "12", "--chains", "7", "--samplers", "gibbs,gwg,dula,dmala,dlmc", in)...)
		for _, row := range res.Rows {
			for i := range row.Metrics {
				if row.Metrics[i].Key == "wall" {
					row.Metrics[i].Value = 0
				}
			}
		}
		res.Command = ""
		if first == nil {
			first = res
		} else if !reflect.DeepEqual(first, res) {
			t.Errorf("%v: %+v\nfirst: %+v", how, res.Rows, first.Rows)
		}
	}
}

// Masking by number, with a distance from what stood there, and the choice of
// fillings work as in the other commands.
func TestCompareMasking(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", "the dog sleeps in the house .\nthe big cat saw a small bird .\n")
	res, _ := comparison(
		t, 0, "--mask-words", "2", "--min-distance", "2", "--select", "diverse", "--steps", "6",
		"--chains", "12", "--top", "3", "--samplers", "dmala", "--examples", "2", in,
	)
	if !strings.Contains(res.Protocol, "words masked: 2") ||
		!strings.Contains(res.Protocol, "distance of 2") ||
		!strings.Contains(res.Protocol, "overlap") {
		t.Errorf("protocol %q", res.Protocol)
	}
	if len(res.Examples) != 2 || strings.Count(res.Examples[0].Text, "[MASK]") != 2 {
		t.Fatalf("%+v", res.Examples)
	}
	b, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	for i, ex := range res.Examples {
		gold := strings.Fields(strings.Split(string(b), "\n")[i])
		for _, f := range ex.Samplers[0].Texts {
			var text strings.Builder
			for _, p := range f.Parts {
				text.WriteString(p.Text)
			}
			words := strings.Fields(text.String())
			for k, masked := range strings.Fields(ex.Text) {
				// A distance of 2 rules the word itself out.
				if masked == "[MASK]" && len(words) == len(gold) && words[k] == gold[k] {
					t.Errorf("%q has the masked word %q again", text.String(), gold[k])
				}
			}
		}
	}
}

// Lines that cannot be filled are left out, with a warning, a note in the
// report and exit code 1; with --strict they stop the run.
func TestCompareLeavesOut(t *testing.T) {
	t.Parallel()
	in := write(
		t, "in.txt",
		"the [MASK] sleeps .\nno blank here .\nthe [MASK sleeps .\nshe ate a [MASK] banana .\nthe [MASK/^zzz$/] sleeps .\n",
	)
	args := []string{"--steps", "3", "--chains", "4", "--samplers", "dmala,gibbs", in}
	res, r := comparison(t, exitSomeFailed, args...)
	if res.Sentences != 3 {
		t.Errorf("%d sentences", res.Sentences)
	}
	for _, want := range []string{"sentence 2: the text has no blank", "--mask-words", "sentence 3", "sampler dmala: sentence 5: ", "sampler gibbs: sentence 5: "} {
		if !strings.Contains(r.err, want) {
			t.Errorf("standard error lacks %q: %s", want, r.err)
		}
	}
	notes := strings.Join(res.Notes, "\n")
	if m, _ := res.Rows[0].Get("self_bleu"); !strings.Contains(notes, "left out: 2") ||
		!strings.Contains(strings.Join(m.Warnings, " "), "1 of 3 sentences could not be filled") {
		t.Errorf("notes %q, warnings %q", notes, m.Warnings)
	}
	for _, c := range []struct{ in, says string }{
		{in, "sentence 2"},
		{write(t, "five.txt", "the [MASK/^zzz$/] sleeps .\n"), "blank 1"},
	} {
		r := infillRun(
			"",
			withTiny(
				append(
					[]string{"compare", "--quiet", "--strict"},
					append(args[:len(args)-1:len(args)-1], c.in)...)...)...)
		if r.code != exitUsage || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("strict: exit %d, %q, %s", r.code, r.err, r.out)
		}
	}
	// Hundreds of bad lines are not hundreds of messages.
	many := write(t, "many.txt", "the [MASK] sleeps .\n"+strings.Repeat("no blank here .\n", 300))
	_, r = comparison(t, exitSomeFailed, append(args[:len(args)-1:len(args)-1], many)...)
	if n := strings.Count(r.err, "\n"); n > 12 || !strings.Contains(r.err, "300 sentences left out") {
		t.Errorf("%d lines of warnings: %s", n, r.err)
	}
}

// The trace has every step of every chain, by sampler and sentence.
func TestCompareTrace(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", "the [MASK] sleeps .\nshe ate a [MASK] banana .\n")
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	args := []string{
		"--budget", "steps", "--steps", "3", "--chains", "4", "--samplers", "gibbs,dmala:balance=ratio",
		"--trace", path, in,
	}
	comparison(t, 0, args...)
	seen := map[string]int{}
	for _, l := range strings.Split(strings.TrimSpace(get(t, path)), "\n") {
		var rec jsonl.Step
		if err := json.Unmarshal([]byte(l), &rec); err != nil {
			t.Fatal(err)
		}
		seen[rec.Sampler+" "+rec.ID]++
		if len(rec.Energy) != 4 || len(rec.States) != 4 || (rec.Step == 0) != (rec.Accepted == nil) {
			t.Errorf("%+v", rec)
		}
		for _, u := range rec.Energy {
			if u == nil || *u >= 0 {
				t.Errorf("an energy of %v", u)
			}
		}
	}
	if len(seen) != 4 || seen["gibbs 1"] != 4 || seen["dmala balance=ratio 2"] != 4 {
		t.Errorf("steps by sampler and sentence: %v", seen)
	}
	if r := infillRun("", withTiny(append([]string{"compare", "--quiet"}, args...)...)...); r.code != exitUsage ||
		!strings.Contains(r.err, "exists") {
		t.Errorf("a trace that exists: exit %d, %s", r.code, r.err)
	}
	both := filepath.Join(t.TempDir(), "x")
	if r := infillRun("", withTiny("compare", "--quiet", "--html", both, "--trace", both, in)...); r.code != exitUsage ||
		!strings.Contains(r.err, "same file") {
		t.Errorf("report and trace in one file: exit %d, %s", r.code, r.err)
	}
}

// A sampler of the paper says how the paper runs it, where nothing of that is chosen.
func TestPaperNote(t *testing.T) {
	t.Parallel()
	const note = "--steps 50 --start random --collect last --vocab all"
	for _, c := range []struct {
		args []string
		says bool
	}{
		{[]string{"--sampler", "dmala"}, true},
		{[]string{"--sampler", "dula"}, true},
		{[]string{"--sampler", "rows"}, false},
		{[]string{"--sampler", "dmala", "--steps", "20"}, false},
		{[]string{"--sampler", "dmala", "--collect", "last"}, false},
		{[]string{"--sampler", "dmala", "--quiet"}, false},
	} {
		r := infillRun("", append(withTiny("fill", "--seed", "1", "--chains", "2"), append(c.args,
			"the [MASK] sleeps in the [MASK] .")...)...)
		if r.code != 0 || strings.Contains(r.err, note) != c.says {
			t.Errorf("%v: exit %d, %s", c.args, r.code, r.err)
		}
	}
}
