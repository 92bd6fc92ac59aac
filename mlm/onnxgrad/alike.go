package onnxgrad

import "slices"

// Alike says which positions of a call are alike: what the inputs InFirst and InNumbers of a
// derived graph take. Its memory is used again from call to call. The zero value is ready. It
// serves one goroutine.
type Alike struct {
	// First lists the distinct positions in the order in which they first occur, as indices among
	// the rows · length positions of the call. U entries, at least two, so that products have
	// several rows: those with one are computed by another routine, to other last bits.
	First []int64
	// Numbers has for every position, [rows, length], the one in First that it is like.
	Numbers []int64

	known map[[2]int64]int64
}

// Find compares all positions of a call of rows of the given length. Those are alike that have the
// same token, the same place in their rows, and the same value in every one of the other inputs,
// which may be left out where they depend on the place alone. All slices are [rows, length]. If one
// of the tokens in counted, which is Derived.Counted, occurs, no two positions are alike.
func (a *Alike) Find(length int, counted, ids []int64, others ...[]int64) {
	a.Numbers = slices.Grow(a.Numbers[:0], len(ids))[:len(ids)]
	if slices.ContainsFunc(counted, func(t int64) bool { return slices.Contains(ids, t) }) {
		a.First = a.First[:0]
		for i := range a.Numbers {
			a.Numbers[i] = int64(i)
			a.First = append(a.First, int64(i))
		}
	} else {
		a.clear()
		for i, id := range ids {
			if i >= length && id == ids[i-length] { // most are as in the row before
				a.Numbers[i] = a.Numbers[i-length]
				continue
			}
			a.number(i, id, int64(i%length))
		}
		for _, x := range others {
			a.clear()
			for i, v := range x {
				a.number(i, a.Numbers[i], v)
			}
		}
	}
	if len(a.First) == 1 {
		a.First = append(a.First, a.First[0])
	}
}

func (a *Alike) clear() {
	if a.known == nil {
		a.known = map[[2]int64]int64{}
	}
	clear(a.known)
	a.First = a.First[:0]
}

// number gives position i the number of those that have the same two values.
func (a *Alike) number(i int, x, y int64) {
	key := [2]int64{x, y}
	number, ok := a.known[key]
	if !ok {
		number = int64(len(a.First))
		a.known[key] = number
		a.First = append(a.First, int64(i))
	}
	a.Numbers[i] = number
}
