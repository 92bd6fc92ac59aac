package records

import (
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/tokenize/tokenizetest"
)

// Words that tell labels apart are found in any format, of the field that has labels, and none are
// in files without labels.
func TestLearn(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	csv := "text,class\n" + strings.Repeat("a great dog,1\n", 9) + strings.Repeat("a bad dog,0\n", 9)
	jsonl := strings.Repeat(`{"text":"great dog","label":["pos"]}`+"\n", 9) +
		strings.Repeat(`{"text":"bad dog","label":["neg"]}`+"\n", 9)
	for _, c := range []struct {
		name, data, field, want string
		unlike                  bool
	}{
		{"r.csv", csv, "auto", "class 0:bad 1:great", false},
		{"r.csv", csv, "class", "class 0:bad 1:great", false},
		{"r.jsonl", jsonl, "auto", "label neg:bad pos:great", false},
		{"r.csv", "text,kind\na,b\n", "auto", "", true},
		{"r.csv", "text,label\na dog,1\na cat,2\n", "auto", "label", true}, // names of texts
		{"r.jsonl", `{"text":"Ann slept","label":[[0,3,"PER"]]}` + "\n", "auto", "", true},
	} {
		in, err := input.OpenStream(c.name, strings.NewReader(c.data), input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Learn(in, tok, text.Masking{Class: text.ClassContent}, c.field)
		if err != nil {
			t.Fatal(err)
		}
		got := b.Field
		for _, w := range b.Telling {
			got += " " + w.Label + ":" + w.Word
		}
		if got != c.want || b.Unlike != c.unlike {
			t.Errorf("%s, %s: %q, %v", c.data[:12], c.field, got, b.Unlike)
		}
	}
}

// A text keeps its telling words, and gets none of another label, beside what was asked for anyway.
func TestByLabelGuides(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	b := &ByLabel{Field: "label", Telling: []text.Telling{{Word: "dog", Label: "pos"},
		{Word: "cat", Label: "neg"}}}
	if err := b.prepare(tok); err != nil {
		t.Fatal(err)
	}
	it := itemOf(t, input.Options{Format: settings.FormatJSONL},
		`{"text":"the dog and the bird sleeps","label":"pos"}`)
	asked, err := text.NewWordSet([]string{"bird"})
	if err != nil {
		t.Fatal(err)
	}
	bird, err := text.NewWordList(tok, []string{"bird"})
	if err != nil {
		t.Fatal(err)
	}
	m, opt := text.Masking{Keep: asked, Rate: 1, Class: text.ClassContent}, infill.Options{}
	opt.Words.Ban = bird
	b.guide(it, &m, &opt)
	p, err := text.Read(tok, it.Text)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := m.Choose(p, 1, ""); err != nil || len(left) != 1 {
		t.Errorf("masked %v (%v), want sleeps", left, err)
	}
	if asked.Len() != 1 || bird.Len() != 1 {
		t.Error("the lists of all lines changed")
	}
	ids := func(w string) []int32 {
		l, err := text.NewWordList(tok, []string{w})
		if err != nil {
			t.Fatal(err)
		}
		return l.Phrases()[0].IDs
	}
	for w, banned := range map[string]bool{"cat": true, "bird": true, "dog": false} {
		if opt.Words.Ban.Holds(ids(w)) != banned {
			t.Errorf("%s is banned: %v", w, !banned)
		}
	}
}
