package truecase

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// What is asked of counts.
const (
	usual       = .8  // least share of a form for a word that is written so
	leastUses   = 5   // of a word of the vocabulary
	leastOther  = 30  // of another word
	upContext   = .85 // least share of capitals in a context that gives them,
	upFits      = 12  // and least uses there
	lowContext  = .4  // least share of lower case in a context that takes capitals,
	lowFits     = 6   // and least uses there
	openMinor   = 10  // least uses of the rarer spelling for contexts to be counted
	openShare   = .003
	forgetEvery = 50_000 // lines, after which contexts seen once are forgotten
)

var (
	corpusFile = flag.String("corpus", "", "text that TestMakeTable makes the table of")
	vocabFile  = flag.String("vocab", "../../models/default/vocab.txt", "its vocabulary, one piece a line")
)

// TestMakeTable counts in a corpus how English words are written within sentences, and writes the
// table:
//
//	xz -dc ../shared/corpus/train_open.txt.xz > /tmp/corpus.txt
//	go test ./internal/truecase -run TestMakeTable -v -corpus /tmp/corpus.txt
//
// It takes some minutes and 1 GB.
func TestMakeTable(t *testing.T) {
	if *corpusFile == "" {
		t.Skip("no -corpus")
	}
	var b bytes.Buffer
	said, err := makeTable(&b, *corpusFile, *vocabFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(said)
	if err := os.WriteFile("table.txt", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// makeTable writes the table of a corpus, and says what was counted.
func makeTable(out *bytes.Buffer, corpus, vocab string) (said string, err error) {
	c := counts{known: map[string]bool{}, words: map[string]*word{}}
	if err := eachLine(vocab, func(piece string) { c.known[piece] = true }); err != nil {
		return "", err
	}
	if err := eachLine(corpus, c.line(c.spelling)); err != nil {
		return "", err
	}
	c.decide()
	n := 0
	context := c.line(c.context)
	if err := eachLine(corpus, func(line string) {
		if n++; n%forgetEvery == 0 {
			c.forget()
		}
		context(line)
	}); err != nil {
		return "", err
	}
	entries := c.entries()
	always, open, contexts := 0, 0, 0
	for _, e := range entries {
		fmt.Fprintln(out, e)
		contexts += len(e.Contexts)
		switch {
		case e.Lower:
			open++
		default:
			always++
		}
	}
	return fmt.Sprintf("%d words of the vocabulary seen, %d of the table's have capitals usually, "+
		"%d in some contexts only, %d contexts", c.seen(), always, open, contexts), nil
}

// eachLine calls do with the lines of a file.
func eachLine(name string, do func(string)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		do(in.Text())
	}
	return errors.Join(in.Err(), f.Close())
}

// counts are the words of a corpus, by their spelling in lower case without accents, as an uncased
// model reads them.
type counts struct {
	known map[string]bool // the vocabulary
	words map[string]*word
}

// A word is how often a word has which form, within sentences.
type word struct {
	lower    int
	forms    map[string]int
	entry    Entry
	listed   bool
	contexts map[string]*[2]int32 // uses in lower case and in entry.Form, by context; nil: not counted
}

// line makes a function that calls do with every word within sentences of a line. Lines
// without sentences in mixed case are left out, and so are words after quotes and colons.
func (c *counts) line(do func(key, spelt string, contexts []string)) func(string) {
	var contexts []string
	return func(line string) {
		line = plain(line)
		if !mixed(line) {
			return
		}
		for a, b := range Words(line) {
			key := strings.ToLower(line[a:b])
			if !letters(key) || key == "i" || StartsSentence(line[:a]) {
				continue
			}
			contexts = contextsOf(contexts[:0], line, a, b, c.capital, [][2]int{{0, len(line)}})
			if len(contexts) > 0 && contexts[0][0] == '<' {
				do(key, line[a:b], contexts)
			}
		}
	}
}

// plain takes accents off.
func plain(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return s
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s)))
}

// mixed reports whether a line is of sentences. Capital letters are fewer than small ones there,
// and at most 6 of 10 words have one.
func mixed(line string) bool {
	small, large, words, capitals := 0, 0, 0, 0
	for _, r := range line {
		switch {
		case unicode.IsLower(r):
			small++
		case unicode.IsUpper(r):
			large++
		}
	}
	for a := range Words(line) {
		words++
		if r, _ := utf8.DecodeRuneInString(line[a:]); unicode.IsUpper(r) {
			capitals++
		}
	}
	return large > 0 && large <= small && (words <= 3 || 10*capitals <= 6*words)
}

// letters reports whether a word begins with an ASCII letter and has only these and digits.
func letters(word string) bool {
	for _, r := range word {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return word != "" && word[0] >= 'a'
}

// capital reports whether a word is one that the table gives its form without a context.
func (c *counts) capital(key string) bool {
	w := c.words[key]
	return w != nil && w.listed && !w.entry.Lower
}

// open reports whether a word is one whose spelling depends on what stands beside it.
func (c *counts) open(key string) bool {
	w := c.words[key]
	return w != nil && w.contexts != nil
}

// spelling counts a word.
func (c *counts) spelling(key, spelt string, _ []string) {
	w := c.words[key]
	if w == nil {
		w = &word{}
		c.words[key] = w
	}
	if spelt == key {
		w.lower++
		return
	}
	if w.forms == nil {
		w.forms = map[string]int{}
	}
	w.forms[spelt]++
}

// decide finds the form of every word, and the words whose contexts are to be counted.
func (c *counts) decide() {
	for key, w := range c.words {
		n, all := 0, w.lower
		for _, form := range slices.Sorted(maps.Keys(w.forms)) {
			all += w.forms[form]
			if w.forms[form] > n {
				n, w.entry.Form = w.forms[form], form
			}
		}
		least := leastOther
		if c.known[key] {
			least = leastUses
		}
		if n == 0 || all < least {
			continue
		}
		w.entry.Lower = float64(n) < usual*float64(all)
		w.listed = !w.entry.Lower
		rarer := min(w.lower, n)
		if c.known[key] && rarer >= openMinor && float64(rarer) > openShare*float64(all) {
			w.contexts = map[string]*[2]int32{}
		}
	}
}

// context counts the contexts of a word.
func (c *counts) context(key, spelt string, contexts []string) {
	w := c.words[key]
	if w.contexts == nil || spelt != key && spelt != w.entry.Form {
		return
	}
	for _, f := range contexts {
		if _, beside, ok := strings.Cut(f, "="); ok && !c.open(beside) {
			continue // it has one spelling, which the other contexts have
		}
		n := w.contexts[f]
		if n == nil {
			n = new([2]int32)
			w.contexts[strings.Clone(f)] = n
		}
		if spelt == key {
			n[0]++
		} else {
			n[1]++
		}
	}
}

// forget drops contexts that were seen once.
func (c *counts) forget() {
	for _, w := range c.words {
		maps.DeleteFunc(w.contexts, func(_ string, n *[2]int32) bool { return n[0]+n[1] == 1 })
	}
}

// entries are the lines of the table, in the order of their words.
func (c *counts) entries() []Entry {
	var out []Entry
	for _, key := range slices.Sorted(maps.Keys(c.words)) {
		w := c.words[key]
		w.choose()
		if w.listed || len(w.entry.Contexts) > 0 {
			out = append(out, w.entry)
		}
	}
	return out
}

// choose finds the contexts in which the word is written otherwise than usually. One that a simpler
// one implies is left out.
func (w *word) choose() {
	e := &w.entry
	least, fits, side := lowContext, lowFits, 0
	if e.Lower {
		least, fits, side = upContext, upFits, 1
	}
	otherwise := map[string]bool{}
	for f, n := range w.contexts {
		all := n[0] + n[1]
		otherwise[f] = int(all) >= fits && (float64(n[side])+.5)/(float64(all)+1.5) >= least
	}
	for f, yes := range otherwise {
		left, right, both := simpler(f)
		if !e.Lower && strings.ContainsAny(f, "~=") {
			continue // only words beside a name take its capitals
		}
		implied := both && (otherwise[left] || otherwise[right])
		if yes && !implied {
			e.Contexts = append(e.Contexts, f)
		}
	}
	slices.Sort(e.Contexts)
}

// seen is the number of words of the vocabulary that the corpus has.
func (c *counts) seen() int {
	n := 0
	for key, w := range c.words {
		if c.known[key] && w.lower+len(w.forms) > 0 {
			n++
		}
	}
	return n
}

// A name, a word without capitals, a word of both kinds, and an accent.
func TestMadeTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	corpus := write("corpus", strings.Repeat("They came to France in May and they may come again.\n"+
		"May is not counted at the start. \"France\" is not counted in quotes.\n"+
		"In summer the town of São Borja, they say, is full.\n"+
		"THEY ALL SHOUT IN FRANCE\n", 40))
	vocab := write("vocab", "france\nmay\nthey\ncame\nsao\n")
	var out bytes.Buffer
	if _, err := makeTable(&out, corpus, vocab); err != nil {
		t.Fatal(err)
	}
	want := "Borja\nFrance\nMay +<in +>and\nSao\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if _, err := makeTable(&out, filepath.Join(dir, "nowhere"), vocab); err == nil {
		t.Error("a corpus that is not there is no error")
	}
}

// simpler returns the contexts of one side that a context of both sides implies.
func simpler(context string) (left, right string, ok bool) {
	k := strings.IndexByte(context, '>')
	if k <= 0 {
		return "", "", false
	}
	return context[:k], context[k:], true
}

// String is the line of the table: the form, and then the contexts, with + where they give the word
// its form and - where they take it.
func (e Entry) String() string {
	sign := " -"
	if e.Lower {
		sign = " +"
	}
	var b strings.Builder
	b.WriteString(e.Form)
	for _, c := range e.Contexts {
		b.WriteString(sign)
		b.WriteString(c)
	}
	return b.String()
}
