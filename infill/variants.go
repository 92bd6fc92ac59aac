package infill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"infill/infill/internal/space"
	"infill/infill/internal/text"
	"infill/mlm"
	"infill/samplers"
)

// Bounds and defaults of [Variants].
const (
	DefaultVariants    = 5
	DefaultPerMasking  = 1
	MaxVariants        = 1000
	DefaultExtraRounds = 3
	MaxExtraRounds     = 1000
)

// Variants says how many different texts [Engine.Rounds] makes of one.
type Variants struct {
	Count      int // 1 to MaxVariants
	PerMasking int // variants to take from one choice of masked words; 0: any number
	// ExtraRounds is how many further choices of words may be masked if variants are missing: 0 to
	// MaxExtraRounds. Without a bound a text of few words would be tried for ever.
	ExtraRounds int
}

// Check refuses numbers out of range; the error is ErrOption.
func (v Variants) Check() error {
	switch {
	case v.Count < 1 || v.Count > MaxVariants:
		return fmt.Errorf("%w: %d variants, want 1 to %d", text.ErrOption, v.Count, MaxVariants)
	case v.PerMasking < 0 || v.PerMasking > MaxVariants:
		return fmt.Errorf("%w: %d variants of one masking, want 0 to %d", text.ErrOption, v.PerMasking,
			MaxVariants)
	case v.ExtraRounds < 0 || v.ExtraRounds > MaxExtraRounds:
		return fmt.Errorf("%w: %d extra rounds, want 0 to %d", text.ErrOption, v.ExtraRounds,
			MaxExtraRounds)
	}
	return nil
}

// rounds is the most rounds that are made.
func (v Variants) rounds() int {
	if v.PerMasking == 0 {
		return 1 + v.ExtraRounds
	}
	return (v.Count+v.PerMasking-1)/v.PerMasking + v.ExtraRounds
}

// A Variant is a text in which some words were masked and filled again.
type Variant struct {
	Filling
	Round         int      // in which it was found, from 0; rounds have different seeds
	Blanked       string   // the text with blanks
	Masked        []string // the words that stood in them
	Places        [][2]int // of these words, in bytes of the text before they were masked
	OriginalScore *float64 // see Result.OriginalScore
}

// Rounds finds variants of one text, round by round. In each round words are masked and filled as
// [Engine.Fill] does, with seeds of its own. A round is computed when it is needed, and once.
// Rounds is not safe for concurrent use.
type Rounds struct {
	e       *Engine
	text    string
	masking Masking
	opt     Options
	want    Variants
	done    [][]Variant // best first
	cause   error       // the first error of a round that another round may not have
}

// Rounds prepares to make variants of a text. Options.Seed, ID and the number of a round decide its
// randomness. Results.Top and Words.Original are not used.
func (e *Engine) Rounds(text string, m Masking, opt Options, want Variants) *Rounds {
	return &Rounds{e: e, text: text, masking: m, opt: opt, want: want}
}

// Find returns Variants.Count variants, or fewer if the rounds do not have more, in the order of
// the rounds, and within a round best first. They differ from each other by more than case. taken,
// if not nil, reports texts that are not to be returned. The result depends on the answers of taken
// and on nothing that was found before. made is the number of rounds that it looked at.
//
// Errors: those of [Masking.Template] and [Engine.Fill]. ErrEmptySupport, ErrFiltered and
// mlm.ErrTooLong may be those of some rounds only, and are returned if no round has a variant.
// ErrFiltered also says that all variants are taken.
func (r *Rounds) Find(ctx context.Context, taken func(text string) bool) (found []Variant, made int,
	err error) {
	if err := errors.Join(r.want.Check(), r.e.ready(ctx)); err != nil {
		return nil, 0, err
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
		ErrFiltered, len(elsewhere), made)
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
	opt.Results.Top = min(4*r.want.Count+16, MaxTop)
	if opt.method() == MethodSearch { // whose work grows with them
		opt.Results.Top = min(r.want.Count+3, MaxTop)
	}
	tok := r.e.Tokenizer()
	plain, chosen, err := text.Masking(r.masking).Choose(r.text, tok.Token(tok.MaskID()), opt.Seed,
		opt.ID)
	if err != nil {
		return nil, err
	}
	t, masked, err := text.BlankOut(tok, plain, chosen)
	if err != nil {
		return nil, err
	}
	opt.Words.Original = masked
	var list []Variant
	res, err := r.e.Fill(ctx, &Template{*t}, opt)
	switch {
	case err == nil:
		if opt.Results.Select == SelectDiverse { // in the order in which they are chosen
			res.Fillings = diverse(res.Fillings, len(res.Fillings))
		}
		for _, f := range res.Fillings {
			list = append(list, Variant{Filling: f, Round: n, Blanked: t.Source(), Masked: masked,
				Places: chosen, OriginalScore: res.OriginalScore})
		}
	case errors.Is(err, space.ErrEmptySupport), errors.Is(err, ErrFiltered),
		errors.Is(err, mlm.ErrTooLong), errors.Is(err, samplers.ErrTooMany):
		if r.cause == nil {
			r.cause = err
		}
	default:
		return nil, err
	}
	r.done = append(r.done, list)
	return list, nil
}
