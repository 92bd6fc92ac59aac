package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"infill/infill"
	"infill/infill/batch"
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
	return lines("standard input", in), nil
}

// lines yields the non-empty lines of a reader with their numbers, as infill
// batch reads lines of text. An error with a number is of that line, and the
// next ones follow; one without ends the input, whose name it has.
func lines(name string, in io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		r := batch.Lines(name, in)
		for {
			it, err := r.Next()
			switch {
			case err == io.EOF:
				return
			case err != nil:
				yield(line{}, err)
				return
			case !yield(line{it.Line, it.Text}, it.Err):
				return
			}
		}
	}
}

// manyTexts returns the arguments as texts, or the lines of standard input.
func manyTexts(args []string, in io.Reader) (iter.Seq2[line, error], error) {
	if len(args) == 0 && isTerminal(in) {
		return nil, usagef("no text; give it in quotes")
	}
	if len(args) == 0 || len(args) == 1 && args[0] == "-" {
		return lines("standard input", in), nil
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
		if l.n == 0 {
			return err // of the input, not of a line
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
	ID         json.RawMessage    `json:"id,omitempty"`
	Line       int                `json:"line"`
	Text       string             `json:"text,omitempty"`
	Gold       string             `json:"gold,omitempty"`   // the text before words were masked
	Masked     []string           `json:"masked,omitempty"` // the words that were
	Window     *[2]int            `json:"window,omitempty"` // bytes of text that the model saw, if not all
	Fillings   []infill.Filling   `json:"fillings,omitempty"`
	Sampler    string             `json:"sampler,omitempty"`
	Seed       *uint64            `json:"seed,omitempty"`
	Steps      int                `json:"steps,omitempty"`
	Chains     int                `json:"chains,omitempty"`
	Distinct   int                `json:"distinct,omitempty"`
	Acceptance *float64           `json:"acceptance,omitempty"`
	StepSize   float64            `json:"step_size,omitempty"`
	Tuned      map[string]float64 `json:"tuned,omitempty"`             // what the sampler may adapt, means over chains
	Shortlist  int                `json:"shortlist,omitempty"`         // candidates per blank, if no more may fill it
	Zero       int                `json:"zero_states,omitempty"`       // proposed, or looked at, and refused: a constraint forbids them
	NonFinite  int                `json:"non_finite_states,omitempty"` // refused because the energy or gradient is no number
	Model      string             `json:"model,omitempty"`
	Version    string             `json:"version,omitempty"`
	Error      *recordError       `json:"error,omitempty"`
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
