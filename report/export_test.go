package report

import (
	"io"
	"strings"
)

// What tests read sentences with.
type (
	Sentence = sentence
	Summary  = summary
)

func ReadSentences(r io.Reader, name string, o ReadOptions, each func(Sentence) error) (
	Summary, error) {
	in := Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
	return readSentences(in, o, nil, each)
}

// Strings makes an input of lines in memory.
func Strings(name string, lines []string) Input {
	return Input{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(strings.Join(lines, "\n"))), nil
	}}
}
