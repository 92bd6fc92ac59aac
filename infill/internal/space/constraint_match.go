package space

import (
	"regexp"
	"strings"

	"infill/infill/text"
)

// matching holds words to the regular expression of their blank. The
// expression sees the whole word: the filling with the letters that touch it
// ("walk[MASK/^walking$/]"). Where another blank is part of the same word it
// is the filled state that decides.
type matching struct {
	base
	neighbours bool // a blank with an expression shares its word with another blank
}

// matchKey stands for the answers at one slot.
type matchKey struct{ pattern, around string }

func newMatching(b base) *matching {
	m := &matching{base: b}
	for i, p := range b.t.Places {
		m.neighbours = m.neighbours || p.Neighbour && b.t.Groups[b.t.Owner[i]].Pattern != nil
	}
	return m
}

func (m *matching) alone(s slot) (func(text.Phrase) bool, any) {
	re := s.Pattern
	if re == nil || !s.list && m.whole(s.g, s.count) {
		return nil, nil
	}
	// The word around the filling, at every place of tied blanks.
	type around struct{ before, after string }
	var places []around
	key := matchKey{pattern: re.String()}
	for _, b := range s.Blanks {
		p := m.t.Places[b]
		if p.Neighbour {
			continue
		}
		var a around
		if s.list || s.pos == 0 {
			a.before = p.Before
		}
		if s.list || s.pos == s.count-1 {
			a.after = p.After
		}
		places = append(places, a)
		key.around += a.before + "\x00" + a.after + "\x00"
	}
	if len(places) == 0 {
		return nil, nil
	}
	return func(p text.Phrase) bool {
		for _, a := range places {
			if !re.MatchString(a.before + p.Text + a.after) {
				return false
			}
		}
		return true
	}, key
}

func (m *matching) judges(g, count int) bool { return m.neighbours || m.whole(g, count) }

// whole reports whether the words of a group are judged when all their tokens are there.
func (m *matching) whole(g, count int) bool {
	return m.t.Groups[g].Pattern != nil && m.t.Groups[g].MaxWords > 0 && count > 1
}

// wordsMatch holds the words of a filling to the expression of their group, as far as they are
// finished.
func (m *matching) wordsMatch(d *draft) bool {
	g, f := m.finished(d)
	if !m.whole(g, d.counts[g]) {
		return true
	}
	gr, end := &m.t.Groups[g], len(f)
	if d.open {
		end = -1
	}
	at := 0
	return m.bound.Words(f, d.forms[g][0], func(word []int32) bool {
		first := at == 0
		at += len(word)
		for _, p := range m.t.PlacesIn(gr) {
			s := m.bound.Join(word)
			if first {
				s = p.Before + s
			}
			if at == end {
				s += p.After
			}
			if !gr.Pattern.MatchString(s) {
				return false
			}
		}
		return true
	})
}

// allows judges the words that several blanks make together, as soon as the
// last of these is filled.
func (m *matching) allows(d *draft) bool {
	g, _ := d.last()
	if !m.wordsMatch(d) {
		return false
	}
	if d.open {
		return true
	}
	for i := range m.t.Blanks {
		if owner := m.t.Owner[i]; owner > g || m.t.Groups[owner].Pattern == nil ||
			!m.t.Places[i].Neighbour || m.whole(owner, d.counts[owner]) {
			continue
		}
		from, to := m.span(i)
		newest := 0
		for b := from; b <= to; b++ {
			newest = max(newest, m.t.Owner[b])
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
		between := m.t.Text[m.t.Blanks[a].End:m.t.Blanks[b].Start]
		return len(text.LettersAfter(between)) == len(between)
	}
	for from = i; from > 0 && touching(from-1, from); from-- {
	}
	for to = i; to+1 < len(m.t.Blanks) && touching(to, to+1); to++ {
	}
	return from, to
}

// matches holds every token of blank i to its expression, in the text that the
// blanks from … to make.
func (m *matching) matches(d *draft, from, to, i int) bool {
	re := m.t.Groups[m.t.Owner[i]].Pattern
	var b strings.Builder
	var start int
	b.WriteString(m.t.Places[from].Before)
	for k := from; k <= to; k++ {
		if k == i {
			start = b.Len()
		}
		b.WriteString(m.bound.Join(d.fillings[m.t.Owner[k]]))
		b.WriteString(m.t.Places[k].After)
	}
	f := d.fillings[m.t.Owner[i]]
	for n := range f {
		upTo := m.bound.Join(f[:n+1])
		end := start + len(upTo)
		begin := end - len(strings.TrimPrefix(upTo, m.bound.Join(f[:n])))
		if !matchesWord(re, b.String(), begin, end) {
			return false
		}
	}
	return true
}

// matchesWord widens a span of a text to a whole word and looks at that.
func matchesWord(re *regexp.Regexp, whole string, from, to int) bool {
	from += len(whole[from:to]) - len(strings.TrimLeft(whole[from:to], " "))
	before, after := text.LettersBefore(whole[:from]), text.LettersAfter(whole[to:])
	return re.MatchString(before + whole[from:to] + after)
}
