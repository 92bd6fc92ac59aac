package report

import (
	"errors"
	"fmt"
	"io"

	"infill/internal/unpack"
	"infill/metrics/corpus"
)

// Errors of reading. Those of [infill/metrics/corpus.Lines] come through as they are.
var (
	// ErrFormat reports a file that holds neither lines of text nor JSON lines
	// of the kind that was asked for.
	ErrFormat = errors.New("unknown format")
	// ErrNoText reports a JSON line without fillings and without the field of the text.
	ErrNoText = errors.New("no sentence")
	// ErrNoSentences reports a file whose records hold no sentence.
	ErrNoSentences = errors.New("no sentences")
	// ErrPaired reports a record that paired evaluation finds no line of the references for; see
	// [PairedError].
	ErrPaired = errors.New("not one sentence of each record")
	// ErrOption reports a bad option.
	ErrOption = errors.New("bad report option")
)

// Input is a named stream. Open is called once.
type Input struct {
	// Name is shown in tables and messages.
	Name string
	Open func() (io.ReadCloser, error)

	table string // the path of a table, which Open does not read
}

// Table is an input of a table of sentences. Only generated sentences are read from one.
func Table(path string) Input { return Input{Name: path, table: path} }

// open calls Open.
func (in Input) open() (io.ReadCloser, error) {
	if in.Open == nil {
		return nil, fmt.Errorf("%w: the input %q has no Open; make it with Files", ErrOption,
			in.Name)
	}
	return in.Open()
}

// lines calls each for every line.
func (in Input) lines(each func(number int, line string) error) error {
	f, err := in.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	return corpus.Lines(f, in.Name, each)
}

// Files makes inputs of paths. Gzip and zstd data, which their first bytes show,
// are decompressed. "-" is stdin, which can be read once.
func Files(paths []string, stdin io.Reader) []Input {
	out := make([]Input, len(paths))
	for i, path := range paths {
		if path == "-" {
			out[i] = Input{Name: "stdin", Open: func() (io.ReadCloser, error) {
				if stdin == nil {
					return nil, fmt.Errorf("%w: there is no standard input to read; pass os.Stdin", ErrOption)
				}
				return unpack.New(stdin)
			}}
			continue
		}
		out[i] = Input{Name: path, Open: func() (io.ReadCloser, error) { return unpack.Open(path) }}
	}
	return out
}
