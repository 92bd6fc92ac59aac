package truecase

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The table is as TestMakeTable writes it: one line for a word, in order, and in ASCII, so that no
// length changes.
func TestTable(t *testing.T) {
	t.Parallel()
	last, usually, sometimes := "", 0, 0
	for line := range strings.Lines(tableText) {
		e, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if e.String()+"\n" != line || !slices.IsSorted(e.Contexts) {
			t.Errorf("%q is not as it is written", line)
		}
		key := strings.ToLower(e.Form)
		if key <= last || key == e.Form {
			t.Errorf("%q stands after %q", key, last)
		}
		last = key
		for _, c := range e.Form {
			if c >= utf8.RuneSelf {
				t.Errorf("%s is not ASCII", e.Form)
			}
		}
		if e.Lower {
			sometimes++
		} else {
			usually++
		}
	}
	t.Logf("%d words have capitals usually, %d in some contexts, %d bytes", usually, sometimes,
		len(tableText))
	if usually < 9000 || sometimes < 2000 {
		t.Errorf("%d words have capitals usually, %d in some contexts", usually, sometimes)
	}
}

// The words that were added by hand are lines of the same form, each once. Those that the table has
// without a context are not among them.
func TestTechnical(t *testing.T) {
	t.Parallel()
	last, n := "", 0
	table := lines(tableText)
	for line := range strings.Lines(technicalText) {
		e, err := parse(line)
		if err != nil || e.String()+"\n" != line || !slices.IsSorted(e.Contexts) {
			t.Errorf("%q is not as it is written: %v", line, err)
		}
		key := strings.ToLower(e.Form)
		if strings.ContainsFunc(key, func(r rune) bool { return r >= utf8.RuneSelf }) || key <= last {
			t.Errorf("%q stands after %q", key, last)
		}
		if len(e.Contexts) == 0 && table[key] == line {
			t.Errorf("%s is in the table", e.Form)
		}
		last = key
		n++
	}
	if n < 300 {
		t.Errorf("%d words", n)
	}
}

func TestContexts(t *testing.T) {
	t.Parallel()
	capital := func(word string) bool { return word == "paris" }
	for _, c := range []struct{ text, word, want string }{
		{"It is in May 1960.", "May", "<in <~x <~x>~0 >~0"},
		{"The May", "May", "<the <~x <~x>~$ >~$"},
		{"Paris May", "May", "<Paris <~X <~X>~$ >~$"},
		{"the best film I've seen", "film", "<best <~x <~x>~x >i >~x"},
		{"The Chicago cubs", "cubs", "<Chicago <~T <~X <~X>~$ >~$"},
		{"On New-Year Day", "Year", "<-New <-~X <-~X>~X >Day >~X"},
		{"he said, may", "may", "<,said <,~x <,~x>~$ >~$"},
		{"he said \"may be", "may", ">be >~x"},
		{"He went. May be", "May", ">be >~x"},
		{"May", "May", ">~$"},
		{"built @-@ in May ; it", "May", "<in <~x"},
		{"Smith’s may", "may", "<s <~x <~x>~$ >~$"},
	} {
		a := strings.Index(c.text, c.word)
		got := contextsOf(nil, c.text, a, a+len(c.word), capital, nil)
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %s, want %s", c.text, strings.Join(got, " "), c.want)
		}
	}
	// Words that are filled in too may be spelt otherwise, unless they are names.
	const text = "near Paris, the White House"
	at := strings.Index(text, "White")
	got := contextsOf(nil, text, at, at+len("White"), capital, [][2]int{{0, len(text)}})
	slices.Sort(got)
	if want := "<=the <the <~x <~x>~X >=house >House >~X"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{ // filled in < >
		{"They met in <france> and <germany>.", "They met in France and Germany."},
		{"They met in france and <germany>.", "They met in france and Germany."},
		{"<new york> is a <new> city.", "New York is a new city."},
		{"The <u.s. army> and the <f.d.a>.", "The U.S. Army and the F.D.A."},
		{"He said <he's john o'brien>.", "He said he's John O'Brien."},
		{"<wash><ing>ton", "Washington"},
		{"un<american>", "unamerican"},
		{"<>, <.> <...>", ", . ..."},
		{"Über <café münchen>", "Über café münchen"},
		{"the <BbC> and <Paris>", "the BbC and Paris"},
		{"", ""},
	} {
		var text strings.Builder
		var spans [][2]int
		for _, r := range c.text {
			switch r {
			case '<':
				spans = append(spans, [2]int{text.Len(), 0})
			case '>':
				spans[len(spans)-1][1] = text.Len()
			default:
				text.WriteRune(r)
			}
		}
		if got := Restore(text.String(), spans); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", " ", "May in", "May +", "May +<in -<the", "May *<in"} {
		if e, err := parse(line); err == nil {
			t.Errorf("%q is read as %v", line, e)
		}
	}
	if _, ok := Lookup("the table has no such word"); ok {
		t.Error("a word that is not in the table is found")
	}
}

// FuzzRestore: nothing but the case of what is filled changes, and a second time nothing at all.
func FuzzRestore(f *testing.F) {
	f.Add("They met in ", "new york", " and ", "may", " 5.")
	f.Add("İ", "ıſK", "ß", "dna", "")
	f.Fuzz(func(t *testing.T, before, one, between, two, after string) {
		text := before + one + between + two + after
		second := len(before) + len(one) + len(between)
		spans := [][2]int{{len(before), len(before) + len(one)}, {second, second + len(two)}}
		got := Restore(text, spans)
		if len(got) != len(text) || !strings.EqualFold(got, text) {
			t.Fatalf("%q became %q", text, got)
		}
		for i := range len(text) {
			if got[i] != text[i] && !within(spans, i) {
				t.Fatalf("%q became %q: byte %d is not filled", text, got, i)
			}
		}
	})
}
