package samplers

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// NewStream returns the random stream of one chain: ChaCha8, a counter-based
// generator, keyed by
//
//	SHA-256("infill/samplers/v1" ‖ seed ‖ len(id) ‖ id ‖ chain)
//
// with the integers as 8 bytes, little endian. This is stable across versions and machines.
func NewStream(seed uint64, id string, chain int) *rand.Rand {
	const domain = "infill/samplers/v1"
	b := make([]byte, 0, len(domain)+len(id)+24)
	b = append(b, domain...)
	b = binary.LittleEndian.AppendUint64(b, seed)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(id)))
	b = append(b, id...)
	b = binary.LittleEndian.AppendUint64(b, uint64(chain))
	return rand.New(rand.NewChaCha8(sha256.Sum256(b)))
}

// Random draws a state, uniformly among those that the support masks allow, each coordinate by one
// rng.IntN(Support(i)). U is not asked, so that it may be −∞.
func (d *Domain) Random(rng *rand.Rand) []int32 {
	x := make([]int32, len(d.coords))
	for i := range x {
		v := rng.IntN(d.free[i])
		if a := d.coords[i].Allowed; a != nil {
			v = nthAllowed(a, v)
		}
		x[i] = int32(v)
	}
	return x
}

// Randoms draws n states, one after the other, each as Random does: a start for every chain.
func (d *Domain) Randoms(rng *rand.Rand, n int) [][]int32 {
	x := make([][]int32, n)
	for k := range x {
		x[k] = d.Random(rng)
	}
	return x
}

// nthAllowed is the allowed category that has n allowed ones below it.
func nthAllowed(allowed []bool, n int) int {
	for v, ok := range allowed {
		if !ok {
			continue
		}
		if n == 0 {
			return v
		}
		n--
	}
	return -1 // not for n below their number
}
