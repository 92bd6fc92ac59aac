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
	Content     bool // a content word of Original is replaced by such words only
}

// constraintsOf lists the constraints of a template under some rules.
// counts are the tokens of each group, 0 for a group with a list.
func constraintsOf(s *Supports, t *text.Template, counts []int, r *Rules) []constraint {
	b := base{t, s.bound, counts}
	return []constraint{
		&matching{b},
		&scripted{t: t},
		&worded{b},
		&banned{base: b, list: r.Ban},
		&distant{base: b, least: r.MinDistance, original: r.Original},
		&meaning{base: b, rules: r},
		&spelling{base: b, by: s},
		&numbered{base: b, by: s},
		&unrepeated{base: b, asked: r.NoRepeat == text.RepeatText},
		newElsewhere(b, r),
	}
}
