package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"

	"infill/infill"
	"infill/mlm"
	"infill/tokenize"
)

// A traceFile receives every step of every chain as JSON lines.
type traceFile struct {
	f *os.File
	b *bufio.Writer
}

// openTrace creates the file; an empty path gives nil, which writes nothing.
func openTrace(path string) (*traceFile, error) {
	if path == "" {
		return nil, nil
	}
	if err := checkTargets([]target{{"--trace", path}}); err != nil {
		return nil, err
	}
	// O_EXCL: an output file that exists is never overwritten.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil, usagef("--trace %s: the file exists; remove it or name another", path)
	}
	if err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	return &traceFile{f, bufio.NewWriter(f)}, nil
}

// write enters a step of the chains of a line.
func (t *traceFile) write(m *mlm.Model, line int, s infill.Step) error {
	return t.enter(m.Tokenizer(), stepRecord{Line: line}, s)
}

// A stepRecord is a line of a trace: a step of all chains of a sentence.
type stepRecord struct {
	Sampler  string     `json:"sampler,omitempty"` // of several
	ID       string     `json:"id,omitempty"`      // of the sentence, where lines have no numbers
	Line     int        `json:"line,omitempty"`
	Step     int        `json:"step"`
	Energy   []*float64 `json:"energy"`             // nats; null where the sampler computes none
	Accepted []bool     `json:"accepted,omitempty"` // absent at step 0
	States   [][]string `json:"states"`
}

// enter completes a record and writes it.
func (t *traceFile) enter(tok *tokenize.Tokenizer, rec stepRecord, s infill.Step) error {
	if t == nil {
		return nil
	}
	rec.Step, rec.Accepted = s.Step, s.Accepted
	for k := range s.Energy {
		var u *float64
		if !math.IsNaN(s.Energy[k]) && !math.IsInf(s.Energy[k], 0) {
			u = &s.Energy[k]
		}
		rec.Energy = append(rec.Energy, u)
		var words []string
		for _, id := range s.Tokens(k) {
			words = append(words, tok.Token(id))
		}
		rec.States = append(rec.States, words)
	}
	return encodeJSON(t.b, rec)
}

func (t *traceFile) close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.b.Flush(), t.f.Close())
}
