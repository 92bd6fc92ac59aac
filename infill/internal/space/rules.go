package space

import (
	"slices"
	"strings"
	"unicode"

	"infill/infill/request"
	"infill/infill/text"
	"infill/tokenize"
)

// Rules are a template with the demands of its blanks and of a user on fillings, resolved once.
type Rules struct {
	*Supports
	Template *text.Template
	// Lists are the fillings of the groups that have a list, of their own or from
	// request.WordOptions.Allow. Others have nil.
	Lists [][]text.Phrase
	forms [][]tokenize.Place // of each group, one for each of its blanks
	vocab []text.Vocab       // of each group
	all   []constraint
}

// Rules resolves the fillings of the blanks of a template. The error is ErrEmptySupport, or
// ErrBlank for a word that cannot be spelt.
func (s *Supports) Rules(t *text.Template, o *request.WordOptions) (*Rules, error) {
	r := &Rules{Supports: s, Template: t, all: constraintsOf(s, t, o)}
	for i := range t.Groups {
		g := &t.Groups[i]
		forms, misfit := s.bound.Forms(t.PlacesIn(g))
		if misfit >= 0 {
			return nil, t.Unfillable(g.Blanks[misfit], "it is tied to a blank after a space, "+
				"but directly follows other text; this model's tokens are for one or the other")
		}
		r.forms, r.vocab = append(r.forms, forms), append(r.vocab, t.VocabOf(g, o.Vocab, o.Original))
		list, err := r.phrases(i, o.Allow)
		if err != nil {
			return nil, err
		}
		r.Lists = append(r.Lists, list)
	}
	return r, nil
}

// constraintsOf lists the constraints of a template that are asked for.
func constraintsOf(s *Supports, t *text.Template, o *request.WordOptions) []constraint {
	b := base{t: t, bound: s.bound}
	out := []constraint{newMatching(b), &scripted{base: b}, &worded{b}, &spelling{base: b, by: s},
		&numbered{base: b, by: s}}
	if o.Ban != nil {
		out = append(out, &banned{b, o.Ban})
	}
	if o.MinDistance > 0 && o.Original != nil {
		out = append(out, distant(b, o))
	}
	if o.Content {
		out = append(out, meaning(b, o))
	}
	if o.NoRepeat == text.RepeatText {
		out = append(out, &unrepeated{base: b})
		if has, words := t.Meant(o.Function); has != nil {
			out = append(out, elsewhere(b, has, words))
		}
	}
	return out
}

// Undecided lists the groups that words alone fill although numbers could, see
// [text.Template.Undecided].
func (r *Rules) Undecided() (groups []int) {
	for g := range r.Template.Groups {
		if r.Template.Undecided(&r.Template.Groups[g], r.vocab[g]) {
			groups = append(groups, g)
		}
	}
	return groups
}

// TakeNumbers lets a group that is undecided take words with digits too.
func (r *Rules) TakeNumbers(g int) { r.vocab[g] = text.VocabDigits }

// NumberShare is what numbers have of what p gives to words and numbers in the blanks of a group, 0
// to 1.
func (r *Rules) NumberShare(g int, p func(id int32) float64) float64 {
	return r.sorted.NumberShare(r.forms[g][0], p)
}

// Longest is the most pieces that a blank of a group may take.
func (r *Rules) Longest(g int) int {
	if r.Lists[g] == nil {
		return r.Template.Groups[g].Max
	}
	return slices.Max(lengthsOf(r.Lists[g]))
}

// Space builds the space of the template, or of a part of it that a model sees, whose groups
// without a list have counts[g] tokens.
func (r *Rules) Space(t *text.Template, counts []int) (*Space, error) {
	sp := &Space{supports: r.Supports, Template: t, Groups: t.Groups, forms: r.forms,
		Counts: slices.Clone(counts), joint: make([][]constraint, len(t.Groups))}
	for g, list := range r.Lists {
		sp.First = append(sp.First, len(sp.Coords))
		if list != nil {
			sp.Counts[g] = 0
			capitals := slices.ContainsFunc(list, func(p text.Phrase) bool {
				return strings.ContainsFunc(p.Text, unicode.IsUpper)
			})
			sp.Coords = append(sp.Coords, Coord{
				Group: g, Slot: -1, Phrases: list, Lengths: lengthsOf(list), AsGiven: capitals,
			})
		}
		for slot := range sp.Counts[g] {
			ids, err := r.slot(g, slot, counts[g])
			if err != nil {
				return nil, err
			}
			sp.Coords = append(sp.Coords, Coord{Group: g, Slot: slot, IDs: ids})
		}
		for _, c := range r.all {
			if c.judges(g, sp.Counts[g]) {
				sp.joint[g], sp.tied = append(sp.joint[g], c), true
			}
		}
	}
	sp.scratch()
	return sp, sp.multiply()
}

// slot returns what may stand at token number pos of a group that has count
// tokens.
func (r *Rules) slot(g, pos, count int) ([]int32, error) {
	gr, forms, v := &r.Template.Groups[g], r.forms[g], r.vocab[g]
	base := r.sorted.Then[v]
	if pos == 0 {
		base = r.sorted.First[v][forms[0]]
		for _, f := range forms {
			if f != forms[0] { // tied blanks, one of them inside a word
				base = slices.DeleteFunc(slices.Clone(base), func(id int32) bool {
					_, is := slices.BinarySearch(r.sorted.First[v][f], id)
					return !is
				})
			}
		}
	}
	if len(base) == 0 {
		return nil, r.Template.Unfillable(gr.Blanks[0], "the vocabulary holds nothing that fits there")
	}
	asks, keys := asked(r.all, slot{Group: gr, g: g, forms: forms, pos: pos, count: count, vocab: v})
	ids := r.filter(base, asks, keys)
	if len(ids) == 0 {
		return nil, r.Template.Unfillable(gr.Blanks[0], "no token of the vocabulary meets all "+
			"constraints; loosen the expression, the ban, the vocabulary or the minimum distance")
	}
	return ids, nil
}

// phrases returns the fillings of a group with a list. It returns nil, nil if the group has none.
func (r *Rules) phrases(g int, allowed *text.WordList) ([]text.Phrase, error) {
	t, gr, forms := r.Template, &r.Template.Groups[g], r.forms[g]
	if gr.Words == nil && allowed == nil {
		return nil, nil
	}
	for i, f := range forms {
		if (f == tokenize.AfterSpace) != (forms[0] == tokenize.AfterSpace) {
			return nil, t.Unfillable(gr.Blanks[i],
				"it is tied to a blank that stands apart, but goes on with a word")
		}
	}
	asks, _ := asked(r.all, slot{Group: gr, g: g, forms: forms, list: true})
	var out []text.Phrase
	seen := map[string]bool{}
	keep := func(p text.Phrase) (err error) {
		if forms[0] != tokenize.AfterSpace { // the tokens that it has there
			p, err = r.bound.Spell(p.Text, forms[0])
		}
		k, n := text.IDsKey(p.IDs), len(p.IDs)
		if err == nil && !seen[k] && (!gr.Counted || n >= gr.Min && n <= gr.Max) {
			seen[k] = true
			out = append(out, p)
		}
		return err
	}
	if gr.Words == nil {
		for _, p := range allowed.Phrases() {
			if allow(asks, p) { // a list for all blanks need not fit into each
				_ = keep(p)
			}
		}
	}
	for _, w := range gr.Words {
		// Constraints judge the word as it stands apart. "ing" need not be one.
		p, err := r.bound.Spell(w, tokenize.AfterSpace)
		p.Text = strings.TrimSpace(w)
		switch {
		case err != nil && forms[0] == tokenize.AfterSpace:
		case allowed != nil && !allowed.Holds(p.IDs) || !allow(asks, p):
			continue
		default:
			err = keep(p)
		}
		if err != nil {
			return nil, &text.Error{Offset: gr.Start, Msg: err.Error(), Err: text.ErrBlank}
		}
	}
	if len(out) == 0 {
		return nil, t.Unfillable(gr.Blanks[0], "no word of the list meets all constraints; "+
			"loosen the count, the expression, the list of allowed words, the ban or the minimum distance")
	}
	return out, nil
}

// asked collects what constraints ask of the fillings of a slot.
func asked(cs []constraint, at slot) (asks []func(text.Phrase) bool, keys []any) {
	for _, c := range cs {
		if ask, key := c.alone(at); ask != nil {
			asks, keys = append(asks, ask), append(keys, key)
		}
	}
	return asks, keys
}

func allow(asks []func(text.Phrase) bool, p text.Phrase) bool {
	return !slices.ContainsFunc(asks, func(ask func(text.Phrase) bool) bool { return !ask(p) })
}
