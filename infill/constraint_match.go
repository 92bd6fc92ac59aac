package infill

import (
	"regexp"
	"strings"
)

// matching holds words to the regular expression of their blank. The
// expression sees the whole word: the filling with the letters that touch it
// ("walk[MASK/^walking$/]"). Where another blank is part of the same word it
// is the filled state that decides.
type matching struct {
	t     *inTemplate
	bound boundary
}

// matchKey stands for the answers at one slot.
type matchKey struct{ pattern, around string }

func (m *matching) alone(s slot) (func(phrase) bool, any) {
	re := s.g.Pattern
	if re == nil {
		return nil, nil
	}
	// The word around the filling, at every place of tied blanks.
	type around struct{ before, after string }
	var places []around
	key := matchKey{pattern: re.String()}
	for _, b := range s.g.blanks {
		p := m.t.places[b]
		if p.neighbour {
			continue
		}
		var a around
		if s.first() {
			a.before = p.before
		}
		if s.last() {
			a.after = p.after
		}
		places = append(places, a)
		key.around += a.before + "\x00" + a.after + "\x00"
	}
	if len(places) == 0 {
		return nil, nil
	}
	return func(p phrase) bool {
		for _, a := range places {
			if !re.MatchString(a.before + p.text + a.after) {
				return false
			}
		}
		return true
	}, key
}

func (m *matching) together() bool {
	for _, g := range m.t.groups {
		if g.Pattern != nil && m.neighbour(&g) {
			return true
		}
	}
	return false
}

func (m *matching) neighbour(g *group) bool {
	for _, b := range g.blanks {
		if m.t.places[b].neighbour {
			return true
		}
	}
	return false
}

// allows judges the words that several blanks make together, as soon as the
// last of these is filled.
func (m *matching) allows(d *draft) bool {
	g, _ := d.last()
	if d.open {
		return true
	}
	for i := range m.t.blanks {
		if owner := m.t.owner[i]; owner > g || m.t.groups[owner].Pattern == nil ||
			!m.t.places[i].neighbour {
			continue
		}
		from, to := m.span(i)
		newest := 0
		for b := from; b <= to; b++ {
			newest = max(newest, m.t.owner[b])
		}
		if newest == g && !m.matches(d, from, to, i) {
			return false
		}
	}
	return true
}

// span is the range of blanks that touch blank i, letters between them included.
func (m *matching) span(i int) (from, to int) {
	touching := func(a, b int) bool {
		between := m.t.text[m.t.blanks[a].End:m.t.blanks[b].Start]
		return len(lettersAfter(between)) == len(between)
	}
	for from = i; from > 0 && touching(from-1, from); from-- {
	}
	for to = i; to+1 < len(m.t.blanks) && touching(to, to+1); to++ {
	}
	return from, to
}

// matches holds every token of blank i to its expression, in the text that the
// blanks from … to make.
func (m *matching) matches(d *draft, from, to, i int) bool {
	re := m.t.groups[m.t.owner[i]].Pattern
	var b strings.Builder
	var start int
	b.WriteString(m.t.places[from].before)
	for k := from; k <= to; k++ {
		if k == i {
			start = b.Len()
		}
		b.WriteString(m.bound.join(d.fillings[m.t.owner[k]]))
		b.WriteString(m.t.places[k].after)
	}
	f := d.fillings[m.t.owner[i]]
	for n := range f {
		upTo := m.bound.join(f[:n+1])
		end := start + len(upTo)
		begin := end - len(strings.TrimPrefix(upTo, m.bound.join(f[:n])))
		if !matchesWord(re, b.String(), begin, end) {
			return false
		}
	}
	return true
}

// matchesWord widens a span of a text to a whole word and looks at that.
func matchesWord(re *regexp.Regexp, text string, from, to int) bool {
	from += len(text[from:to]) - len(strings.TrimLeft(text[from:to], " "))
	return re.MatchString(lettersBefore(text[:from]) + text[from:to] + lettersAfter(text[to:]))
}
