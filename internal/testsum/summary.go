package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// skip is one test that did not run, with its reason.
type skip struct{ test, reason string }

// summary turns the events of go test into its usual output and collects the
// tests that were skipped.
type summary struct {
	out io.Writer
	// tests holds the output of the tests that have not ended, by package and
	// top-level test. Go test prints it only when the test fails.
	tests map[string]*strings.Builder
	// packages holds the other output of a package, by its path.
	packages map[string]*strings.Builder
	reasons  map[string]string // of running tests, by package and full name
	skips    []skip
}

func newSummary(out io.Writer) *summary {
	return &summary{
		out:      out,
		tests:    map[string]*strings.Builder{},
		packages: map[string]*strings.Builder{},
		reasons:  map[string]string{},
	}
}

// read consumes events to their end. Any other line is printed as it is.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				if _, err := s.out.Write(line); err != nil {
					return err
				}
			} else if err := s.add(e); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// said finds the message of t.Skip, t.Log and their kind in a line of output.
var said = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)

func (s *summary) add(e event) error {
	if e.Test == "" {
		return s.addPackage(e)
	}
	name := e.Package + " " + e.Test
	function, _, _ := strings.Cut(e.Test, "/")
	top := e.Package + " " + function
	switch e.Action {
	case "output":
		if m := said.FindStringSubmatch(e.Output); m != nil {
			s.reasons[name] = m[1]
		}
		if !strings.HasPrefix(e.Output, "=== ") {
			buffer(s.tests, top).WriteString(e.Output)
		}
	case "skip":
		s.skips = append(s.skips, skip{name, s.reasons[name]})
	}
	if e.Action == "pass" || e.Action == "skip" || e.Action == "fail" {
		delete(s.reasons, name)
		if name == top {
			return s.end(s.tests, top, e.Action == "fail")
		}
	}
	return nil
}

func (s *summary) addPackage(e event) error {
	switch e.Action {
	case "output":
		text := buffer(s.packages, e.Package)
		if e.Output != "PASS\n" {
			text.WriteString(e.Output)
		}
	case "build-output":
		_, err := io.WriteString(s.out, e.Output)
		return err
	case "pass", "skip", "fail":
		// A panic or a time limit ends the package in the middle of its tests.
		if e.Action == "fail" {
			if err := s.endAll(e.Package); err != nil {
				return err
			}
		}
		return s.end(s.packages, e.Package, true)
	}
	return nil
}

// endAll prints what the unfinished tests of a package have written.
func (s *summary) endAll(pkg string) error {
	var names []string
	for name := range s.tests {
		if strings.HasPrefix(name, pkg+" ") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := s.end(s.tests, name, true); err != nil {
			return err
		}
	}
	return nil
}

// end prints the text of a name, if it is wanted, and forgets it.
func (s *summary) end(texts map[string]*strings.Builder, name string, wanted bool) error {
	text := texts[name]
	delete(texts, name)
	if text == nil || !wanted {
		return nil
	}
	_, err := io.WriteString(s.out, text.String())
	return err
}

func buffer(texts map[string]*strings.Builder, name string) *strings.Builder {
	if texts[name] == nil {
		texts[name] = &strings.Builder{}
	}
	return texts[name]
}

const (
	missing = "missing data: "
	long    = "long: "
)

// print writes the list of skipped tests.
func (s *summary) print() {
	var data, other []skip
	longs := 0
	for _, k := range s.skips {
		if what, ok := strings.CutPrefix(k.reason, missing); ok {
			data = append(data, skip{k.test, what})
		} else if strings.HasPrefix(k.reason, long) {
			longs++
		} else {
			other = append(other, k)
		}
	}
	list := func(head string, of []skip) {
		if len(of) == 0 {
			return
		}
		fmt.Fprintf(s.out, "== %s\n", head)
		for _, k := range of {
			fmt.Fprintf(s.out, "   %s: %s\n", k.test, k.reason)
		}
	}
	if longs > 0 {
		fmt.Fprintf(s.out, "== %s left to make test-all\n", tests(longs, "long test"))
	}
	list(tests(len(other), "test")+" skipped for another reason", other)
	list(tests(len(data), "test")+" skipped because data are missing", data)
	if len(s.skips) == 0 {
		fmt.Fprintln(s.out, "== no test was skipped")
	} else if len(data) == 0 {
		fmt.Fprintln(s.out, "== no test lacked its data")
	}
}

func tests(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
