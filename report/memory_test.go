package report_test

import (
	"io"
	"strings"

	"infill/metrics/bleu"
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

// withIntervals are options with intervals, and BLEU of an order, 0 for the usual one.
func withIntervals(order int, c bleu.Confidence) (o measure.Options) {
	o.BLEU.Order, o.BLEU.Confidence = order, &c
	return o
}

// judged are options with a judge, and intervals.
func judged(j *measure.Judge) measure.Options {
	o := withIntervals(0, bleu.Confidence{})
	o.Judge = j
	return o
}
