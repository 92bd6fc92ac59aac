package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/cmd/infill/internal/console"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/program"
	"infill/samplers"
)

// Exit codes of the command.
const (
	exitOK          = program.OK
	exitSomeFailed  = program.SomeFailed
	exitUsage       = program.Usage
	exitTrouble     = program.Trouble
	exitStopped     = program.Stopped
	exitInterrupted = program.Interrupted
)

// The tiny model knows some eighty words and answers within milliseconds.
const tinyModel = "../../mlm/testdata/tiny-bert"

// asCommand makes the test binary behave as the command, for tests that need
// a process of its own.
const asCommand = "INFILL_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	// Tests that name no model are about the command, and quick on the small one.
	if err := os.Setenv(settings.EnvName("model"), "small"); err != nil {
		panic(err)
	}
	keepModels()
	os.Exit(m.Run())
}

type outcome struct {
	code     int
	out, err string
}

// infillRun runs one command line in process.
func infillRun(stdin string, args ...string) outcome {
	var out, errs bytes.Buffer
	code := runLine(context.Background(), console.IO{In: strings.NewReader(stdin), Out: &out, Err: &errs}, args)
	return outcome{code, out.String(), errs.String()}
}

// withTiny inserts --model after the command's name.
func withTiny(args ...string) []string {
	return append([]string{args[0], "--model", tinyModel}, args[1:]...)
}

func TestFillPlain(t *testing.T) {
	t.Parallel()
	fillPlain(t, "search: ")
	fillPlain(t, "acceptance", "--method", "sample", "--score", "pll")
}

func fillPlain(t *testing.T, summary string, flags ...string) {
	t.Helper()
	flags = append(flags, "the [MASK] sleeps in the [MASK] .")
	r := infillRun("", withTiny(append([]string{"fill", "--seed", "1"}, flags...)...)...)
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if len(lines) == 0 || len(lines) > 5 {
		t.Fatalf("%d lines:\n%s", len(lines), r.out)
	}
	for _, l := range lines {
		if !strings.Contains(l, "  the ") || strings.Contains(l, "[MASK]") ||
			!strings.HasPrefix(strings.TrimSpace(l), "-") {
			t.Errorf("odd line %q", l)
		}
	}
	if !strings.Contains(r.err, summary) || strings.Contains(r.out, summary) {
		t.Errorf("the summary belongs to standard error: %q", r.err)
	}
	if q := infillRun("", withTiny(append([]string{"fill", "--quiet", "--seed", "1"},
		flags...)...)...); q.err != "" || q.out != r.out {
		t.Errorf("--quiet: %q, %q", q.out, q.err)
	}
}

// No more rows are evaluated than the sampler asks for. Those of the start stand apart.
func TestFillRows(t *testing.T) {
	t.Parallel()
	for _, memo := range []string{"256", "0"} {
		r := infillRun("", withTiny("fill", "--seed", "1", "--sampler", "dmala", "--memo", memo, "--chains", "3",
			"--steps", "2", "The [MASK:a] of the [MASK:a] sat.")...)
		_, rest, _ := strings.Cut(r.err, "different filling")
		_, rest, _ = strings.Cut(rest, ", ")
		var fresh, rows, others int
		_, err := fmt.Sscanf(rest, "%d of %d rows evaluated and %d for start and ranking", &fresh, &rows,
			&others)
		if err != nil || fresh <= 0 || fresh > rows || others <= 0 {
			t.Errorf("%v: %s", err, r.err)
		}
	}
}

func TestFillJSON(t *testing.T) {
	t.Parallel()
	rec := fillJSON(t)
	if rec.Method != "search" || rec.Scoring != "blended" || rec.Ended != "" || rec.Sampler != "" ||
		rec.Seed != nil || rec.Rows == 0 || rec.Fillings[0].Parts == nil {
		t.Errorf("record %+v", rec)
	}
	rec = fillJSON(t, "--method", "sample", "--score", "pll")
	if rec.Method != "sample" || rec.Scoring != "pll" || rec.Sampler != "rows" || rec.Seed == nil ||
		*rec.Seed != 7 || rec.Fillings[0].Parts != nil {
		t.Errorf("record %+v", rec)
	}
}

// recordIn is the record of a line, of the kind that is wanted.
func recordIn[R any](t *testing.T, line string) *R {
	t.Helper()
	rec, err := jsonl.Decoder{}.Record(1, []byte(line))
	r, ok := any(rec).(*R)
	if err != nil || !ok {
		t.Fatalf("%T, %v: %s", rec, err, line)
	}
	return r
}

func fillJSON(t *testing.T, flags ...string) *jsonl.Filled {
	t.Helper()
	const text = "the\t[MASK] sleeps in the ___ .\u00a0\U0001F600"
	r := infillRun("", withTiny(append([]string{"fill", text, "--json", "--seed=7", "--top", "3"},
		flags...)...)...)
	if r.code != 0 || r.err != "" {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	var rec jsonl.Filled
	if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
		t.Fatal(err)
	}
	if rec.Line != 1 || rec.Text != text ||
		!strings.HasPrefix(rec.Model, "sha256:") ||
		len(rec.Fillings) == 0 ||
		len(rec.Fillings) > 3 {
		t.Errorf("record %+v", rec)
	}
	for i, f := range rec.Fillings {
		if len(f.Spans) != 2 || len(f.Tokens) != 2 {
			t.Fatalf("filling %+v", f)
		}
		a, b := f.Spans[0], f.Spans[1]
		if f.Text[:a[0]] != "the\t" || f.Text[a[1]:b[0]] != " sleeps in the " ||
			f.Text[b[1]:] != " .\u00a0\U0001F600" {
			t.Errorf("text outside the blanks changed: %q", f.Text)
		}
		if f.Text[a[0]:a[1]] != f.Tokens[0] {
			t.Errorf("span %q of token %q", f.Text[a[0]:a[1]], f.Tokens[0])
		}
		if i > 0 && *f.Score > *rec.Fillings[i-1].Score {
			t.Error("not best first")
		}
		if d := *f.ScorePerToken*2 - *f.Score; d > 1e-9 || d < -1e-9 {
			t.Errorf("score %v, per token %v", *f.Score, *f.ScorePerToken)
		}
	}
	return &rec
}

// The same seed gives the same bytes whatever the threads and batches are. No seed takes part in a
// search.
func TestFillDeterminism(t *testing.T) {
	t.Parallel()
	fillDeterminism(t, false)
	fillDeterminism(t, true, "--method", "sample", "--score", "pll")
}

func fillDeterminism(t *testing.T, seeded bool, flags ...string) {
	t.Helper()
	args := func(extra ...string) []string {
		return slices.Concat(
			withTiny("fill", "--json", "--seed", "1", "the [MASK] [MASK] in the [MASK] ."), flags, extra)
	}
	want := infillRun("", args("--threads", "1")...)
	if want.code != 0 {
		t.Fatal(want.err)
	}
	for _, extra := range [][]string{{"--threads", "2"}, {"--batch-tokens", "1"}, {"--batch-tokens", "64", "--threads", "3"}, {"--batch-tokens", "100000"}} {
		if got := infillRun("", args(extra...)...); got.out != want.out {
			t.Errorf("%v: %s\nwant %s", extra, got.out, want.out)
		}
	}
	if got := infillRun("", args("--seed", "2")...); (got.out != want.out) != seeded {
		t.Errorf("%v: another seed gives\n%s\nwant %s", flags, got.out, want.out)
	}
}

func TestFillLines(t *testing.T) {
	t.Parallel()
	const in = "the [MASK] sleeps .\n\nno blank here\r\nthe [MASK] runs .\n"
	r := infillRun(in, withTiny("fill", "--json", "--seed", "1", "-")...)
	if r.code != exitSomeFailed {
		t.Errorf("exit %d", r.code)
	}
	var lines []int
	var codes []string
	for _, l := range strings.Split(strings.TrimSpace(r.out), "\n") {
		var rec jsonl.Filled
		if err := json.Unmarshal([]byte(l), &rec); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, rec.Line)
		if rec.Error != nil {
			codes = append(codes, rec.Error.Code)
		}
	}
	if len(lines) != 3 || lines[0] != 1 || lines[1] != 3 || lines[2] != 4 || len(codes) != 1 ||
		codes[0] != "no_blank" {
		t.Errorf("lines %v, codes %v", lines, codes)
	}
	if s := infillRun(in, withTiny("fill", "--strict", "--seed", "1")...); s.code != exitUsage ||
		!strings.Contains(s.err, "line 3") {
		t.Errorf("--strict: exit %d, %s", s.code, s.err)
	}
	// A sentence is filled the same alone and among others.
	alone := infillRun("the [MASK] sleeps .\n", withTiny("fill", "--json", "--seed", "1")...)
	if !strings.HasPrefix(r.out, alone.out) {
		t.Errorf("the first line alone: %s", alone.out)
	}
}

// The number that ranks is printed: the score, or the score per token of open lengths under pll.
func TestOpenLengthsShowWhatRanks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, score string
		perToken    bool
	}{
		{"the [MASK*1-3] sleeps .", "blended", false}, {"the [MASK*1-3] sleeps .", "pll", true},
		{"the [MASK] sleeps .", "pll", false},
	} {
		r := infillRun("", withTiny("fill", "--quiet", "--score", c.score, c.text)...)
		if r.code != 0 || strings.Contains(r.out, "per token") != c.perToken {
			t.Errorf("%s, %s: exit %d: %s%s", c.text, c.score, r.code, r.out, r.err)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "fill"}, {"help", "help"}, {"help", "samplers", "dmala"}, {"fill", "-h"}, {"help", "model", "info"}, {"--version"}} {
		if r := infillRun("", args...); r.code != 0 || len(r.out) < 10 || r.err != "" {
			t.Errorf("%v: exit %d: %s%s", args, r.code, r.out, r.err)
		}
	}
}

// A start that fails leaves no file, which would be in the way of the next try.
func TestTraceOfNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	r := infillRun("", "fill", "--model", filepath.Join(t.TempDir(), "none"), "--trace", path, "the [MASK] .")
	if _, err := os.Lstat(path); r.code == 0 || !os.IsNotExist(err) {
		t.Errorf("exit %d: %s, %v", r.code, r.err, err)
	}
	put(t, path, "")
	r = infillRun("", withTiny("fill", "--trace", path, "the [MASK] .")...)
	if r.code != exitUsage || !strings.Contains(r.err, "the file exists; remove it") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	args := withTiny(
		"fill", "--seed", "1", "--steps", "6", "--chains", "3", "--trace", path, "the [MASK] sleeps .",
	)
	if r := infillRun("", args...); r.code != 0 {
		t.Fatal(r.err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 7 {
		t.Fatalf("%d lines of 7", len(lines))
	}
	var s struct {
		Step     int
		Energy   []float64
		Accepted []bool
		States   [][]string
	}
	if err := json.Unmarshal([]byte(lines[6]), &s); err != nil {
		t.Fatal(err)
	}
	if s.Step != 6 || len(s.Energy) != 3 || len(s.Accepted) != 3 || len(s.States) != 3 ||
		len(s.States[0]) != 1 ||
		s.Energy[0] >= 0 {
		t.Errorf("step %+v", s)
	}
	if r := infillRun("", args...); r.code != exitUsage || !strings.Contains(r.err, "exists") {
		t.Errorf("an existing file is overwritten: exit %d, %s", r.code, r.err)
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	r := infillRun(
		"",
		withTiny("score", "--json", "the fish swims in the river .", "the fish barks in the river .")...)
	if r.code != 0 {
		t.Fatal(r.err)
	}
	var scores []float64
	for _, l := range strings.Split(strings.TrimSpace(r.out), "\n") {
		var s struct {
			Score  float64
			Pieces []struct {
				LogProb float64 `json:"log_prob"`
			}
		}
		if err := json.Unmarshal([]byte(l), &s); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, p := range s.Pieces {
			sum += p.LogProb
		}
		if d := sum - s.Score; len(s.Pieces) != 7 || d > 1e-6 || d < -1e-6 {
			t.Errorf("score %v of %d pieces that sum to %v", s.Score, len(s.Pieces), sum)
		}
		scores = append(scores, s.Score)
	}
	if len(scores) != 2 || scores[0] <= scores[1] {
		t.Errorf("scores %v: fish swim, they do not bark", scores)
	}
	if r := infillRun("", withTiny("score", "the [MASK] swims .")...); r.code != exitUsage ||
		!strings.Contains(r.err, "infill fill") {
		t.Errorf("a blank: exit %d, %s", r.code, r.err)
	}
}

// The mean over the tokens stands beside the sum where candidates differ in their number, and the
// sum has no part for it.
func TestScoreShowsMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		candidates, score string
		means             int
	}{{"dog,cat", "pll", 0}, {"dog,old bear", "pll", 2}, {"dog,old bear", "blended", 0}} {
		r := infillRun("", withTiny("score", "the [MASK] sleeps .", "--score", c.score, "--candidates",
			c.candidates)...)
		if n := strings.Count(r.out, " per token  "); r.code != exitOK || n != c.means ||
			strings.Count(r.out, "%  ") != 2 {
			t.Errorf("%s: exit %d, %d means: %s%s", c.candidates, r.code, n, r.out, r.err)
		}
	}
}

func TestTokenize(t *testing.T) {
	t.Parallel()
	r := infillRun("", withTiny("tokenize", "--json", "The dogs [MASK].")...)
	want := `{"line":1,"text":"The dogs [MASK].","ids":[2,7,` // the rest depends on the vocabulary's order
	if r.code != 0 || !strings.HasPrefix(r.out, want) ||
		!strings.Contains(r.out, `"tokens":["[CLS]","the","dog","##s","[MASK]",".","[SEP]"]`) ||
		!strings.Contains(r.out, `"offsets":[[0,0],[0,3],[4,7],[7,8],[9,15],[15,16],[16,16]]`) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestColor(t *testing.T) {
	t.Parallel()
	r := infillRun(
		"",
		withTiny(
			"fill", "--quiet", "--seed", "1", "--color", "always", "--top", "1", "the [MASK] sleeps .",
		)...)
	if r.code != 0 || strings.Count(r.out, "\x1b[1;32m") != 1 || strings.Count(r.out, "\x1b[0m") != 1 {
		t.Errorf("exit %d: %q", r.code, r.out)
	}
}

func TestSamplersCommand(t *testing.T) {
	t.Parallel()
	r := infillRun("", "samplers")
	for _, name := range []string{"gibbs", "dula", "dmala"} {
		if !strings.Contains(r.out, "\n"+name+"  ") && !strings.HasPrefix(r.out, name+"  ") {
			t.Errorf("%s is missing:\n%s", name, r.out)
		}
	}
	if r := infillRun("", "samplers", "--json", "dmala"); r.code != 0 || !json.Valid([]byte(r.out)) ||
		!strings.Contains(r.out, "step-size") {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
	if n := strings.Count(r.out, "\n  on text: "); n != len(samplers.Names()) {
		t.Errorf("%d of %d samplers say what a step costs on text:\n%s", n, len(samplers.Names()), r.out)
	}
}

// Every sampler of the registry fills a sentence.
func TestEverySampler(t *testing.T) {
	t.Parallel()
	for _, name := range samplers.Names() {
		t.Run(name, func(t *testing.T) {
			args := withTiny(
				"fill", "--json", "--seed", "1", "--steps", "12", "--chains", "6", "--sampler", name,
				"the [MASK] sleeps in the [MASK] .",
			)
			r := infillRun("", args...)
			var rec jsonl.Filled
			if err := json.Unmarshal([]byte(r.out), &rec); err != nil || r.code != 0 ||
				len(rec.Fillings) < 2 ||
				rec.Sampler != name {
				t.Fatalf("exit %d: %v: %s%s", r.code, err, r.out, r.err)
			}
			if again := infillRun("", args...); again.out != r.out {
				t.Error("a second run differs")
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("INFILL_MODEL", tinyModel)
	t.Setenv("INFILL_TOP", "1")
	t.Setenv("INFILL_SEED", "3")
	r := infillRun("", "fill", "--quiet", "the [MASK] sleeps .")
	if r.code != 0 || strings.Count(r.out, "\n") != 1 {
		t.Errorf("exit %d: %q %s", r.code, r.out, r.err)
	}
	if r := infillRun("", "fill", "--quiet", "--top", "2", "the [MASK] sleeps ."); strings.Count(
		r.out, "\n",
	) != 2 {
		t.Errorf("a flag does not go before the environment: %q %s", r.out, r.err)
	}
	t.Setenv("INFILL_TOP", "many")
	if r := infillRun("", "fill", "--quiet", "--top", "1", "the [MASK] sleeps ."); r.code != 0 {
		t.Errorf("a bad value in the environment counts though the flag is given: %s", r.err)
	}
	if r := infillRun("", "fill", "the [MASK] sleeps ."); r.code != exitUsage ||
		!strings.Contains(r.err, "INFILL_TOP") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
