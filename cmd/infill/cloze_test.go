package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/testmode"
	"infill/mlm"
	"infill/report/measure"
	"infill/samplers"
)

// clozeText are sentences of words that the tiny model knows, with some lines that cannot be used.
const clozeText = `the dog sleeps in the house .
she saw a big bird near the river .
he gave her a red apple and a plum .
the small fish swims in the sea .
a hungry fox walks in the forest .
two old birds sing near the tree .
the young bear eats a lemon in the garden .
the [MASK] sleeps .
Nobody knows such expressions .
dog .
the happy cow runs in the green field .
a cat hides near the road .
`

// clozeRunJSON runs infill cloze on the tiny model and reads its JSON.
func clozeRunJSON(t *testing.T, code int, args ...string) (*measure.ClozeResult, outcome) {
	t.Helper()
	r := infillRun("",
		withTiny(append([]string{"cloze", "--quiet", "--json", "--seed", "1"}, args...)...)...)
	if r.code != code {
		t.Fatalf("%v: exit %d, want %d: %s", args, r.code, code, r.err)
	}
	var res measure.ClozeResult
	if err := json.Unmarshal([]byte(r.out), &res); err != nil {
		t.Fatalf("%v: %v: %s", args, err, r.out)
	}
	return &res, r
}

// The numbers agree with another program: it takes the lines in order, fills them with the library,
// and counts.
func TestClozeCountsAgain(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", clozeText)
	const words, top = 2, 3
	for _, adjacent := range []bool{false, true} {
		args := []string{"--sample", "0", "--mask-words", fmt.Sprint(words), "--top", fmt.Sprint(top), in,
			"--run", "fill", "--run", "chains=3 steps=4", "--run", "vocab=whole-words"}
		if adjacent {
			args = append(args, "--adjacent")
		}
		res, _ := clozeRunJSON(t, 0, args...)
		m, err := mlm.OpenDir(t.Context(), tinyModel, mlm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		e := infill.New(m)
		fits := func(line string, w [2]int) bool {
			return e.Reaches(line, w, infill.Options{}) &&
				e.Reaches(line, w, infill.Options{Words: infill.WordOptions{Vocab: text.VocabWholeWords}})
		}
		want := make([][4]float64, 3)
		lines := 0
		for i, line := range strings.Split(strings.TrimSpace(clozeText), "\n") {
			id := fmt.Sprint(i + 1)
			masking := text.Masking{Words: words, Adjacent: adjacent, Fits: fits}
			tm, original, err := masking.Template(e.Tokenizer(), line, 1, id)
			if err != nil {
				continue
			}
			lines++
			opt := infill.Options{Seed: 1, ID: id, Results: infill.ResultOptions{Top: top},
				Words: infill.WordOptions{Original: original}}
			few, whole := opt, opt
			few.Sampling.Chains, few.Sampling.Steps = 3, 4
			whole.Words.Vocab = text.VocabWholeWords
			for k, fill := range []func() (*infill.Result, error){
				func() (*infill.Result, error) { return e.Fill(t.Context(), tm, opt) },
				func() (*infill.Result, error) { return e.Fill(t.Context(), tm, few) },
				func() (*infill.Result, error) { return e.Fill(t.Context(), tm, whole) },
			} {
				r, err := fill()
				if err != nil {
					t.Fatal(err)
				}
				among, best := map[int]bool{}, 0
				for n, f := range r.Fillings {
					right := 0
					for b, w := range f.Tokens {
						if w == strings.ToLower(original[b]) {
							right++
							among[b] = true
						}
					}
					if n == 0 {
						want[k][0] += float64(right)
						want[k][2] += float64(right / words)
					}
					best = max(best, right)
				}
				want[k][1] += float64(len(among))
				want[k][3] += float64(best / words)
			}
		}
		if lines < 6 || res.Lines != lines || res.Words != words*lines {
			t.Fatalf("%d lines, want %d", res.Lines, lines)
		}
		for k, row := range res.Rows {
			for i, key := range []string{"words.1", "words.among", "lines.1", "lines.among"} {
				of := float64(lines)
				if i < 2 {
					of *= words
				}
				got, share := value(t, row, key), 100*want[k][i]/of
				if math.Abs(got-share) > 1e-9 {
					t.Errorf("adjacent %v, %s, %s: %v, want %v", adjacent, row.Name, key, got, share)
				}
				if k > 0 {
					less := value(t, res.Differences[k-1], key)
					if d := got - value(t, res.Rows[0], key); math.Abs(less-d) > 1e-9 {
						t.Errorf("%s, %s: the difference is %v, want %v", row.Name, key, less, d)
					}
				}
			}
		}
	}
}

// Gaps: every line that has one is cut where a masking of joined words cuts it, and filled as
// [MASK*]. The numbers are counted again from what fill prints for that text.
func TestClozeGaps(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", strings.Repeat(clozeText, 2))
	res, _ := clozeRunJSON(t, 0, "--sample", "0", "--unit", "phrase", in, "--run", "fill", "--run",
		"unit=piece")
	m, err := mlm.OpenDir(t.Context(), tinyModel, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	var want [4]float64
	lines, several := 0, 0
	for i, line := range strings.Split(strings.TrimSpace(strings.Repeat(clozeText, 2)), "\n") {
		id := fmt.Sprint(i + 1)
		n := 1 + samplers.NewStream(1, id+"\x00gap", 0).IntN(4)
		masking := text.Masking{Words: n, Adjacent: true, Joined: true, Fits: ofLetters}
		tm, taken, err := masking.Template(m.Tokenizer(), line, 1, id)
		if err != nil {
			continue
		}
		if tm, err = text.Parse(m.Tokenizer(), strings.Replace(tm.Text, "[MASK]", "[MASK*]", 1)); err != nil {
			t.Fatal(err)
		}
		lines++
		r, err := infill.New(m).Fill(t.Context(), tm, infill.Options{Seed: 1, ID: id,
			Results: infill.ResultOptions{Top: 5}})
		if err != nil {
			t.Fatal(err)
		}
		original := strings.Fields(strings.ToLower(taken[0]))
		if len(original) > 1 {
			several++
		}
		for k, f := range r.Fillings {
			got := strings.Fields(strings.ToLower(f.Text[f.Spans[0][0]:f.Spans[0][1]]))
			if right := reflect.DeepEqual(got, original); right {
				want[1]++
				if k == 0 {
					want[0]++
				}
			}
			if k > 0 {
				continue
			}
			if len(got) == len(original) {
				want[2]++
			}
			common := 0
			for _, w := range original {
				if i := slices.Index(got, w); i >= 0 {
					got[i] = ""
					common++
				}
			}
			want[3] += 2 * float64(common) / float64(len(got)+len(original))
		}
	}
	if lines < 15 || several < 8 || res.Lines != lines {
		t.Fatalf("%d lines, %d of several words; the report has %d", lines, several, res.Lines)
	}
	for i, key := range []string{"gaps.1", "gaps.among", "gaps.length", "gaps.words"} {
		got, share := value(t, res.Rows[0], key), 100*want[i]/float64(lines)
		if math.Abs(got-share) > 1e-9 {
			t.Errorf("%s: %v, want %v", key, got, share)
		}
		less := value(t, res.Differences[0], key)
		if d := value(t, res.Rows[1], key) - got; math.Abs(less-d) > 1e-9 {
			t.Errorf("%s: the difference is %v, want %v", key, less, d)
		}
	}
	for _, flag := range []string{"--mask-words=2", "--mask-rate=0.5", "--adjacent"} {
		r := infillRun("", withTiny("cloze", "--quiet", "--unit", "phrase", flag, in)...)
		if name, _, _ := strings.Cut(flag, "="); r.code != 2 || !strings.Contains(r.err, "leave out "+name) {
			t.Errorf("%s: exit %d: %s", flag, r.code, r.err)
		}
	}
}

// The result is a function of input, seed and settings: threads and batches change no byte.
func TestClozeDeterministic(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", clozeText)
	var first *measure.ClozeResult
	for _, how := range [][]string{{"--threads", "1", "--batch-tokens", "16"}, {"--threads", "2"},
		{"--threads", "3", "--batch-tokens", "100"}} {
		res, _ := clozeRunJSON(t, 0, append(how, "--sample", "5", "--run", "fill", "--run",
			"sampler=dmala steps=5 budget=rows", in)...)
		res.Command = ""
		if first == nil {
			first = res
		} else if !reflect.DeepEqual(first, res) {
			t.Errorf("%v: %+v\nfirst: %+v", how, res.Rows, first.Rows)
		}
	}
	if first.Lines != 5 {
		t.Errorf("%d lines", first.Lines)
	}
	other, _ := clozeRunJSON(t, 0, "--sample", "5", in, "--seed", "2")
	if reflect.DeepEqual(other.Rows[0].Metrics, first.Rows[0].Metrics) && other.Seed == first.Seed {
		t.Error("the seed has no part in it")
	}
}

// Runs with equal rows: as many as one another, whatever their steps cost.
func TestClozeEqualRows(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", clozeText)
	const chains, steps, words = 4, 30, 3
	res, _ := clozeRunJSON(t, 0, "--sample", "4", "--memo", "0", "--chains", fmt.Sprint(chains),
		"--steps", fmt.Sprint(steps), "--budget", "rows", "--collect", "last", in,
		"--run", "sampler=dmala", "--run", "sampler=gibbs", "--run", "sampler=rows")
	const want = chains * words * (steps + 1)
	for _, row := range res.Rows {
		// The start and the ranking come on top.
		if n := value(t, row, "rows"); n < .9*want || n > 1.1*want+2*chains*words {
			t.Errorf("%s: %v rows a line, want about %d", row.Name, n, want)
		}
	}
}

// Two models get the same words, and each run has its name.
func TestClozeModels(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", clozeText)
	res, _ := clozeRunJSON(t, 0, "--model", "small", "--run", "fill", "--run", "effort=quick",
		"--run", "vocab=all name=all model=small", "--sample", "2", in)
	var names []string
	for _, row := range res.Rows {
		names = append(names, row.Name)
	}
	want := []string{"fill, " + tinyModel, "effort=quick, " + tinyModel, "all, small", "fill, small",
		"effort=quick, small"}
	if !reflect.DeepEqual(names, want) || len(res.Models) != 2 {
		t.Errorf("%q of %q, want %q", names, res.Models, want)
	}
}

// What is left out is said, with the reason.
func TestClozeLeftOut(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", clozeText)
	res, _ := clozeRunJSON(t, 0, "--sample", "0", "--min-words", "4", "--max-words", "8", in)
	const says = "7 of 12 lines taken; left out: 4 of other lengths, 1 without 3 words that are one " +
		"token and that every run can bring back"
	if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], says) {
		t.Errorf("%q, want %q", res.Notes, says)
	}
	if res.Protocol != "3 words of each blanked out, anywhere, lines of 4 to 8 words" {
		t.Error(res.Protocol)
	}
	// A broken line is an error of the line.
	lines := write(t, "in.jsonl", `{"text":"the dog sleeps in the house ."}
{"text":
{"id":"x","text":"the small fish swims in the sea ."}
`)
	res, r := clozeRunJSON(t, 1, lines)
	if res.Lines != 2 || !strings.Contains(res.Notes[0], "1 that cannot be read") ||
		!strings.Contains(r.err, "line 2") {
		t.Errorf("%d lines, %q, %q", res.Lines, res.Notes, r.err)
	}
	// A table, and its column.
	csv := write(t, "in.csv", "id,sentence\n1,the dog sleeps in the house .\n")
	if res, _ := clozeRunJSON(t, 0, "--text-field", "sentence", csv); res.Lines != 1 {
		t.Errorf("%d lines", res.Lines)
	}
}

// A run that cannot fill a line has nothing of it back, and the exit code says so.
func TestClozeFailedLines(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", clozeText)
	res, r := clozeRunJSON(t, 1, "--mask-words", "1", "--sample", "3", "--run", "fill", "--run",
		"min-edits=1000", in)
	if value(t, res.Rows[1], "words.1") != 0 || !strings.Contains(r.err, "no filling passes") ||
		!strings.Contains(res.Notes[1], "could not be filled, so that nothing of them came back: 3") {
		t.Errorf("%q, %q", res.Notes, r.err)
	}
}

// Wrong usage is told before a model is open.
func TestClozeUsage(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", clozeText)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"", 2, "one file of sentences"},
		{in + " " + in, 2, "one file of sentences"},
		{"no-such-file.txt", 3, "no such file"},
		{in + " --run stps=3", 2, `did you mean "steps"`},
		{in + " --run steps=x", 2, "--run steps=x: --steps is x, want a whole number"},
		{in + " --run mask-words=2", 2, "words are masked once, for all runs"},
		{in + " --run fill --run fill", 2, `two runs are called "fill"; name one of them`},
		{in + " --run greedy", 2, "the laboratory: bin/lab baselines"},
		{in + " --run fil", 2, `did you mean "fill"`},
		{in + " --run model=nope", 2, `called "nope"`},
		{in + " --mask-words 0", 2, "no word would be blanked out"},
		{in + " --mask-words 2 --mask-rate .5", 2, "give one of them"},
		{in + " --min-words 5 --max-words 4", 2, "--min-words 5 is more than"},
		{in + " --min-words 500", 2, "no line can be used: 0 of 12 lines taken"},
		{in + " --mask-words 12", 2, "no line can be used"},
		{in + " --allow -", 2, "none can be standard input"},
		{in + " --markdown " + in, 2, "the output is the input itself"},
		{"- --run fill", 2, "no text"},
	} {
		r := infillRun("", withTiny(append([]string{"cloze"}, strings.Fields(c.args)...)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("%s: exit %d, want %d: %s", c.args, r.code, c.code, r.err)
		}
	}
}

// Without --run there is one, of the settings of the flags. A share of the words is masked in place
// of a number, if it is asked for.
func TestClozeDefaults(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", clozeText)
	md := filepath.Join(t.TempDir(), "out.md")
	r := infillRun("", withTiny("cloze", in, "--sample", "3", "--steps", "2", "--seed", "1", "--times",
		"--mask-rate", "0.3", "--markdown", md)...)
	if r.code != 0 {
		t.Fatal(r.err)
	}
	for _, says := range []string{"3 lines, 30 % of the words of each blanked out, anywhere\n", "\nfill ",
		"processor time a line"} {
		if !strings.Contains(r.out, says) {
			t.Errorf("%q is missing:\n%s", says, r.out)
		}
	}
	if doc := get(t, md); !strings.Contains(doc, "| run | words, at 1") ||
		!strings.Contains(r.err, "fill (1 of 1)") {
		t.Errorf("%s\n%s", doc, r.err)
	}
	again := infillRun("", withTiny("cloze", in, "--sample", "3", "--markdown", md)...)
	if again.code != exitUsage || !strings.Contains(again.err, "the file exists") {
		t.Errorf("exit %d: %s", again.code, again.err)
	}
}

// The commands of the guide run, with one line and fewer steps.
func TestClozeGuideCommands(t *testing.T) {
	testmode.Long(t)
	doc := get(t, filepath.Join(testmode.Root(t), "docs", "guide", "cloze.md"))
	var commands []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(doc, -1) {
		text := strings.ReplaceAll(block[1], "\\\n", " ")
		commands = append(commands, strings.Split(strings.TrimSpace(text), "\n")...)
	}
	if len(commands) < 5 {
		t.Fatalf("%d commands", len(commands))
	}
	t.Chdir(t.TempDir())
	text := "The old man went home by train and read a good book there.\n" +
		"She sat on the bed in the small room and looked at the wall.\n"
	put(t, "sentences.txt", text)
	put(t, "tbc.5k.txt", text)
	t.Setenv(settings.EnvName("chains"), "2")
	for _, line := range commands {
		line, _, _ = strings.Cut(line, " #")
		args := shellWords(line)
		if args[0] != "infill" || args[1] != "cloze" {
			t.Fatalf("another command: %s", line)
		}
		args = append(args[1:], "--sample", "1", "--seed", "1", "--quiet", "--force")
		for i, a := range args {
			args[i] = regexp.MustCompile(`steps=(\d)\d+`).ReplaceAllString(a, "steps=$1")
		}
		if r := infillRun("", args...); r.code != 0 || r.out == "" {
			t.Errorf("%s: exit %d: %s", line, r.code, r.err)
		}
	}
}

// shellWords cuts a command line as a shell does, with quotes of either kind around words.
func shellWords(line string) []string {
	var out []string
	for _, w := range regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1) {
		if w[0] == '\'' || w[0] == '"' {
			w = w[1 : len(w)-1]
		}
		out = append(out, w)
	}
	return out
}

// What the guide shows is printed, where its sentences are there.
func TestClozeGuideOutput(t *testing.T) {
	testmode.Long(t)
	doc := get(t, filepath.Join(testmode.Root(t), "docs", "guide", "cloze.md"))
	shown := regexp.MustCompile("(?s)```text\n\\$ infill (cloze [^\n]*)\n(.*?)```").FindStringSubmatch(doc)
	if shown == nil {
		t.Fatal("the guide shows no example")
	}
	corpus := testmode.Shared(t, "data", "eval", "tbc.5k.txt")
	t.Chdir(t.TempDir())
	if err := os.Symlink(corpus, "tbc.5k.txt"); err != nil {
		t.Fatal(err)
	}
	r := infillRun("", words(shown[1])...)
	if r.code != 0 {
		t.Fatal(r.err)
	}
	// On another machine a word or two may turn out otherwise.
	strip := strings.NewReplacer("±", "", "*", "", "+", "", "–", " ")
	x, y := strings.Fields(strip.Replace(shown[2])), strings.Fields(strip.Replace(r.out))
	same := len(x) == len(y)
	for i := range min(len(x), len(y)) {
		u, errU := strconv.ParseFloat(x[i], 64)
		v, errV := strconv.ParseFloat(y[i], 64)
		same = same && (x[i] == y[i] || errU == nil && errV == nil && math.Abs(u-v) < 2.5)
	}
	if !same {
		t.Errorf("%s prints\n%s\nthe guide has\n%s", shown[1], r.out, shown[2])
	}
}
