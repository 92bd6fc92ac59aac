package main

import (
	"errors"
	"fmt"
)

// profiles shows the operators in which infill spends its time, and records
// them unless they are by shape.
func (s *settings) profiles(todo []cell, book *book) error {
	for _, c := range todo {
		p, err := s.profileOf(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		sum, flops := p.sums()
		fmt.Fprintf(s.verbose, "%s: one thread, gradients at %.0f tokens: %.2f s, of which %.2f s in operators; %.0f GFLOP/s; %.3g operations a token\n",
			c, p.Tokens, p.Wall, sum, flops/p.Wall/1e9, flops/p.Tokens)
		for _, o := range p.Ops {
			if o.Seconds < 0.003*sum {
				break
			}
			line := fmt.Sprintf("  %-56s %6d calls %8.3f s %5.1f %%", o.Op, o.Calls, o.Seconds, 100*o.Seconds/sum)
			if o.FLOPs > 0 {
				line += fmt.Sprintf("  %5.0f GFLOP/s", o.FLOPs/o.Seconds/1e9)
			}
			fmt.Fprintln(s.verbose, line)
		}
		if s.shapes {
			continue
		}
		book.Profiles[c.String()] = p
		if err := book.save(); err != nil {
			return err
		}
	}
	return nil
}

// sums adds up the operators' time and operations.
func (p *Profile) sums() (seconds, flops float64) {
	for _, o := range p.Ops {
		seconds, flops = seconds+o.Seconds, flops+o.FLOPs
	}
	return seconds, flops
}

func (s *settings) profileOf(c cell) (p *Profile, err error) {
	m, err := s.meter(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	if err := m.states(); err != nil {
		return nil, err
	}
	const times = 3
	ops, tokens, wall, err := m.profile(0, times, s.shapes)
	return &Profile{Wall: wall, Tokens: tokens, Ops: ops, Commit: commit()}, err
}
