package compare

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// num prints a figure with three digits, "–" for NaN.
func num(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	case x != 0 && math.Abs(x) < 1e-3:
		return fmt.Sprintf("%.1e", x)
	case math.Abs(x) >= 1000:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// inexactMark follows the name of a sampler that does not leave every target
// invariant, and inexactNote says what it means.
const (
	inexactMark = " †"
	inexactNote = "† not exact on every target: where it is not, more steps do not make its error 0"
)

// callNote says what the two ways of counting are.
const callNote = "eval: U and its gradient at a state that is not known yet; call: each of them, " +
	"known or not, as DLMC's paper counts"

// probNote says what the mean probability counts.
const probNote = "mean prob: mean probability of accepting a proposal, 1 for one that is the " +
	"state itself"

// name is the label of a row, marked where the sampler is not exact.
func (x Row) name() string {
	if x.Exact || x.Skipped != nil {
		return x.Label
	}
	return x.Label + inexactMark
}

// inexact reports whether any row is marked.
func (r *Result) inexact() bool {
	return slices.ContainsFunc(r.Rows, func(x Row) bool { return x.name() != x.Label })
}

// WriteTable prints the comparison as aligned text, one line a sampler, with notes
// and warnings below.
func (r *Result) WriteTable(w io.Writer) error {
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "%s · %d chains × %d steps after %d of burn-in · seed %d", r.Problem.Name,
		r.Config.Chains, r.Config.Steps, r.Config.Burnin, r.Config.Seed)
	if r.Problem.Source != "" {
		fmt.Fprintf(&buf, " · truth by %s", r.Problem.Source)
	}
	fmt.Fprintln(&buf)
	tw := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "sampler\terror\tESS\tESS/eval\tESS/call\tESS/s\tR-hat\tmean prob\tjump\t"+
		"proposed\tevals\tcalls")
	for _, x := range r.Rows {
		if x.Skipped != nil {
			fmt.Fprintf(tw, "%s\tskipped: %v\n", x.Label, x.Skipped)
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\n", x.name(), num(x.Error),
			num(x.ESS), num(x.PerEval), num(x.PerCall), num(x.PerSecond), num(x.RHat), num(x.MeanProb),
			num(x.Jump), num(x.Proposed), x.Evals, x.Calls)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(&buf, callNote)
	fmt.Fprintln(&buf, probNote)
	if r.inexact() {
		fmt.Fprintln(&buf, inexactNote)
	}
	for _, x := range r.Rows {
		if x.Zero > 0 {
			fmt.Fprintf(&buf, "note: %s: %d proposals or neighbours had probability 0 (energy −∞), and "+
				"were refused\n", x.Label, x.Zero)
		}
		for _, e := range x.Warnings {
			fmt.Fprintf(&buf, "warning: %s: %v\n", x.Label, e)
		}
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// WriteMarkdown prints the comparison as a Markdown table without times, so
// that the same seed gives the same bytes.
func (r *Result) WriteMarkdown(w io.Writer) error {
	var buf bytes.Buffer
	fmt.Fprintln(&buf, "| sampler | RMS error | ESS | ESS/eval | ESS/call | R-hat | "+
		"mean probability | jump | proposed | evals | calls |")
	fmt.Fprintln(&buf, "|---|---|---|---|---|---|---|---|---|---|---|")
	for _, x := range r.Rows {
		if x.Skipped != nil {
			fmt.Fprintf(&buf, "| %s | skipped: %v ||||||||||\n", x.Label, x.Skipped)
			continue
		}
		fmt.Fprintf(&buf, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %d | %d |\n", x.name(),
			num(x.Error), num(x.ESS), num(x.PerEval), num(x.PerCall), num(x.RHat), num(x.MeanProb),
			num(x.Jump), num(x.Proposed), x.Evals, x.Calls)
	}
	if r.inexact() {
		fmt.Fprintf(&buf, "\n%s\n", inexactNote)
	}
	_, err := w.Write(buf.Bytes())
	return err
}
