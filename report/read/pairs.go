package read

import (
	"fmt"

	"infill/infill/jsonl"
)

// A PairedError is a record without exactly one sentence, which no line of the references can be
// compared with: all sentences after it would meet the wrong lines. It wraps [ErrFormat].
type PairedError struct {
	Name   string // of the file
	Record int    // which one of the file's, the first is 1, and the line of the references
	// Sentences is how many it has. Failure is its error in place of fillings, nil without one.
	Sentences int
	Failure   *jsonl.Failure
}

func (e *PairedError) Error() string {
	what, remedy := "has no sentence", fmt.Sprintf("fill it again, or remove it and line %d of every "+
		"reference file", e.Record)
	switch {
	case e.Failure != nil:
		what = fmt.Sprintf("failed (%s: %s)", e.Failure.Code, e.Failure.Message)
	case e.Sentences > 1:
		what, remedy = fmt.Sprintf("has %d sentences", e.Sentences), "take the first of each"
	}
	return fmt.Sprintf("%s: record %d %s, and paired evaluation needs one sentence of each record; %s",
		e.Name, e.Record, what, remedy)
}

func (e *PairedError) Unwrap() error { return ErrFormat }

// pairs counts the sentences of each record of a file, so that sentence i belongs to record i. A
// nil one counts nothing.
type pairs struct {
	name      string
	record    int  // the last one
	line      *int // that its rows name, nil if it is not made of rows
	sentences int
}

// begin is called for every record and for every row. Rows that have the same line are of one
// record.
func (p *pairs) begin(line *int) error {
	if p == nil || line != nil && p.line != nil && *line == *p.line {
		return nil
	}
	err := p.end()
	p.record, p.line, p.sentences = p.record+1, line, 0
	return err
}

// sentence is called for every sentence of the last record.
func (p *pairs) sentence() {
	if p != nil {
		p.sentences++
	}
}

// failed is called if the last record has an error in place of fillings.
func (p *pairs) failed(why *jsonl.Failure) error {
	if p == nil {
		return nil
	}
	return &PairedError{Name: p.name, Record: p.record, Failure: why}
}

// end is called after the last record.
func (p *pairs) end() error {
	if p == nil || p.record == 0 || p.sentences == 1 {
		return nil
	}
	return &PairedError{Name: p.name, Record: p.record, Sentences: p.sentences}
}
