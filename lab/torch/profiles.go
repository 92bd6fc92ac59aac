package torch

import (
	"errors"
	"fmt"
)

// profiles shows and records where infill spends its time: by kind of work, by
// operator, and products by size.
func (s *settings) profiles(todo []cell, book *book) error {
	for _, c := range todo {
		p, err := s.profileOf(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		sum, flops := p.sums()
		fmt.Fprintf(s.verbose, "%s: one thread, gradients at %.0f tokens: %.2f s, %.2f s of them in "+
			"operators; %.0f GFLOP/s; %.3g operations a token\n",
			c, p.Tokens, p.Wall, sum, flops/p.Wall/1e9, flops/p.Tokens)
		for _, list := range [][]opTime{p.Kinds, p.Ops, p.Products} {
			for _, o := range list {
				if o.Seconds < 0.003*sum {
					break
				}
				line := fmt.Sprintf("  %-84s %6d calls %8.3f s %5.1f %%", o.Op, o.Calls, o.Seconds,
					100*o.Seconds/sum)
				if o.FLOPs > 0 {
					line += fmt.Sprintf("  %5.0f GFLOP/s", o.FLOPs/o.Seconds/1e9)
				}
				fmt.Fprintln(s.verbose, line)
			}
			fmt.Fprintln(s.verbose)
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
	const times, warm = 4, 1
	events, tokens, wall, err := m.profile(0, times, warm)
	if err != nil {
		return nil, err
	}
	return &Profile{
		Wall: wall, Tokens: tokens, Commit: commit(),
		Kinds:    sumBy(events, kindsOf(events)),
		Ops:      sumBy(events, func(e *event) string { return e.Args.Op }),
		Products: sumBy(events, productSize),
	}, nil
}
