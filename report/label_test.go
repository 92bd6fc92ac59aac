package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

// Texts with labels have numbers of each label, and examples under it with their filled words; a
// field of other values has a note. A number of one label is that of a file of its texts alone.
func TestLabels(t *testing.T) {
	t.Parallel()
	csv := "line,variant,original,text,label,filled_spans\n" +
		"1,1,A bad dog.,A bad cat.,neg,\"[[6,9]]\"\n2,1,A bad fox.,A bad bird.,neg,\"[[6,10]]\"\n" +
		"3,1,A good dog.,A good fox.,pos,\n"
	many := ""
	for i := range 20 {
		many += `{"text":"a dog","topic":"` + strings.Repeat("x", i+1) + "\"}\n"
	}
	for _, c := range []struct{ name, data, rows, html, note string }{
		{"a.csv", csv, "neg pos", `A bad <span class="new">bird</span>.`, ""},
		{"a.jsonl", `{"text":"a dog","label":["x"]}` + "\n" + `{"text":"a cat","label":1}` + "\n", "1 x",
			"a dog", ""},
		{"a.txt", "a dog\na cat\n", "", "a dog", ""},
		{"many.jsonl", many, "", "a dog", "more than 12 labels"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := measure.Eval(read.Files([]string{path}, nil), nil, measure.EvalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, row := range r.ByLabel {
			rows = append(rows, row.Name)
		}
		var page strings.Builder
		if err := show.Eval(r).HTML(&page); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(rows, " "); got != c.rows || !strings.Contains(page.String(), c.html) ||
			!strings.Contains(strings.Join(r.Notes, ""), c.note) {
			t.Errorf("%s: labels %q, notes %q, want %q, %q and the page %q", c.name, got, r.Notes, c.rows,
				c.note, c.html)
		}
		if c.rows != "neg pos" {
			continue
		}
		alone := filepath.Join(t.TempDir(), "neg.txt")
		if err := os.WriteFile(alone, []byte("A bad cat.\nA bad bird.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		neg, err := measure.Eval(read.Files([]string{alone}, nil), nil, measure.EvalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"n", "self_bleu", "distinct.1"} {
			a, _ := r.ByLabel[0].Get(key)
			b, ok := neg.Rows[0].Get(key)
			if !ok || a.Text() != b.Text() {
				t.Errorf("%s: %s of the label, %s of its texts alone", key, a.Text(), b.Text())
			}
		}
	}
}
