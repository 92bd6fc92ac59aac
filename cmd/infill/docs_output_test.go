package main

import (
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/testmode"
	"infill/mlm"
	"infill/models"
)

var update = flag.Bool("update", false, "print the examples of the documents anew")

// The output that the documents show is that of the default model: the very lines
// or, on a machine whose sampling takes another turn somewhere, lines whose scores
// are right.
func TestDocumentedOutput(t *testing.T) {
	if testing.Short() && !*update {
		t.Skip("half a minute of the default model")
	}
	t.Setenv(settings.EnvName("model"), settings.DefaultModel)
	docs := map[string]int{ // least examples
		"README.md": 4, "docs/guide/blanks.md": 10, "docs/guide/search.md": 5,
		"docs/guide/steering.md": 7,
	}
	if !testmode.All() && !*update { // minutes of BERT-base
		docs = map[string]int{"README.md": docs["README.md"]}
	}
	paths, texts := map[string]string{}, map[string]string{}
	for name := range docs {
		path, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		paths[name], texts[name] = path, get(t, path)
	}
	guides, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	if err != nil {
		t.Fatal(err)
	}
	tones := shownFile(t, get(t, filepath.Join(guides, "guide", "steering.md")))
	dir := t.TempDir()
	tone := os.DirFS(filepath.Join("..", "..", "infill", "energies", "testdata", "tone"))
	if err := os.CopyFS(filepath.Join(dir, "tone"), tone); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	put(t, "animals.txt", "dog\ncat\nold friend\n")
	put(t, "tone.txt", tones)
	m, err := mlm.Open(context.Background(), models.Default(), mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	engine := infill.New(m)
	same := true
	for name, least := range docs {
		doc, seen, exactly := documentedOutput(t, engine, texts[name])
		same = same && exactly
		if seen < least {
			t.Errorf("%d examples in %s", seen, name)
		}
		if *update {
			if err := os.WriteFile(paths[name], []byte(doc), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if same && testmode.All() && !*update {
		documentedParts(t, guides)
	}
}

// What documents show in part is printed so, where the machine prints all other examples to the
// last digit: single draws of a chain cannot be checked in another way.
func documentedParts(t *testing.T, root string) {
	t.Helper()
	for _, name := range []string{"guide/blanks.md", "reference/probabilities.md"} {
		doc := get(t, filepath.Join(root, filepath.FromSlash(name)))
		blocks := regexp.MustCompile("(?s)```text\n\\$ infill (.*?)\n(.*?)```").FindAllStringSubmatch(doc, -1)
		if len(blocks) == 0 {
			t.Errorf("no example in %s", name)
		}
		for _, b := range blocks {
			r := infillRun("", append(words(b[1]), "--quiet")...)
			inOrder(t, name, b[2], r.out)
		}
	}
	doc := get(t, filepath.Join(root, "guide", "augment.md"))
	rows := regexp.MustCompile("(?s)```csv\n(.*?)```").FindStringSubmatch(doc)[1]
	text := regexp.MustCompile(`,\d,\d,(.*),…`).FindStringSubmatch(rows)[1]
	in := put(t, filepath.Join(t.TempDir(), "reviews.csv"), "review,label\n"+text+",pos\n")
	r := infillRun("", "augment", in, "--text-field", "review", "--output-format", "csv", "--originals",
		"--seed", "1", "--quiet")
	inOrder(t, "augment.md", strings.ReplaceAll(rows, "…\n", "\n"), r.out)
}

// inOrder looks for the beginnings of lines that a document shows among those that were printed.
func inOrder(t *testing.T, name, shown, printed string) {
	t.Helper()
	lines := strings.Split(printed, "\n")
	for want := range strings.Lines(shown) {
		if want = strings.TrimSuffix(want, "\n"); want == "…" {
			continue
		}
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) })
		if at < 0 {
			t.Errorf("%s shows %q, and then is printed:\n%s", name, want, strings.Join(lines, "\n"))
			return
		}
		lines = lines[at+1:]
	}
}

// shownFile is the file that a document shows in its first block without a language.
func shownFile(t *testing.T, doc string) string {
	t.Helper()
	m := regexp.MustCompile("(?s)\n```\n(.*?)```\n").FindStringSubmatch(doc)
	if m == nil {
		t.Fatal("no file is shown")
	}
	return m[1]
}

// documentedOutput runs the examples of a document. It returns the document with
// what they print now, their number, and whether all printed the very lines.
func documentedOutput(t *testing.T, engine *infill.Engine, doc string) (string, int, bool) {
	seen, same := 0, true
	block := regexp.MustCompile("(?s)```console\n.*?```")
	doc = block.ReplaceAllStringFunc(doc, func(block string) string {
		var out []string
		block = strings.TrimSuffix(strings.TrimPrefix(block, "```console\n"), "```")
		for _, example := range strings.Split(block, "\n\n") {
			command, shown, _ := strings.Cut(strings.TrimSpace(example), "\n")
			r := infillRun("", words(strings.TrimPrefix(command, "$ infill "))...)
			if r.code != 0 || r.out == "" {
				t.Fatalf("%s: exit %d, %s", command, r.code, r.err)
			}
			seen++
			out = append(out, command+"\n"+strings.TrimSuffix(r.out, "\n"))
			if *update || strings.TrimRight(r.out, "\n") == shown {
				continue
			}
			same = false
			if strings.HasPrefix(command, "$ infill score") || strings.Contains(r.out, " %  ") {
				sameNumbers(t, command, shown, r.out)
			} else {
				rightScores(t, engine, command, shown)
			}
		}
		return "```console\n" + strings.Join(out, "\n\n") + "\n```"
	})
	return doc, seen, same
}

// rightScores checks lines that infill fill has printed: each is a filling of the
// text, and its score is the model's.
func rightScores(t *testing.T, e *infill.Engine, command, shown string) {
	t.Helper()
	args := words(strings.TrimPrefix(command, "$ infill "))
	var rec jsonl.Record
	if err := json.Unmarshal([]byte(infillRun("", append(args, "--json")...).out), &rec); err != nil {
		t.Fatal(err)
	}
	tm, err := infill.Parse(e.Tokenizer(), rec.Text)
	if err != nil {
		t.Fatal(err)
	}
	pattern, at := "(?i)^", 0
	for _, b := range tm.Blanks() {
		pattern += regexp.QuoteMeta(rec.Text[at:b.Start]) + "(.+?)"
		at = b.End
	}
	filled := regexp.MustCompile(pattern + regexp.QuoteMeta(rec.Text[at:]) + "$")
	for _, line := range strings.Split(shown, "\n") {
		fields := strings.Split(strings.TrimSpace(line), "  ")
		text := fields[len(fields)-1]
		m := filled.FindStringSubmatchIndex(text)
		score, err := strconv.ParseFloat(fields[0], 64)
		if of := regexp.MustCompile(`\(model (\S+),`).FindStringSubmatch(line); of != nil {
			score, err = strconv.ParseFloat(of[1], 64)
		}
		if m == nil || err != nil {
			t.Errorf("%s: %q is no line of its output; print it anew with -update", command, line)
			continue
		}
		var spans [][2]int
		for i := 2; i < len(m); i += 2 {
			spans = append(spans, [2]int{m[i], m[i+1]})
		}
		s, err := e.ScoreSpans(context.Background(), text, spans)
		if err != nil || math.Abs(s.Score-score) > 0.01 {
			t.Errorf("%s: %q has %v, want %+v, %v; print it anew with -update", command, text, score, s, err)
		}
	}
}

// sameNumbers compares two outputs, number by number.
func sameNumbers(t *testing.T, command, a, b string) {
	t.Helper()
	x, y := strings.Fields(a), strings.Fields(b)
	same := len(x) == len(y)
	for i := range min(len(x), len(y)) {
		u, errU := strconv.ParseFloat(x[i], 64)
		v, errV := strconv.ParseFloat(y[i], 64)
		if errU != nil || errV != nil {
			same = same && x[i] == y[i]
		} else {
			same = same && math.Abs(u-v) < 0.15 // shares have one digit
		}
	}
	if !same {
		t.Errorf("%s: prints\n%s\nthe document has\n%s\nprint it anew with -update", command, b, a)
	}
}
