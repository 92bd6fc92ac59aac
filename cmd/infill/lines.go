package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/unpack"
)

// A line is a text and its number in the input, from 1.
type line struct {
	n    int
	text string
}

// inputTexts returns the sequence of texts that the arguments ask for.
func inputTexts(args []string, std console.IO) (iter.Seq2[line, error], error) {
	switch {
	case eachHasBlank(args):
		return nil, usagef("%d texts; fill takes one text; several come one a line on standard input: "+
			"infill fill -", len(args))
	case len(args) > 1:
		return nil, usagef("%d texts; put quotes around the sentence: infill fill \"%s\"", len(args),
			strings.Join(args, " "))
	case len(args) == 0 && console.IsTerminal(std.In):
		return nil, usagef("no text; try: infill fill \"The [MASK] sat on the [MASK].\"")
	}
	return manyTexts(args, std)
}

// eachHasBlank says whether these are several texts, and not the words of one without its quotes.
func eachHasBlank(args []string) bool {
	spaces := false
	for _, a := range args {
		if !text.LooksBlank(a) {
			return false
		}
		spaces = spaces || strings.ContainsAny(a, " \t\n")
	}
	return spaces && len(args) > 1
}

// typed yields the lines of standard input. Who asked for it at a terminal is told that the
// program waits.
func typed(std console.IO) iter.Seq2[line, error] {
	if console.IsTerminal(std.In) {
		fmt.Fprintln(std.Err, "infill: type a text on each line, and Ctrl-D at the end")
	}
	return lines("standard input", std.In)
}

// lines yields the non-empty lines of a reader with their numbers, as infill
// batch reads lines of text, compressed or not. An error with a number is of that line, and the
// next ones follow; one without ends the input, whose name it has.
func lines(name string, in io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		u, err := unpack.New(in)
		if err != nil {
			yield(line{}, fmt.Errorf("%s: %w", name, err))
			return
		}
		defer func() { _ = u.Close() }() // it was read only
		r := input.Lines(name, u, settings.FormatText)
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
func manyTexts(args []string, std console.IO) (iter.Seq2[line, error], error) {
	if len(args) == 0 && console.IsTerminal(std.In) {
		return nil, usagef("no text; give it in quotes")
	}
	if len(args) == 0 || len(args) == 1 && args[0] == "-" {
		return typed(std), nil
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
func eachText(std console.IO, texts iter.Seq2[line, error], asJSON, single, strict bool,
	do func(int, string) error) error {
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
		rec := records.Failed(l.text, err)
		if rec != nil && asJSON {
			rec.Line = l.n
			if werr := jsonl.Write(std.Out, rec); werr != nil {
				return errors.Join(err, werr)
			}
		}
		switch {
		case single:
			return err
		case rec == nil || strict:
			return atLine(l.n, err)
		}
		failed++
		fmt.Fprintf(std.Err, "infill: %s\n", advice.Message(atLine(l.n, err)))
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
