package bleu

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// pairMatches adds the matches of hyp against its own references, which must not be empty, to
// clipped, one order per element. It returns the closest reference length, the shorter of two.
func pairMatches(hyp []uint32, refs [][]uint32, clipped []int32) (closest int) {
	for n := 1; n <= min(len(clipped), len(hyp)); n++ {
		own := grams(hyp, n, nil)
		most := map[string]int32{} // in one reference
		for _, r := range refs {
			for g, k := range grams(r, n, own) {
				most[g] = max(most[g], k)
			}
		}
		for g, k := range own {
			clipped[n-1] += min(k, most[g])
		}
	}
	return len(slices.MinFunc(refs, func(a, b []uint32) int {
		return cmp.Or(cmp.Compare(abs(len(a)-len(hyp)), abs(len(b)-len(hyp))),
			cmp.Compare(len(a), len(b)))
	}))
}

// grams counts the n-grams of a sentence by their bytes, those among others if that is not nil.
func grams(tokens []uint32, n int, among map[string]int32) map[string]int32 {
	out := map[string]int32{}
	var key []byte
	for p := 0; p+n <= len(tokens); p++ {
		key = key[:0]
		for _, t := range tokens[p : p+n] {
			key = binary.LittleEndian.AppendUint32(key, t)
		}
		if among == nil || among[string(key)] > 0 {
			out[string(key)]++
		}
	}
	return out
}

func abs(x int) int { return max(x, -x) }
