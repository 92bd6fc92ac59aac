package variants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/internal/choosing"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// Find returns Options.Count variants, or fewer if the rounds do not have more, in the order of
// the rounds, and within a round best first. They differ from each other by more than case. taken,
// if not nil, reports texts that are not to be returned. The result depends on the answers of taken
// and on nothing that was found before. made is the number of rounds that it looked at.
//
// Errors: those of [text.Masking.Template] and [infill.Engine.Fill]. ErrEmptySupport, ErrFiltered
// and mlm.ErrTooLong may be those of some rounds only, and are returned if no round has a variant.
// ErrFiltered also says that all variants are taken.
func (r *Rounds) Find(ctx context.Context, taken func(text string) bool) (found []Variant, made int,
	err error) {
	if err := errors.Join(r.want.Check(), r.e.Ready(ctx)); err != nil {
		return nil, 0, err
	}
	if r.want.Action == Insert && r.opt.Words.Filter.MaxDrop != nil {
		return nil, 0, fmt.Errorf("%w: a drop is one from the score of words that stood there, and "+
			"nothing did where words are put in", text.ErrOption)
	}
	mine := map[string]bool{}
	elsewhere := map[string]bool{}
	free := func(v *Variant) bool {
		switch key := strings.ToLower(v.Text); {
		case mine[key]:
			return false
		case taken != nil && taken(v.Text):
			elsewhere[key] = true
			return false
		default:
			mine[key] = true
			return true
		}
	}
	most := r.want.PerMasking
	if most == 0 {
		most = r.want.Count
	}
	for made < r.want.rounds() && len(found) < r.want.Count {
		list, err := r.round(ctx, made)
		if err != nil {
			return nil, made, err
		}
		made++
		n := 0
		for i := 0; i < len(list) && n < most && len(found) < r.want.Count; i++ {
			if free(&list[i]) {
				found = append(found, list[i])
				n++
			}
		}
	}
	// Rather more of one masking than too few.
	for i := 0; i < made; i++ {
		for k := 0; k < len(r.done[i]) && len(found) < r.want.Count; k++ {
			if free(&r.done[i][k]) {
				found = append(found, r.done[i][k])
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Variant) int { return a.Round - b.Round })
	switch {
	case len(found) > 0:
		return found, made, nil
	case len(elsewhere) == 0 && r.cause != nil:
		return nil, made, r.cause
	}
	return nil, made, fmt.Errorf("%w: the %d that were found in %d rounds stand elsewhere already",
		infill.ErrFiltered, len(elsewhere), made)
}

// round is round number n.
func (r *Rounds) round(ctx context.Context, n int) ([]Variant, error) {
	if n < len(r.done) {
		return r.done[n], nil
	}
	opt := r.opt
	if n > 0 {
		opt.ID += fmt.Sprintf("\x00round\x00%d", n)
	}
	// Some may be taken already. Of an exact round there would be as many as the vocabulary has words.
	opt.Results.Top, opt.Results.All = min(4*r.want.Count+16, infill.Ranges.Top.Max), false
	if opt.Complete().Method == infill.MethodSearch { // whose work grows with them
		opt.Results.Top = min(r.want.Count+3, infill.Ranges.Top.Max)
	}
	if opt.Alike != "" {
		opt.Alike += fmt.Sprint("\x00top\x00", opt.Results.Top)
	}
	var list []Variant
	var err error
	if r.want.Action == Delete {
		list, err = r.without(ctx, &opt)
	} else {
		list, err = r.filled(ctx, opt)
	}
	switch {
	case err == nil:
	case errors.Is(err, text.ErrEmptySupport), errors.Is(err, infill.ErrFiltered),
		errors.Is(err, mlm.ErrTooLong), errors.Is(err, samplers.ErrTooMany):
		if r.cause == nil {
			r.cause = err
		}
	default:
		return nil, err
	}
	for i := range list {
		list[i].Round = n
	}
	r.done = append(r.done, list)
	return list, nil
}

// blanked is the template of a round, with the words of the plain text that are chosen.
func (r *Rounds) blanked(choose func(p *text.Plain, seed uint64, id string) ([][2]int, error),
	opt *infill.Options) (t *text.Template, chosen [][2]int, plain string, err error) {
	p, err := text.Read(r.e.Tokenizer(), r.text)
	if err != nil {
		return nil, nil, "", err
	}
	if chosen, err = choose(p, opt.Seed, opt.ID); err != nil {
		return nil, nil, "", err
	}
	t, _, err = text.BlankOut(r.e.Tokenizer(), p.Text, chosen)
	return t, chosen, p.Text, err
}

// filled makes the variants of a round in which blanks are filled.
func (r *Rounds) filled(ctx context.Context, opt infill.Options) ([]Variant, error) {
	choose := r.masking.Choose
	if r.want.Action == Insert {
		choose = r.masking.ChooseGaps
	}
	t, chosen, _, err := r.blanked(choose, &opt)
	if err != nil {
		return nil, err
	}
	masked := t.Masked
	opt.Words.Original = masked
	res, err := r.e.Fill(ctx, t, opt)
	if err != nil {
		return nil, err
	}
	var list []Variant
	for _, f := range choosing.Chosen(res, opt.Results.Diverse) {
		v := Variant{Filling: f, Groups: res.Groups, Blanked: t.Source(), Masked: masked,
			Places: chosen, Became: slices.Clone(f.Spans), OriginalScore: res.OriginalScore}
		for i, w := range masked {
			if end := t.Blanks[i].End; w == "" && t.Text[end] == ' ' { // which was put in too
				v.Became[i][1]++
			}
		}
		list = append(list, v)
	}
	return list, nil
}
