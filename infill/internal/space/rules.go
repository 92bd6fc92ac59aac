package space

import "infill/infill/text"

// Rules are what a user asks of fillings, besides what the blanks say: those of infill.Options that
// have these names.
type Rules struct {
	Vocab       text.Vocab
	Allow, Ban  *text.WordList
	NoRepeat    text.Repeats
	Function    *text.WordSet
	MinDistance int
	Original    []string
}

// constraintsOf lists the constraints of a template under some rules.
// counts are the tokens of each group, 0 for a group with a list.
func constraintsOf(s *Supports, t *text.Template, counts []int, r *Rules) []constraint {
	return []constraint{
		&matching{t: t, bound: s.bound, counts: counts},
		&scripted{t: t},
		&worded{t: t, bound: s.bound, counts: counts},
		&banned{list: r.Ban, bound: s.bound, counts: counts},
		&distant{least: r.MinDistance, t: t, bound: s.bound, original: r.Original, counts: counts},
		&spelling{Supports: s, counts: counts},
		&numbered{Supports: s, t: t, counts: counts},
		&unrepeated{asked: r.NoRepeat != text.RepeatAny, bound: s.bound, counts: counts},
		newElsewhere(t, s.bound, counts, r),
	}
}
