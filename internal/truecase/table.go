package truecase

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An Entry says how a word is written within sentences.
type Entry struct {
	Form string // with its capitals: "France"
	// Lower words are written in lower case but in Contexts. The others are so only there.
	Lower    bool
	Contexts []string // see the function Contexts; ascending
}

// parse reads a line of the table.
func parse(line string) (Entry, error) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return Entry{}, fmt.Errorf("the line is empty")
	}
	e := Entry{Form: fields[0]}
	for i, f := range fields[1:] {
		sign, context := f[:1], f[1:]
		lower := sign == "+"
		if sign != "+" && sign != "-" || context == "" || i > 0 && lower != e.Lower {
			return e, fmt.Errorf("%s: bad context %q", e.Form, f)
		}
		e.Lower = lower
		e.Contexts = append(e.Contexts, context)
	}
	return e, nil
}

// fits reports whether the word is written as its form beside these contexts.
func (e Entry) fits(contexts []string) bool {
	for _, c := range contexts {
		if _, ok := slices.BinarySearch(e.Contexts, c); ok {
			return e.Lower
		}
	}
	return !e.Lower
}

//go:embed table.txt
var tableText string

// technicalText has words that the corpus of the table lacks: words for programmers, and nicknames
// of teams, written by hand. It comes before the table.
//
//go:embed technical.txt
var technicalText string

// lines are the lines of a table by word, in lower case.
func lines(table string) map[string]string {
	m := make(map[string]string, strings.Count(table, "\n"))
	for line := range strings.Lines(table) {
		form, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		m[strings.ToLower(form)] = line
	}
	return m
}

var tables = sync.OnceValue(func() []map[string]string {
	return []map[string]string{lines(technicalText), lines(tableText)}
})

// entriesOf are the entries of a word in lower case. The first that fits counts.
func entriesOf(word string) []Entry {
	var out []Entry
	for _, table := range tables() {
		line, ok := table[word]
		if e, err := parse(line); ok && err == nil { // a test reads every line
			out = append(out, e)
		}
	}
	return out
}

// Lookup returns the entry of a word in lower case: how it is usually written.
func Lookup(word string) (Entry, bool) {
	all := entriesOf(word)
	for i, e := range all {
		if !e.Lower || i == len(all)-1 {
			return e, true
		}
	}
	return Entry{}, false
}

// capital reports whether a word in lower case has a capital usually.
func capital(word string) bool {
	e, ok := Lookup(word)
	return ok && !e.Lower
}
