package report_test

import (
	"io"
	"strings"

	"infill/report/measure"
	"infill/report/read"
)

// inMemory makes an input of lines in memory.
func inMemory(name string, lines []string) read.Input {
	return read.Input{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(strings.Join(lines, "\n"))), nil
	}}
}

// compare measures a comparison with references that are read for it.
func compare(c *measure.Comparison, refs []read.Input, o measure.CompareOptions) (
	*measure.CompareResult, error) {
	p, err := measure.Prepare(c.Sources, refs, o)
	if err != nil {
		return nil, err
	}
	return p.Compare(c)
}
