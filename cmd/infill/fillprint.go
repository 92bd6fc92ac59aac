package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/infill/text"
	"infill/internal/count"
)

// filling is what came of a text.
type filling struct {
	line         int
	text, masked string // with the blanks that it was given
	opt          *infill.Options
	*infill.Result
	took time.Duration
}

// record is a text that was filled as a line of JSON, which says all.
func (w *filler) record(f *filling) *jsonl.Filled {
	rec := records.Filled(w.model, version(), f.text, f.masked, f.opt, f.Result)
	rec.Line, rec.Doubts = f.line, text.Doubts(w.model.Tokenizer(), f.text, f.Numbers...)
	return rec
}

// table is a text that was filled for people.
func (w *filler) table(r *filling) string {
	var b strings.Builder
	if w.lines++; w.lines > 1 && !w.quiet {
		b.WriteByte('\n')
	}
	for _, f := range r.Fillings {
		text := shown(w.std.Out, f.Text)
		if len(text) == len(f.Text) {
			text = console.Highlight(w.color, w.std.Out, text, f.Spans)
		}
		fmt.Fprintf(&b, "%8.2f  ", f.Score)
		if r.PerToken {
			fmt.Fprintf(&b, "%6.2f per token  ", f.ScorePerToken)
		}
		if r.Exact {
			fmt.Fprintf(&b, "%s  ", percent(f.Probability))
		}
		b.WriteString(besides(f.Energies) + text + "\n")
	}
	for _, k := range r.Ranks {
		fmt.Fprintf(&b, "rank %d of %d, %.3g %%: %s\n", k.Rank, k.Of, 100*k.Probability,
			shown(w.std.Out, k.Word))
	}
	if r.Marginals != nil {
		w.marginals(&b, r.Marginals)
	}
	return b.String()
}

// marginals writes the table of probabilities below the fillings of a text.
func (w *filler) marginals(b *strings.Builder, m *infill.Marginals) {
	part := func(title string, m *infill.Marginal) {
		fmt.Fprintf(b, "\n%s, %d different\n", title, m.Distinct)
		for _, e := range m.Likeliest {
			fmt.Fprintf(b, "%s %s  %s\n", percent(e.Probability), plusMinus(e.Error),
				shown(w.std.Out, e.Text))
		}
		if m.Distinct > len(m.Likeliest) {
			fmt.Fprintf(b, "%s        (others)\n", percent(m.Rest))
		}
	}
	for i := range m.Blanks {
		part(fmt.Sprintf("blank %d", i+1), &m.Blanks[i])
	}
	part("whole texts", &m.Fillings)
}

// notes say on standard error how the fillings of a table were found.
func (w *filler) notes(r *filling) {
	if note := recutNote(r.Fillings); note != "" {
		fmt.Fprintln(w.std.Err, note)
	}
	for _, d := range text.Doubts(w.model.Tokenizer(), r.text, r.Numbers...) {
		w.note(doubtNote(d, w.Name))
	}
	if r.Shown != "" {
		w.note("the model saw a full stop behind the text (--end-mark none: nothing)")
	}
	if slices.ContainsFunc(r.Fillings, func(f infill.Filling) bool {
		return f.Score > 0 && f.Parts.Length > 0
	}) {
		w.note("a score is above 0 by its part for the length")
	}
	if note := paperNote(&w.made.Options); note != "" {
		w.note(note)
	}
	fmt.Fprintln(w.std.Err, w.summary(r.Result, r.took))
}

// searched sums a search up.
func searched(r *infill.Result, d time.Duration) string {
	s := fmt.Sprintf("search: %s of the model, %s scored in %.2f s", count.Of(r.Rows, "row"),
		count.Of(r.Distinct, "filling"), d.Seconds())
	if r.LookedAt > 0 {
		s += fmt.Sprintf(", which looked at %.1f %% of the probability at least", 100*r.LookedAt)
	}
	switch r.Ended {
	case infill.EndedRows:
		s += ", ended at --rows; the best are of what was found"
	case infill.EndedStopped:
		s += ", stopped; the best are of what was found"
	}
	return s
}

func (w *filler) summary(r *infill.Result, d time.Duration) string {
	if r.Exact {
		sum := 0.0
		for _, f := range r.Fillings {
			sum += f.Probability
		}
		return fmt.Sprintf("exact, without sampling: %d of %d filling%s, "+
			"with %.1f %% of the probability, in %.2f s", len(r.Fillings), r.Distinct,
			count.S(r.Distinct), 100*sum, d.Seconds())
	}
	if r.Method == infill.MethodSearch {
		return searched(r, d)
	}
	o := &w.made.Options
	s := fmt.Sprintf("%s: %s × %s in %.1f s, %d different filling%s", o.Sampling.Sampler.Info().Name,
		count.Of(o.Sampling.Chains, "chain"), count.Of(r.Steps, "step"), d.Seconds(), r.Distinct,
		count.S(r.Distinct))
	if r.Ended == infill.EndedStopped {
		s += ", stopped"
	}
	s += fmt.Sprintf(", %d of %s evaluated", r.Fresh, count.Of(r.Rows, "row"))
	if n := r.Evaluated - r.Fresh; n > 0 {
		s += fmt.Sprintf(" and %d for start and ranking", n)
	}
	if !math.IsNaN(r.MoveShare) {
		s += fmt.Sprintf(", moves %.2f", r.MoveShare)
	}
	if !math.IsNaN(r.Acceptance) {
		s += fmt.Sprintf(", acceptance %.2f", r.Acceptance)
	}
	if r.Shortlist > 0 {
		s += fmt.Sprintf(", %s per blank", count.Of(r.Shortlist, "candidate"))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Tuned)) {
		s += fmt.Sprintf(", %s %.3g", strings.ReplaceAll(name, "-", " "), r.Tuned[name])
	}
	if m := r.Marginals; m != nil && m.Draws > 0 {
		s += ", probabilities from " + count.Of(m.Draws, "state")
		if m.ESS != nil && m.RHat != nil {
			s += fmt.Sprintf(" (worth %.0f, split R-hat %.2f)", *m.ESS, *m.RHat)
		}
	}
	if n := r.Stats.Zero; n > 0 {
		s += fmt.Sprintf(", %d state%s of probability 0 refused", n, count.S(n))
	}
	return s
}
