package space

import (
	"infill/infill/request"
	"infill/infill/text"
)

// written judges fillings as they are written: a phrase of a list or a single token by itself, and
// several tokens as soon as all are there.
type written struct {
	base
	fits  []func(filling string) bool // of each group; nil: nothing is asked
	keys  []any                       // stand for their answers
	early bool                        // finished words are judged before the others are there
}

// ask resolves the questions about each group.
func (w *written) ask(of func(g *text.Group) (fits func(string) bool, key any)) *written {
	for g := range w.t.Groups {
		fits, key := of(&w.t.Groups[g])
		w.fits, w.keys = append(w.fits, fits), append(w.keys, key)
	}
	return w
}

func (w *written) alone(s slot) (func(text.Phrase) bool, any) {
	fits := w.fits[s.g]
	if fits == nil || s.several() {
		return nil, nil
	}
	return func(p text.Phrase) bool { return fits(p.Text) }, w.keys[s.g]
}

func (w *written) judges(_, count int) bool { return count > 1 }

func (w *written) allows(d *draft) bool {
	g, f := w.finished(d)
	return w.fits[g] == nil || d.open && !w.early || w.fits[g](w.bound.Join(f))
}

// distant keeps fillings away from the words that stood in the blanks: their
// Levenshtein distance in characters, without regard to case, is at least
// MinDistance, also from what the model reads of these words.
func distant(b base, o *request.WordOptions) *written {
	type key struct {
		original string
		least    int
	}
	w := &written{base: b}
	return w.ask(func(g *text.Group) (func(string) bool, any) {
		if g.Blanks[0] >= len(o.Original) {
			return nil, nil
		}
		word, least := o.Original[g.Blanks[0]], o.MinDistance
		read := text.AsRead(b.t.Tok, word)
		far := func(s string) bool { return !nearer(s, word, least) && !nearer(s, read, least) }
		return far, key{word, least}
	})
}

// nearer reports whether the Levenshtein distance between two words, in
// characters and without regard to case, is below d.
func nearer(a, b string, d int) bool { return text.EditDistance(a, b, d) < d }

// meaning lets no function word stand in the place of a content word.
func meaning(b base, o *request.WordOptions) *written {
	type key struct{ function *text.WordSet }
	w := &written{base: b}
	return w.ask(func(g *text.Group) (func(string) bool, any) {
		if blank := g.Blanks[0]; blank >= len(o.Original) || !o.Function.Content(o.Original[blank]) {
			return nil, nil
		}
		return o.Function.Content, key{o.Function}
	})
}

// elsewhere allows no word that the text has around its blanks, function words apart. It sees whole
// words, with the letters that touch the blank. words stands for the answers of has.
func elsewhere(b base, has func(s string) bool, words string) *written {
	type key struct{ words, around string }
	w := &written{base: b, early: true}
	return w.ask(func(g *text.Group) (func(string) bool, any) {
		places, k := b.t.PlacesIn(g), key{words: words}
		for _, p := range places {
			k.around += p.Before + "\x00" + p.After + "\x00"
		}
		return func(s string) bool {
			for _, p := range places {
				if has(p.Before + s + p.After) {
					return false
				}
			}
			return true
		}, k
	})
}
