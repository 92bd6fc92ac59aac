package space

import "infill/infill/text"

// meaning lets no function word stand in the place of a content word.
type meaning struct {
	base
	rules *Rules
}

// meaningKey stands for the answers at one slot.
type meaningKey struct{ function *text.WordSet }

// holds reports whether a content word stood in the place of a group.
func (m *meaning) holds(g *text.Group) bool {
	blank, r := g.Blanks[0], m.rules
	return r.Content && blank < len(r.Original) && r.Function.Content(r.Original[blank])
}

func (m *meaning) alone(s slot) (func(text.Phrase) bool, any) {
	if !s.list && s.count > 1 || !m.holds(s.g) {
		return nil, nil
	}
	of := m.rules.Function
	return func(p text.Phrase) bool { return of.Content(p.Text) }, meaningKey{of}
}

func (m *meaning) together() bool { return m.rules.Content && m.several() }

func (m *meaning) allows(d *draft) bool {
	g, f := d.last()
	return d.open || m.counts[g] < 2 || !m.holds(&m.t.Groups[g]) ||
		m.rules.Function.Content(m.bound.Join(f))
}
