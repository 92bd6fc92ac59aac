package protocols

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The page has a section for each protocol and budget, steps first, and the paper's numbers and
// their differences beside those of the runs.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	path, page := filepath.Join(dir, "runs.jsonl"), filepath.Join(dir, "page.md")
	var lines strings.Builder
	for _, group := range [][2]string{
		{"C", "steps"}, {"A", "evaluations"}, {"A", "steps"}, {"B", "rows"}, {"C", "rows"},
		{fromRandom, "steps"},
	} {
		for _, r := range runs() {
			r.Protocol, r.Budget = group[0], group[1]
			r.Sampler = map[string]string{"a": "gibbs", "b": "dmala"}[r.Sampler]
			r.Data = "in.txt"
			if r.Protocol == "B" {
				r.Data, r.MaskRate, r.Vocab, r.Precision = "in.txt, more.txt", 0.25, "all", "bf16"
			}
			if r.Protocol+r.Budget == "Crows" && r.Seed == 1 {
				continue
			}
			if r.Sampler == "dmala" { // its second filling has nothing of the first
				r.States[1].Text = "no word that is shared with what others may have"
			}
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(b, '\n'))
		}
	}
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-stored", "-model", "models/m", "-runs", path, "-o", page}
	if err := pageCommand(context.Background(), args); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	var heads []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "## ") {
			heads = append(heads, strings.TrimSpace(line))
		}
	}
	want := []string{"## Protocol R, equal steps, 3 chains", "## Protocol A, equal steps", "## Protocol A, equal evaluations",
		"## Protocol C, equal steps", "## Protocol C, equal rows",
		"## Protocol B, equal rows, 25 % masked, vocabulary all, chains in bf16"}
	if !slices.Equal(heads, want) {
		t.Errorf("sections %q, want %q", heads, want)
	}
	for _, want := range []string{
		"| gibbs | ", " | 86.84 | ", " | -14.25 | ", // 72.59 − 86.84
		"| 4 | C | rows | 1 |", "-protocols C -seeds 2-2 -budget \"rows\"",
		"+1.00 ± 0.00", "3 chains of 5 steps, sentences: 4 of in.txt, seeds: 2.", "One chain of 5 steps",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	// The first table has the differences of those below, with a place less.
	first := fieldsOf(t, text, "| 4 | C | steps | 2 |")
	_, below, _ := strings.Cut(text, "## Protocol C, equal steps")
	merged := fieldsOf(t, below, "| dmala − gibbs |")
	if first[2] == "+0.0 ± 0.0" || !sameRounded(t, first[2], merged[0]) {
		t.Errorf("the first table has %q, that below %q", first[2], merged[0])
	}
	commandsMake(t, text, lines.String())
	// The pages of the notebook have the texts of today. Not all of their runs are in the repository.
	pages := map[string]string{"m": text}
	for name, file := range map[string]string{
		"small": "protocols.md", "bert-base-onnx": "protocols-bert-base.md",
	} {
		kept, err := os.ReadFile(filepath.Join("..", "notebook", file))
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(kept)
	}
	for name, page := range pages {
		if !strings.HasPrefix(page, headOf(name, strings.Contains(page, "| R |"))) || !strings.Contains(page, pageGuide) {
			t.Errorf("the page of %s lacks page.txt or guide.txt", name)
		}
	}
	if strings.Contains(text, "corpus BLEU |") || strings.Contains(text, ", tbc |") {
		t.Error("corpus BLEU or n-grams of references without references")
	}
	refs := filepath.Join(dir, "tbc.x.txt")
	if err := os.WriteFile(refs, []byte("the alpha of one\nno word of two is there\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pageCommand(context.Background(), append(args, "-references", refs)); err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(page); err != nil {
		t.Fatal(err)
	}
	more := string(b)
	const heads2 = "| | 3-grams, itself | paper | 2-grams, tbc.x | paper | 3-grams, tbc.x | paper |"
	if !strings.Contains(more, heads2) || !strings.Contains(more, " | 23.82 | ") {
		t.Errorf("the other columns are missing in\n%s", more)
	}
	rest := more[strings.Index(more, heads2):]
	cells := fieldsOf(t, rest, "| gibbs |")
	if want := []string{"16.08", "21.22", "33.05"}; !slices.Equal([]string{cells[1], cells[3], cells[5]},
		want) {
		t.Errorf("the paper has %q, want %q", cells, want)
	}
	for i, want := range map[int]string{1: "+16.56", 3: "+9.10", 5: "+13.44"} {
		if got := fieldsOf(t, rest, "| dmala − gibbs |"); got[i] != want || strings.Contains(got[i-1], "NaN") {
			t.Errorf("differences %q", got)
		}
	}
	for _, bad := range [][]string{nil, {"-stored", "-runs", filepath.Join(dir, "none"), "-o", page},
		{"-stored", "-runs", path, "-o", page}} { // which has no run of small
		if err := pageCommand(context.Background(), bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// fieldsOf are the cells of the first line that begins so, after that beginning.
func fieldsOf(t *testing.T, text, begin string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), begin); ok {
			var out []string
			for _, f := range strings.Split(rest, "|") {
				out = append(out, strings.TrimSpace(f))
			}
			return out
		}
	}
	t.Fatalf("no line begins with %q", begin)
	return nil
}

// sameRounded reports whether two differences agree to one place.
func sameRounded(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y [2]float64
	for _, v := range []struct {
		text string
		into *[2]float64
	}{{a, &x}, {b, &y}} {
		if _, err := fmt.Sscanf(v.text, "%f ± %f", &v.into[0], &v.into[1]); err != nil {
			t.Fatalf("%q: %v", v.text, err)
		}
	}
	return math.Abs(x[0]-y[0]) < .051 && math.Abs(x[1]-y[1]) < .051
}

// commandsMake holds the commands of a page against the runs it is made of, a line each: they ask
// for those and no others.
func commandsMake(t *testing.T, page, runs string) {
	t.Helper()
	want := map[key]bool{}
	for line := range strings.Lines(runs) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		r.Sentence = ""
		want[r.key] = true
	}
	got := map[key]bool{}
	var samplers, model string
	for line := range strings.Lines(page) {
		if v, ok := strings.CutPrefix(line, "S="); ok {
			samplers = strings.Trim(v, "\"\n")
		}
		if v, ok := strings.CutPrefix(line, "M="); ok {
			model = strings.Trim(v, "\"\n")
		}
		if !strings.HasPrefix(line, "run -") {
			continue
		}
		line = strings.ReplaceAll(strings.ReplaceAll(line, "$S", samplers), "$D/", "some/folder/")
		precision := "" // which runs of earlier builds had
		if strings.Contains(line, " -precision bf16") {
			line, precision = strings.Replace(line, " -precision bf16", "", 1), "bf16"
		}
		args := strings.Fields(model)
		for i, part := range strings.Split(strings.TrimSpace(line[len("run "):]), `"`) {
			if i%2 == 1 {
				args = append(args, part)
			} else {
				args = append(args, strings.Fields(part)...)
			}
		}
		var j job
		f := flag.NewFlagSet("run", flag.ContinueOnError)
		j.flags(f, "", "", "")
		if err := f.Parse(args); err != nil {
			t.Fatal(err)
		}
		seeds, err := j.seedNumbers()
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range seeds {
			for _, k := range j.keys("", seed) {
				k.Precision = precision
				if got[k] {
					t.Errorf("two commands make %+v", k)
				}
				got[k] = true
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the commands make %v, want %v", got, want)
	}
}
