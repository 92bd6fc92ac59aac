package energies

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/infill"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Spec{
		"edit=1":               {Kind: "edit", Weight: 1},
		" edit = -2.5":         {Kind: "edit", Weight: -2.5},
		"words:a.txt=2":        {Kind: "words", Path: "a.txt", Weight: 2},
		"classifier:a:b:c d=1": {Kind: "classifier", Path: "a:b", Label: "c d", Weight: 1},
		"model:bert-base=.5":   {Kind: "model", Path: "bert-base", Weight: .5},
		"similar:a/b=1":        {Kind: "similar", Path: "a/b", Weight: 1},
		`words:C:\a=b.txt=.5`:  {Kind: "words", Path: `C:\a=b.txt`, Weight: .5},
	} {
		text = strings.Replace(text, " =", "=", 1)
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := Parse(got.String()); err != nil || again != got {
			t.Errorf("%q: %+v, %v", got.String(), again, err)
		}
	}
	for _, text := range []string{
		"", "=", "edit", "edit=", "edit=x", "edit=NaN", "edit=Inf", "edit=1e7", "edit:a=1", "word:a=1",
		"words=1", "words:=1", "edit 1",
		"classifier:a=1", "classifier:a:=1", "classifier::a=1",
	} {
		if s, err := Parse(text); !errors.Is(err, ErrSpec) {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}

// A part without its weight is one that is made from a file.
func TestParseName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Spec{
		"words:a=b.txt":      {Kind: "words", Path: "a=b.txt"},
		" classifier:a:b:c ": {Kind: "classifier", Path: "a:b", Label: "c"},
		"model:bert":         {Kind: "model", Path: "bert"},
	} {
		if got, err := ParseName(text); err != nil || got != want || got.Name() != strings.TrimSpace(text) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "edit", "edit:a", "words", "words:", "word:a", "classifier:a"} {
		if s, err := ParseName(text); !errors.Is(err, ErrSpec) {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}

// What is read is written as it was, and nothing that is read panics.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"edit=1", "words:a=b=-2", "words:=1", "=", "edit=1e999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrSpec) {
				t.Fatal(err)
			}
			return
		}
		if again, err := Parse(s.String()); err != nil || again != s {
			t.Fatalf("%q: %+v, again %+v, %v", text, s, again, err)
		}
	})
}

func values(t *testing.T, term infill.Term, texts ...infill.Finished) []float64 {
	t.Helper()
	v := make([]float64, len(texts))
	if err := term.Values(context.Background(), texts, v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Words count where they are filled in, whole, whatever their case, and as often as they stand.
func TestWords(t *testing.T) {
	t.Parallel()
	l, err := wordsOf(strings.NewReader("# moods\nGood\t2\nbad -1.5\n\nfilm 100\nçà 4\ndon't 8\n"))
	if err != nil {
		t.Fatal(err)
	}
	text := "A film: GOOD, bad, goodness; Çà don't good."
	span := func(words ...string) (out [][2]int) {
		for _, w := range words {
			at := strings.Index(text, w)
			out = append(out, [2]int{at, at + len(w)})
		}
		return out
	}
	for want, spans := range map[float64][][2]int{
		2:    span("GOOD"),
		.5:   span("GOOD, bad"),
		-1.5: span("ad"), // a part of the word was filled in
		0:    span("goodness"),
		4:    span("Çà"),
		10:   append(span("n't"), [2]int{len(text) - 5, len(text) - 1}),
	} {
		if v := values(t, l, infill.Finished{Text: text, Spans: spans}); v[0] != want {
			t.Errorf("%v: %v, want %v", spans, v[0], want)
		}
	}
	for text, want := range map[string]float64{
		"He said 'good' once": 2, "He said ‘good’ once": 2, "the bad’s": 0, "He don’t go": 8,
		"rock '' ’": 0, "'bad'": -1.5, "do it, bad'": -1.5,
	} {
		whole := infill.Finished{Text: text, Spans: [][2]int{{0, len(text)}}}
		if v := values(t, l, whole); v[0] != want {
			t.Errorf("%s: %v, want %v", text, v[0], want)
		}
	}
	quoted := infill.Finished{Text: "'good' x", Spans: [][2]int{{0, 1}, {5, 6}}} // the marks alone
	if v := values(t, l, quoted); v[0] != 0 {
		t.Errorf("quotation marks: %v", v[0])
	}
	for text, line := range map[string]string{
		"'' 2": "line 1", "good 1\nbad x": "line 2", "light blue": "line 1", "a b c": "line 1", "good\nGOOD 3": "line 2",
		"well-known": "line 1", "\xff": "line 1", "good NaN": "line 1", "good 1e9": "line 1", "# a": "no word",
		strings.Repeat("a", maxLine+1): "line 1",
	} {
		if _, err := wordsOf(strings.NewReader(text)); !errors.Is(err, ErrSpec) ||
			!strings.Contains(err.Error(), line) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func FuzzReadWords(f *testing.F) {
	f.Add("good 2\nbad\t-1\n# no\n\n", "A good film", 2, 6)
	f.Fuzz(func(t *testing.T, list, text string, from, to int) {
		l, err := wordsOf(strings.NewReader(list))
		if err != nil || from < 0 || to < from || to > len(text) {
			return
		}
		values(t, l, infill.Finished{Text: text, Spans: [][2]int{{from, to}}})
	})
}

// Parts that are made from files have to be open. A file that has changed is another part.
func TestOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "w.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("good 2\n")
	texts := []string{"words:" + path + "=3", "edit=1"}
	p, err := Open(t.Context(), texts, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := p.Weighted(texts)
	if err != nil || len(ws) != 2 || ws[0].Weight != 3 || ws[0].Term.Name() != "words:"+path ||
		ws[1].Term.Name() != "edit" {
		t.Fatalf("%+v, %v", ws, err)
	}
	f := infill.Finished{Text: "good", Spans: [][2]int{{0, 4}}, Original: []string{"god"}}
	if a, b := values(t, ws[0].Term, f), values(t, ws[1].Term, f); a[0] != 2 || b[0] != -1 {
		t.Errorf("%v and %v", a, b)
	}
	was, err := p.Recorded(texts)
	if err != nil || strings.Contains(was, path) || !strings.Contains(was, "sha256:") {
		t.Errorf("%q, %v", was, err)
	}
	write("good 1\n")
	changed, err := Open(t.Context(), texts, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if now, err := changed.Recorded(texts); err != nil || now == was {
		t.Errorf("%q, %v", now, err)
	}
	// Nobody but Open reads files.
	for _, p := range []*Parts{nil, {}} {
		if _, err := p.Weighted(texts); !errors.Is(err, ErrSpec) {
			t.Error(err)
		}
		if ws, err := p.Weighted(texts[1:]); err != nil || len(ws) != 1 {
			t.Errorf("%v, %v", ws, err)
		}
	}
	if got := Files(append(texts, "nonsense")); !slices.Equal(got, []string{path}) {
		t.Errorf("files %q", got)
	}
	if _, err := Open(t.Context(), []string{"words:" + path + "x=1"}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	write("a b c\n")
	if _, err := Open(t.Context(), texts, Options{}); !errors.Is(err, ErrSpec) ||
		!strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "line 1") {
		t.Error(err)
	}
}
