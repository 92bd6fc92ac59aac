package space

// unrepeated allows no word twice. Punctuation, and pieces inside words, may repeat. Tied blanks
// count once.
type unrepeated struct{ base }

func (u *unrepeated) judges(g, count int) bool { return g > 0 || count > 1 }

func (u *unrepeated) allows(d *draft) bool {
	g, f := u.finished(d)
	if d.counts[g] > 1 && u.twice(f, d.glued(g)) {
		return false
	}
	for h := range g {
		if u.share(f, d.glued(g), d.fillings[h], d.glued(h)) {
			return false
		}
	}
	return true
}

// share reports whether two fillings have a word in common.
func (u *unrepeated) share(a []int32, aGlued bool, b []int32, bGlued bool) bool {
	for i := range a {
		for j := range b {
			if u.same(a, i, b, j) && u.bound.Begins(a, i, aGlued) && u.bound.Begins(b, j, bGlued) {
				return true
			}
		}
	}
	return false
}

// same reports whether two fillings have the same pieces from tokens i and j to the ends of their
// words.
func (u *unrepeated) same(a []int32, i int, b []int32, j int) bool {
	for n := 0; ; n++ {
		inA := i+n < len(a) && (n == 0 || u.bound.GoesOn(a, i+n))
		inB := j+n < len(b) && (n == 0 || u.bound.GoesOn(b, j+n))
		switch {
		case inA != inB:
			return false
		case !inA:
			return true
		case !u.bound.Alike(a[i+n], b[j+n]):
			return false
		}
	}
}

// twice reports whether a word stands twice in a filling.
func (u *unrepeated) twice(f []int32, glued bool) bool {
	for i := range f {
		for j := range i {
			if u.same(f, i, f, j) && u.bound.Begins(f, i, glued) && u.bound.Begins(f, j, glued) {
				return true
			}
		}
	}
	return false
}
