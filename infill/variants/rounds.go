// Package variants makes other texts of one: words of it are masked and filled again, put in or
// taken out, in rounds, until there are as many as are wanted.
package variants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// Max bounds each number of [Options].
const Max = 1000

// Default are five, each of other masked words.
func Default() Options { return Options{Count: 5, PerMasking: 1, ExtraRounds: 3} }

// An Action is what makes a variant of a text.
type Action int

const (
	// Substitute fills other words into the places of some.
	Substitute Action = iota
	// Insert fills words in between two others each. Which places a Masking may take its Class does
	// not say.
	Insert
	// Delete takes words out. The sentence that is left scores at least as much per token as the
	// whole one, or less by at most Filter.MaxDrop. Its score is that of all its tokens.
	Delete
)

// Names lists the words for the values of Action, in their order.
func (Action) Names() []string { return []string{"substitute", "insert", "delete"} }

// Options say how many different texts [New] makes of one.
type Options struct {
	Count      int // 1 to Max
	PerMasking int // variants to take from one choice of masked words; 0: any number
	// ExtraRounds is how many further choices of words may be masked if variants are missing: 0 to
	// Max. Without a bound a text of few words would be tried for ever.
	ExtraRounds int
	Action      Action
}

// Check refuses numbers out of range; the error is ErrOption.
func (v Options) Check() error {
	switch {
	case v.Count < 1 || v.Count > Max:
		return fmt.Errorf("%w: %d variants, want 1 to %d", text.ErrOption, v.Count, Max)
	case v.PerMasking < 0 || v.PerMasking > Max:
		return fmt.Errorf("%w: %d variants of one masking, want 0 to %d", text.ErrOption, v.PerMasking,
			Max)
	case v.ExtraRounds < 0 || v.ExtraRounds > Max:
		return fmt.Errorf("%w: %d extra rounds, want 0 to %d", text.ErrOption, v.ExtraRounds,
			Max)
	case v.Action < Substitute || v.Action > Delete:
		return fmt.Errorf("%w: action %d, want Substitute, Insert or Delete", text.ErrOption, v.Action)
	}
	return nil
}

// deleteRounds is how many choices of words are tried for one that a sentence can do without.
const deleteRounds = 4

// rounds is the most rounds that are made.
func (v Options) rounds() int {
	switch {
	case v.Action == Delete: // a round has one at most, and is cheap
		return deleteRounds*v.Count + v.ExtraRounds
	case v.PerMasking == 0:
		return 1 + v.ExtraRounds
	}
	return (v.Count+v.PerMasking-1)/v.PerMasking + v.ExtraRounds
}

// A Variant is a text in which some words were masked and filled again.
type Variant struct {
	infill.Filling
	Round         int      // in which it was found, from 0; rounds have different seeds
	Blanked       string   // the text with blanks
	Masked        []string // the words that stood in them, "" of those that were put in
	OriginalScore *float64 // see Result.OriginalScore; after Delete that of the whole sentence
	// Places are the bytes of the text before that are others now, and Became what they are in Text.
	Places, Became [][2]int
}

// Rounds finds variants of one text, round by round. In each round words are masked and filled as
// [infill.Engine.Fill] does, with seeds of its own. A round is computed when it is needed, and
// once. Rounds is not safe for concurrent use.
type Rounds struct {
	e       *infill.Engine
	text    string
	masking text.Masking
	opt     infill.Options
	want    Options
	done    [][]Variant     // best first
	cause   error           // the first error of a round that another round may not have
	whole   *infill.Score   // of the text; nil: not asked for yet
	tried   map[string]bool // what was left of the text after words were taken out
}

// New prepares to make variants of a text. Seed, ID and the number of a round decide its
// randomness. Results.Top, Results.All and Words.Original are not used.
func New(e *infill.Engine, text string, m text.Masking, opt infill.Options, want Options) *Rounds {
	return &Rounds{e: e, text: text, masking: m, opt: opt, want: want}
}

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

// filled makes the variants of a round in which blanks are filled.
func (r *Rounds) filled(ctx context.Context, opt infill.Options) ([]Variant, error) {
	tok := r.e.Tokenizer()
	m, mask := r.masking, r.e.Tokenizer().Token(tok.MaskID())
	choose := m.Choose
	if r.want.Action == Insert {
		choose = m.ChooseGaps
	}
	plain, chosen, err := choose(r.text, mask, opt.Seed, opt.ID)
	if err != nil {
		return nil, err
	}
	t, masked, err := text.BlankOut(tok, plain, chosen)
	if err != nil {
		return nil, err
	}
	opt.Words.Original = masked
	res, err := r.e.Fill(ctx, t, opt)
	if err != nil {
		return nil, err
	}
	var list []Variant
	for _, f := range res.Chosen(opt.Results.Select) {
		v := Variant{Filling: f, Blanked: t.Source(), Masked: masked, Places: chosen,
			Became: slices.Clone(f.Spans), OriginalScore: res.OriginalScore}
		for i, w := range masked {
			if end := t.Blanks[i].End; w == "" && t.Text[end] == ' ' { // which was put in too
				v.Became[i][1]++
			}
		}
		list = append(list, v)
	}
	return list, nil
}
