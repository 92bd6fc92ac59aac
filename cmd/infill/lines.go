package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"infill/infill"
)

// A line is a text and its number in the input, from 1.
type line struct {
	n    int
	text string
}

// inputTexts returns the sequence of texts that the arguments ask for.
func inputTexts(args []string, in io.Reader) (iter.Seq2[line, error], error) {
	switch {
	case len(args) > 1:
		return nil, usagef("%d texts; put quotes around the sentence: infill fill \"%s\"", len(args), strings.Join(args, " "))
	case len(args) == 1 && args[0] != "-":
		return func(yield func(line, error) bool) { yield(line{1, args[0]}, nil) }, nil
	case len(args) == 0 && isTerminal(in):
		return nil, usagef("no text; try: infill fill \"The [MASK] sat on the [MASK].\"")
	}
	return lines(in), nil
}

// lines yields the non-empty lines of a reader with their numbers, without
// their line ends.
func lines(in io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		s := bufio.NewScanner(in)
		s.Buffer(nil, maxLine)
		n := 0
		for s.Scan() {
			n++
			if text := s.Text(); text != "" && !yield(line{n, text}, nil) {
				return
			}
		}
		if err := s.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = usagef("line %d: longer than %d bytes", n+1, maxLine)
			}
			yield(line{n: n + 1}, err)
		}
	}
}

// maxLine bounds the length of an input line in bytes: far above what any
// model takes, far below what would hurt.
const maxLine = 1 << 20

// manyTexts returns the arguments as texts, or the lines of standard input.
func manyTexts(args []string, in io.Reader) (iter.Seq2[line, error], error) {
	if len(args) == 0 && isTerminal(in) {
		return nil, usagef("no text; give it in quotes")
	}
	if len(args) == 0 || len(args) == 1 && args[0] == "-" {
		return lines(in), nil
	}
	return func(yield func(line, error) bool) {
		for i, a := range args {
			if !yield(line{i + 1, a}, nil) {
				return
			}
		}
	}, nil
}

// eachText runs do on every text. What is wrong with one of several texts is
// reported in its place and the others go on; the error of a single text is
// returned.
func eachText(std stdio, texts iter.Seq2[line, error], asJSON, single, strict bool, do func(int, string) error) error {
	done, failed := 0, 0
	for l, err := range texts {
		if err == nil {
			err = do(l.n, l.text)
		}
		done++
		if err == nil {
			continue
		}
		code := lineCode(err)
		if code != "" && asJSON {
			if werr := encodeJSON(std.out, record{Line: l.n, Error: &recordError{code, err.Error()}}); werr != nil {
				return errors.Join(err, werr)
			}
		}
		switch {
		case single:
			return err
		case code == "" || strict:
			return atLine(l.n, err)
		}
		failed++
		fmt.Fprintf(std.err, "infill: %s\n", atLine(l.n, err))
	}
	switch {
	case done == 0:
		return usagef("no text on standard input")
	case failed > 0:
		return errSomeFailed
	}
	return nil
}

// atLine says which line of the input an error belongs to.
func atLine(n int, err error) error { return fmt.Errorf("line %d: %w", n, err) }

// A record is one line of JSON output.
type record struct {
	ID         json.RawMessage  `json:"id,omitempty"`
	Line       int              `json:"line"`
	Text       string           `json:"text,omitempty"`
	Gold       string           `json:"gold,omitempty"`   // the text before words were masked
	Masked     []string         `json:"masked,omitempty"` // the words that were
	Window     *[2]int          `json:"window,omitempty"` // bytes of text that the model saw, if not all
	Fillings   []infill.Filling `json:"fillings,omitempty"`
	Sampler    string           `json:"sampler,omitempty"`
	Seed       *uint64          `json:"seed,omitempty"`
	Steps      int              `json:"steps,omitempty"`
	Chains     int              `json:"chains,omitempty"`
	Distinct   int              `json:"distinct,omitempty"`
	Acceptance *float64         `json:"acceptance,omitempty"`
	StepSize   float64          `json:"step_size,omitempty"`
	Model      string           `json:"model,omitempty"`
	Version    string           `json:"version,omitempty"`
	Error      *recordError     `json:"error,omitempty"`
}

type recordError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// encodeJSON writes one JSON line; text stays readable (no \u003c for <).
func encodeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
