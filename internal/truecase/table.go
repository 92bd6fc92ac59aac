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

// lines are the lines of the table by word, in lower case.
var lines = sync.OnceValue(func() map[string]string {
	m := make(map[string]string, strings.Count(tableText, "\n"))
	for line := range strings.Lines(tableText) {
		form, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		m[strings.ToLower(form)] = line
	}
	return m
})

// Lookup returns the entry of a word in lower case.
func Lookup(word string) (Entry, bool) {
	line, ok := lines()[word]
	if !ok {
		return Entry{}, false
	}
	e, err := parse(line) // a test reads every line
	return e, err == nil
}

// capital reports whether a word in lower case has a capital usually.
func capital(word string) bool {
	e, ok := Lookup(word)
	return ok && !e.Lower
}
