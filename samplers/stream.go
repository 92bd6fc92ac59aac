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
