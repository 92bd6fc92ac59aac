package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/textline"
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

// typed yields the lines of standard input that are not empty, with their numbers, as infill batch
// reads lines of text. Who asked for it at a terminal is told that the program waits. An error with
// a number is of that line, and the next ones follow; one without ends the input.
func typed(std console.IO) iter.Seq2[line, error] {
	if console.IsTerminal(std.In) {
		fmt.Fprintln(std.Err, "infill: type a text on each line, and Ctrl-D at the end")
	}
	return func(yield func(line, error) bool) {
		in, err := input.OpenStream("standard input", std.In, input.Options{Format: settings.FormatText})
		if err != nil {
			yield(line{}, err)
			return
		}
		defer func() { _ = in.Close() }() // it was read only
		for {
			it, err := in.Next()
			if err == nil {
				err = it.Err
			} else if it.Line = 0; err == io.EOF {
				return
			}
			if !yield(line{it.Line, it.Text}, err) || it.Line == 0 {
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

// eachText runs do on every text. What is wrong with one of several texts is reported in its place
// and the others go on; the error of a single text is returned.
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

// Some commands take a text and others a file. Who takes one for the other is told.

// soleFile is the only argument of a command for texts if it is the name of a file, else "".
func soleFile(args []string) string {
	if len(args) == 1 && advice.IsFile(args[0]) {
		return args[0]
	}
	return ""
}

// sayFile says that a name was taken for a text, and the command that reads the file.
func sayFile(std console.IO, path, command string) {
	fmt.Fprintf(std.Err, "infill: %s is taken for a text; %s\n", textline.Printable(path),
		advice.ReadsFile(path, command))
}

// Lines of text may look like JSON lines, as in a file of records that is called .txt. They
// are texts all the same, and that is said.

// hasText reports whether a line is a JSON object with a text in this field.
func hasText(line []byte, field string) bool {
	var members map[string]json.RawMessage
	var text *string
	return json.Unmarshal(line, &members) == nil && members[field] != nil &&
		json.Unmarshal(members[field], &text) == nil && text != nil
}

// sayJSON tells it of an input. reads is what reads such lines as records.
func sayJSON(std console.IO, name, reads string) {
	fmt.Fprintf(std.Err, "infill: %s: these look like JSON lines, and each is taken for a text as it "+
		"stands; to read them as JSON: %s\n", textline.Printable(name), reads)
}

// notingJSON are the lines of standard input, with a word on the first one if it looks like JSON.
func notingJSON(std console.IO, texts iter.Seq2[line, error], reads string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		first := true
		for l, err := range texts {
			if first && err == nil && hasText([]byte(l.text), "text") {
				sayJSON(std, "standard input", reads)
			}
			first = false
			if !yield(l, err) {
				return
			}
		}
	}
}

// sayText tells it of a file whose name decided that it is text. Who said so knows it.
func (f *fileFlags) sayText(std console.IO, path string, in *input.Reader) {
	named := f.Format == settings.FormatAuto && in.Format() == settings.FormatText && path != "-"
	if f.quiet || !named {
		return
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe may come slowly
		return
	}
	if it, err := in.Peek(); err == nil && hasText([]byte(it.Text), f.TextField) {
		sayJSON(std, path, "--format jsonl")
	}
}
