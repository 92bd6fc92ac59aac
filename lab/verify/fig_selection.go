package verify

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"infill/lab/internal/kernels"
	"infill/lab/papers"
	"infill/samplers"
)

// selection is a run of variable selection (section 6.2 of SGDLD's paper) on one set of data.
type selection struct {
	t       *papers.Selection
	truth   []float64 // P(β_i = 1)
	well    []byte    // the likeliest sums
	batch   int       // rows of a mini-batch
	chains  int
	pilot   int   // chains of a trial that finds noP's time
	updates int   // of the stochastic samplers in a step
	full    int   // of DLMC in a step, which takes all rows
	burnin  int   // updates in which DLMC adapts its time, before the first step
	at      []int // steps after which errors are reported
	seed    uint64
}

// The paper's data: 100,000 rows, 9 columns with a copy of each. The mini-batches are as large as
// in its figures 6 and 7.
const selectionRows, selectionBatch = 100_000, 1000

// selectionChains is the number of chains of each table, as in the paper.
const selectionChains = 100

// selectionFew are the chains with which the search for noP's time begins.
const selectionFew = 4

func figSelection(ctx context.Context, w io.Writer, e *env) error {
	for _, part := range []func(context.Context, io.Writer, *env) error{
		figSelection9, figSelectionFew, figSelectionBias, figSelection50,
	} {
		if err := part(ctx, w, e); err != nil {
			return err
		}
	}
	fmt.Fprint(w, text("selection_note"))
	return nil
}

// newSelection has the truth by sums over all states, as Marginals has, and the sums themselves.
func newSelection(ctx context.Context, n, batch, chains int, seed, stream uint64) (selection,
	[]float64, error) {
	t, err := papers.NewSelection(rand.New(rand.NewPCG(seed, stream)), n, 9)
	if err != nil {
		return selection{}, nil, err
	}
	sums, err := t.Sums(ctx)
	if err != nil {
		return selection{}, nil, err
	}
	return selection{t: t, truth: t.MarginalsOf(sums), well: digits(sums), batch: batch,
		chains: chains, pilot: chains, updates: 320, full: 2, burnin: 200,
		at: []int{1, 4, 10}, seed: seed}, sums, nil
}

// digits are the digits of the index of the largest entry, in base 3.
func digits(sums []float64) (out []byte) {
	best := 0
	for s, u := range sums {
		if u > sums[best] {
			best = s
		}
	}
	for n := 1; n < len(sums); n *= 3 {
		out = append(out, byte(best%3))
		best /= 3
	}
	return out
}

// figSelection9 has figures 1 and 3.
func figSelection9(ctx context.Context, w io.Writer, e *env) error {
	s, sums, err := newSelection(ctx, selectionRows, selectionBatch, selectionChains, e.seed, 9)
	if err != nil {
		return err
	}
	jumps, slopes, err := s.scales(ctx)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	got, err := s.compare(ctx, &table, e)
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("selection", s.truth[:9], barrier(sums), jumps, slopes,
		100*got["SGDLD-.6"].Heaviest[1], s.chains, s.burnin))
	_, err = table.WriteTo(w)
	return err
}

// figSelectionFew is figure 3 with a hundredth of the rows, all numbers of rows being smaller in
// proportion.
func figSelectionFew(ctx context.Context, w io.Writer, e *env) error {
	s, sums, err := newSelection(ctx, selectionRows/100, selectionBatch/100, selectionChains,
		e.seed, 12)
	if err != nil {
		return err
	}
	jumps, _, err := s.scales(ctx)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	got, err := s.compare(ctx, &table, e)
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("selection_few", barrier(sums), jumps,
		100*got["SGDLD-.6"].Heaviest[1], s.truth[:9]))
	_, err = table.WriteTo(w)
	return err
}

// selectionCase is a sampler of a comparison.
type selectionCase struct {
	name    string
	s       samplers.Sampler
	target  samplers.Target
	updates int  // in a step
	burnin  int  // updates before the first step
	inWell  bool // the chains begin at likeliest states
}

// describe has all settings of a case.
func (c selectionCase) describe() string {
	return fmt.Sprintf("%s, %d updates a step, %d before, inWell %t", described(c.s), c.updates,
		c.burnin, c.inWell)
}

// id is the name of a result of this problem, and settings are what it depends on.
func (s selection) id(name string) string {
	return fmt.Sprintf("selection-%d-%d-%s", s.t.N, s.t.D, strings.ReplaceAll(name, " ", "-"))
}

func (s selection) settings(of string) string {
	return fmt.Sprintf("%d chains, mini-batches of %d, %d updates a step, reports after %v, %s",
		s.chains, s.batch, s.updates, s.at, of)
}

// compare prints the errors of the samplers of the paper's figures 3 and 6.
func (s selection) compare(ctx context.Context, w io.Writer, e *env) (map[string]*selected, error) {
	fast := func(h float64, noCache bool) samplers.Sampler {
		return &samplers.SGDLD{Jump: h, Batch: s.batch, NoCache: noCache}
	}
	var constant [2]samplers.Sampler // noP-.6 and noP-.3
	for i, h := range []float64{0.6, 0.3} {
		time, err := kept(e, s.id(fmt.Sprintf("log-time-%g", h)),
			s.settings(fmt.Sprintf("%d and %d", selectionFew, s.pilot)),
			func() (float64, error) { return s.sameJumps(ctx, h) })
		if err != nil {
			return nil, err
		}
		constant[i] = &samplers.SGDLD{Time: math.Exp(time), Batch: s.batch}
		e.progress("variable selection, %d rows, %d columns: log ε of noP for h = %g is %.1f",
			s.t.N, s.t.D, h, time)
	}
	oracle := newOracle(s.t)
	cases := []selectionCase{
		{"SGDLD-.6", fast(0.6, false), s.t, s.updates, 0, false},
		{"SGDLD-.3", fast(0.3, false), s.t, s.updates, 0, false},
		{"noC-.6", fast(0.6, true), s.t, s.updates, 0, false},
		{"noC-.3", fast(0.3, true), s.t, s.updates, 0, false},
		{"noP-.6", constant[0], s.t, s.updates, 0, false},
		{"noP-.3", constant[1], s.t, s.updates, 0, false},
		{"DLMC", &samplers.DLMC{}, s.t, s.full, s.burnin, false},
		{"DLMC, begun at the likeliest states", &samplers.DLMC{}, s.t, s.full, s.burnin, true},
		{"RWM of one flip, oracle", &kernels.RWM{Flips: 1}, oracle, s.updates, 0, false},
		{"RWM of two flips, oracle", &kernels.RWM{Flips: 2}, oracle, s.updates, 0, false},
	}
	head := []string{"error of the marginals"}
	for i, n := range s.at {
		head = append(head, fmt.Sprintf("%d", n))
		if i == 0 {
			head[1] = fmt.Sprintf("one chain, step %d", n)
		}
	}
	rows := [][]string{append(head, "all chains", "jump distance", "mean probability",
		"states visited")}
	out := map[string]*selected{}
	for _, c := range cases {
		got, err := kept(e, s.id(c.name), s.settings(c.describe()), func() (*selected, error) {
			return s.run(ctx, c)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		row := []string{c.name}
		for _, errors := range got.Errors {
			row = append(row, over(errors).String())
		}
		rate := fmt.Sprintf("%.3f", got.Rate)
		if _, unadjusted := c.s.(*samplers.SGDLD); unadjusted {
			rate = "–"
		}
		rows = append(rows, append(row, fmt.Sprintf("%.3f", got.Together[len(s.at)-1]),
			fmt.Sprintf("%.3f", got.Jump), rate, fmt.Sprint(got.Visited)))
		out[c.name] = got
		e.progress("variable selection, %d rows, %d columns: %s", s.t.N, s.t.D, c.name)
	}
	lines(w, rows...)
	return out, nil
}
