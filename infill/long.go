package infill

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/infill/internal/choosing"
	"infill/infill/text"
	"infill/mlm"
)

// parts are the parts of a text in which its blanks are filled one part after the other. They are
// nil where the model can see all blanks at once, or where one alone may be too long.
func (e *Engine) parts(t *text.Template, opt *Options) ([]text.Part, error) {
	limit := e.model.MaxLength()
	span := t.Blanks[len(t.Blanks)-1].Pos - t.Blanks[0].Pos + 3 // with the special tokens
	if limit <= 0 || opt.RefuseLong || span+text.MaxTokens*len(t.Blanks) <= limit {
		return nil, nil
	}
	rules, err := e.supports.Rules(t, &opt.Words)
	if err != nil {
		return nil, err
	}
	longest := make([]int, len(t.Blanks))
	for b, g := range t.Owner {
		longest[b] = rules.Longest(g)
		span += longest[b] - 1
	}
	if span <= limit || slices.Max(longest)+2 > limit {
		return nil, nil
	}
	parts := t.Parts(limit, longest)
	if len(parts) == 1 {
		return nil, nil
	}
	return parts, wholeOnly(t, parts, opt)
}

// wholeOnly refuses options that need a whole text for a text that is filled in parts.
func wholeOnly(t *text.Template, parts []text.Part, opt *Options) error {
	refuse := func(blank int, what, remedy string) error {
		return &text.Error{Offset: t.Blanks[blank].Start, Msg: fmt.Sprintf("%s over the whole text, "+
			"whose %d blanks are filled in %d groups since the model does not see all of them at once; "+
			"%s, or split the text", what, len(t.Blanks), len(parts), remedy), Err: mlm.ErrTooLong}
	}
	filter := opt.Words.Filter
	filter.MinEdits, filter.MaxEdits = 0, 0 // of the whole text these are sums
	for _, c := range []struct {
		on   bool
		what string
	}{
		{opt.Method != MethodSearch, "draws, probabilities and exact sums are"},
		{opt.Words.NoRepeat == text.RepeatText, "the rule against words twice looks"},
		{filter.On(), "a filter by score or similarity looks"},
		{len(opt.Words.Terms) > 0, "other parts of the energy than the model's are"},
		{opt.Results.All, "a list of all fillings is"},
		{opt.Results.Rank != nil, "ranks of words are"},
	} {
		if c.on {
			return refuse(0, c.what, "leave that out")
		}
	}
	for _, p := range parts {
		for b := p.First; b < p.Last; b++ {
			tied := t.Groups[t.Owner[b]].Blanks
			if last := tied[len(tied)-1]; last >= p.Last {
				return refuse(last, "tied blanks, such as "+t.Spelt(b)+", are",
					"give those far apart different names")
			}
		}
	}
	return nil
}

// parted fills the parts of a text from the left. Each sees the best words of those before it.
func (e *Engine) parted(ctx context.Context, t *text.Template, parts []text.Part,
	opt *Options) (*Result, error) {
	if opt.Watch.Chosen != nil {
		if err := opt.Watch.Chosen(MethodSearch); err != nil {
			return nil, err
		}
	}
	whole := &Result{Method: MethodSearch, MoveShare: math.NaN(), Acceptance: math.NaN()}
	var best []string // words
	var found [][]Filling
	for _, p := range parts {
		sub, err := t.PartOf(p, best)
		if err != nil {
			return nil, err
		}
		o := *opt
		o.Watch.Chosen, o.Words.Filter = nil, Filter{}
		if opt.Watch.Progress != nil {
			o.Watch.Progress = func(pr Progress) error {
				return opt.Watch.Progress(Progress{Rows: whole.Rows + pr.Rows, Filled: p.First,
					Blanks: len(t.Blanks)})
			}
		}
		if strings.TrimSpace(t.Text[p.End:]) != "" {
			o.EndShown = false // the text goes on
		}
		if opt.Words.Original != nil {
			o.Words.Original = opt.Words.Original[p.First:p.Last]
		}
		res, err := e.run(ctx, sub, &o)
		if err != nil {
			return nil, fmt.Errorf("blanks %d to %d, which are filled together: %w", p.First+1, p.Last,
				err)
		}
		best, found = append(best, wordsIn(&res.Fillings[0])...), append(found, res.Fillings)
		addGroup(whole, p.First, len(sub.Blanks), res)
	}
	joinGroups(whole, t, found)
	if opt.Words.Filter.On() {
		s := &choosing.Sieve{By: &opt.Words.Filter}
		if whole.Fillings = s.Take(whole.Fillings, s.Near); len(whole.Fillings) == 0 {
			return nil, s.Err()
		}
	}
	return whole, nil
}

// wordsIn are those in the blanks, as they are written.
func wordsIn(f *Filling) (out []string) {
	for _, s := range f.Spans {
		out = append(out, f.Text[s[0]:s[1]])
	}
	return out
}

// addGroup adds the costs and notes of n blanks filled together, from first on.
func addGroup(r *Result, first, n int, of *Result) {
	r.Groups = append(r.Groups, n)
	r.Ended = max(r.Ended, of.Ended)
	r.Distinct += of.Distinct
	r.Rows += of.Rows
	r.Repeated += of.Repeated
	r.Fresh += of.Fresh
	r.Evaluated += of.Evaluated
	for _, b := range of.Numbers {
		r.Numbers = append(r.Numbers, first+b)
	}
	r.Lengths, r.Shown = cmp.Or(r.Lengths, of.Lengths), of.Shown
	r.Warnings = append(r.Warnings, of.Warnings...)
	r.PerToken = r.PerToken || of.PerToken
}

// joinGroups joins the fillings of parts to fillings of their text. The nth has the nth best of
// every part, or the last of a part that has fewer.
func joinGroups(r *Result, t *text.Template, found [][]Filling) {
	for _, list := range found {
		r.Fillings = append(r.Fillings, make([]Filling, max(0, len(list)-len(r.Fillings)))...)
	}
	for n := range r.Fillings {
		f := &r.Fillings[n]
		var words []string
		for _, list := range found {
			part := &list[min(n, len(list)-1)]
			words = append(words, wordsIn(part)...)
			f.Tokens, f.Pieces = append(f.Tokens, part.Tokens...), append(f.Pieces, part.Pieces...)
			f.Score += part.Score
			f.Parts.PLL += part.Parts.PLL
			f.Parts.Left += part.Parts.Left
			f.Parts.Right += part.Parts.Right
			f.Parts.Length += part.Parts.Length
			f.Recut = f.Recut || part.Recut
			f.Edits += part.Edits
			f.Changed += part.Changed
			f.IDs, f.Lengths = append(f.IDs, part.IDs...), append(f.Lengths, part.Lengths...)
		}
		f.Text, f.Spans = t.Write(words)
		f.ScorePerToken = f.Score / float64(len(f.IDs))
	}
}
