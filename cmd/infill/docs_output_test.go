package main

import (
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

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/testmode"
	"infill/models"
	"infill/tokenize"
)

var update = flag.Bool("update", false, "print the examples of the documents anew")

// The output that documents show is what the default model prints: the very lines or, on a processor
// that adds in another order, lines whose scores are right.
func TestDocumentedOutput(t *testing.T) {
	if testing.Short() && !*update {
		t.Skip("a quarter of a minute of the default model")
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
	tok, err := tokenize.Load(models.Default())
	if err != nil {
		t.Fatal(err)
	}
	same := true
	for name, least := range docs {
		doc, seen, exactly := documentedOutput(t, tok, texts[name])
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

// TestReadmeFile fills the file that README shows, and measures it, as README does: what is shown in
// part is printed so.
func TestReadmeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of the default model")
	}
	t.Setenv(settings.EnvName("model"), settings.DefaultModel)
	readme := get(t, "../../README.md")
	block := func(kind string) [][]string {
		return regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(readme, -1)
	}
	tables, reports := block("csv"), block("text")
	commands := regexp.MustCompile(`(?m)^infill (?:batch|eval) .*$`).FindAllString(readme, -1)
	if len(tables) != 2 || len(reports) != 1 || len(commands) != 2 {
		t.Fatalf("README has %d tables, %d reports, %d commands", len(tables), len(reports), len(commands))
	}
	t.Chdir(t.TempDir())
	put(t, "sentences.csv", tables[0][1])
	var out string
	for _, c := range commands {
		r := infillRun("", words(strings.TrimPrefix(c, "infill "))...)
		if r.code != 0 {
			t.Fatalf("%s: exit %d, %s", c, r.code, r.err)
		}
		out = r.out
	}
	inOrder(t, "README.md", strings.ReplaceAll(tables[1][1], "…\n", "\n"), get(t, "filled.csv"))
	inOrder(t, "README.md", reports[0][1], out)
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

// documentedOutput runs those examples of a document whose command has something in it. It returns
// the document with what they print now, the number of examples, and whether all that ran printed the
// very lines. With scores it checks the scores of these too.
func documentedOutput(t *testing.T, tok *tokenize.Tokenizer, doc string) (string, int, bool) {
	seen, same := 0, true
	block := regexp.MustCompile("(?s)```console\n.*?```")
	doc = block.ReplaceAllStringFunc(doc, func(block string) string {
		var out []string
		block = strings.TrimSuffix(strings.TrimPrefix(block, "```console\n"), "```")
		for _, example := range strings.Split(block, "\n\n") {
			command, shown, _ := strings.Cut(strings.TrimSpace(example), "\n")
			seen++
			r := infillRun("", words(strings.TrimPrefix(command, "$ infill "))...)
			if r.code != 0 || r.out == "" {
				t.Fatalf("%s: exit %d, %s", command, r.code, r.err)
			}
			out = append(out, command+"\n"+strings.TrimSuffix(r.out, "\n"))
			exactly := strings.TrimRight(r.out, "\n") == shown
			same = same && exactly
			if *update || exactly {
				continue
			}
			if strings.HasPrefix(command, "$ infill score") || strings.Contains(r.out, " %  ") {
				sameNumbers(t, command, shown, r.out)
			} else {
				rightScores(t, tok, command, shown)
			}
		}
		return "```console\n" + strings.Join(out, "\n\n") + "\n```"
	})
	return doc, seen, same
}

// rightScores checks lines that infill fill has printed: with the words of a line in its blanks
// and nothing else to choose, the command prints the score of that line.
func rightScores(t *testing.T, tok *tokenize.Tokenizer, command, shown string) {
	t.Helper()
	args := words(strings.TrimPrefix(command, "$ infill "))
	var rec jsonl.Filled
	if err := json.Unmarshal([]byte(infillRun("", append(args, "--json")...).out), &rec); err != nil {
		t.Fatal(err)
	}
	tm, err := text.Parse(tok, rec.Text)
	if err != nil {
		t.Fatal(err)
	}
	pattern, at := "(?i)^", 0
	for _, b := range tm.Blanks {
		pattern += regexp.QuoteMeta(rec.Text[at:b.Start]) + "(.+?)"
		at = b.End
	}
	filled := regexp.MustCompile(pattern + regexp.QuoteMeta(rec.Text[at:]) + "$")
	for line := range strings.Lines(shown) {
		fields := strings.Split(strings.TrimSpace(line), "  ")
		score, text := fields[0], fields[len(fields)-1]
		if of := regexp.MustCompile(`\(model (\S+),`).FindStringSubmatch(line); of != nil {
			score = of[1]
		}
		m := filled.FindStringSubmatchIndex(text)
		if m == nil {
			t.Errorf("%s: %q is no line of its output; print it anew with -update", command, line)
			continue
		}
		again := infillRun("", onlyThese(args, text, m[2:])...)
		printed, _, _ := strings.Cut(strings.TrimSpace(again.out), " ")
		if again.code != 0 {
			t.Errorf("%s: %q: exit %d, %s", command, line, again.code, again.err)
			continue
		}
		want, errWant := strconv.ParseFloat(score, 64)
		for _, f := range rec.Fillings { // what is given has no length to be guessed
			if f.Text == text && f.Parts != nil {
				want -= f.Parts.Length
			}
		}
		got, errGot := strconv.ParseFloat(printed, 64)
		if errWant != nil || errGot != nil || math.Abs(want-got) > 0.011 { // two digits are shown
			t.Errorf("%s: %q has %s; print it anew with -update", command, line, printed)
		}
	}
}

// onlyThese is a command of infill fill whose blanks, the spans of a filled text, may take nothing
// but what stands there. Without the flags that make blanks themselves, or add to the score.
func onlyThese(args []string, text string, spans []int) []string {
	var out []string
	for i := 0; i < len(args)-1; i++ { // the last one is the text
		switch args[i] {
		case "--mask-words", "--min-distance", "--energy", "--start":
			i++
		default:
			out = append(out, args[i])
		}
	}
	only, at := "", 0
	for i := 0; i < len(spans); i += 2 {
		only += text[at:spans[i]] + "[MASK|" + text[spans[i]:spans[i+1]] + "]"
		at = spans[i+1]
	}
	return append(out, only+text[at:])
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
