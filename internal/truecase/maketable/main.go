// Command truecase counts in a corpus how English words are written within sentences, and prints
// the table of internal/truecase:
//
//	xz -dc ../shared/corpus/train_open.txt.xz > /tmp/corpus.txt
//	go run ./internal/truecase/maketable /tmp/corpus.txt > /tmp/table.txt
//	mv /tmp/table.txt internal/truecase/table.txt
//
// What it counted goes to standard error. It takes some minutes and 1 GB.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"infill/internal/truecase"
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

func main() {
	vocab := flag.String("vocab", "models/default/vocab.txt", "the vocabulary, one piece a line")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: truecase [-vocab FILE] CORPUS")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *vocab); err != nil {
		fmt.Fprintln(os.Stderr, "truecase:", err)
		os.Exit(1)
	}
}

// run makes the table of a corpus.
func run(w io.Writer, corpus, vocab string) error {
	c := counts{known: map[string]bool{}, words: map[string]*word{}}
	if err := eachLine(vocab, func(piece string) { c.known[piece] = true }); err != nil {
		return err
	}
	if err := eachLine(corpus, c.line(c.spelling)); err != nil {
		return err
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
		return err
	}
	entries := c.entries()
	out := bufio.NewWriter(w)
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
	fmt.Fprintf(os.Stderr, "%d words of the vocabulary seen, %d of the table's have capitals "+
		"usually, %d in some contexts only, %d contexts\n", c.seen(), always, open, contexts)
	return out.Flush()
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
	entry    truecase.Entry
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
		for a, b := range truecase.Words(line) {
			key := strings.ToLower(line[a:b])
			if !letters(key) || key == "i" || truecase.StartsSentence(line[:a]) {
				continue
			}
			contexts = truecase.Contexts(contexts[:0], line, a, b, c.capital, [][2]int{{0, len(line)}})
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
	for a := range truecase.Words(line) {
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
func (c *counts) entries() []truecase.Entry {
	var out []truecase.Entry
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
		left, right, both := truecase.Simpler(f)
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
