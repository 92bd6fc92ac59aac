package prose

import (
	"strings"
	"testing"
)

func TestPhrases(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"It tells whether the file is there.":           1,
		"The page is made anew.":                        1,
		"Of so many lines, half of which are empty.":    2,
		"It is nobody's.":                               1,
		"Three files in all.":                           1,
		"Sentences, in all and per piece.":              1,
		"The same filling in all blanks.":               0,
		"A pool is no model.":                           1,
		"Results were no\nfindings.":                    1,
		"There is no file, and it is no longer wanted.": 0,
		"It is no larger than the other.":               0,
		"It renews the file, which is whole.":           0,
	} {
		if got := Phrases(Passage{1, text}); len(got) != want {
			t.Errorf("%q: %v, want %d findings", text, got, want)
		}
	}
	if got := Phrases(Passage{7, "One\ntwo\nthree anew"}); len(got) != 1 || got[0].Line != 9 {
		t.Errorf("%v, want line 9", got)
	}
}

func TestStrange(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"Memory is that of a process.":                       1,
		"The codes are those\nof the program.":               1,
		"Fillings are looked for in one precision.":          1,
		"Under a part the model still has its say.":          1,
		"A weight below 0 turns a part round.":               1,
		"What looks like a blank and is none stays.":         1,
		"For the best fillings take none.":                   1,
		"Masked diffusion models are decoded so.":            1,
		"By code words rank high that only support others.":  1,
		"The search looks for fillings, and there is none.":  0,
		"The best of those of one model. It turns out right": 0,
		"A run was stopped. So it goes on.":                  0,
	} {
		if got := Strange(Passage{1, text}); len(got) != want {
			t.Errorf("%q: %v, want %d findings", text, got, want)
		}
	}
}

func TestSemicolons(t *testing.T) {
	t.Parallel()
	p := Passage{3, "One; two. Three; four.\nFive; six;\nseven (eight; nine). Ten."}
	got := Semicolons(p)
	if len(got) != 1 || got[0].Line != 4 {
		t.Errorf("%v, want one finding that begins in line 4", got)
	}
	if n, k := Sentences(p); n != 4 || k != 5 {
		t.Errorf("%d sentences, %d semicolons, want 4 and 5", n, k)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"# Head; line", "", "One `a; b; c` two.", "Goes on [link](x;y;z).", "- item", "- other", "",
		"```sh", "code; code; code", "```", "<!-- a; b", "; c -->", "| cell; one | two |", "",
		"    formula; formula; formula",
	}, "\n")
	var got []string
	for _, p := range Markdown(text) {
		if s := strings.TrimSpace(p.Text); s != "" {
			got = append(got, s)
		}
	}
	want := []string{
		"# Head; line", "One code two.\nGoes on [link].", "- item", "- other", "cell; one", "two",
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestGoFile(t *testing.T) {
	t.Parallel()
	source := `// Package p is first.
//
//	code; code; code
//
// Second
// line.
package p

//go:generate x; y; z

var text = "a message" + "word"
`
	comments, texts, err := GoFile("p.go", source)
	if err != nil {
		t.Fatal(err)
	}
	if len(comments) != 2 || comments[1].Line != 5 || !strings.Contains(comments[1].Text, "line.") {
		t.Errorf("comments %+v", comments)
	}
	if len(texts) != 1 || texts[0].Text != "a message" || texts[0].Line != 11 {
		t.Errorf("texts %+v", texts)
	}
	if got := Columns("short\n" + strings.Repeat("ä", 101) + "\n" +
		strings.Repeat("ä", 100)); len(got) != 1 || got[0].Line != 2 {
		t.Errorf("columns %v", got)
	}
}
