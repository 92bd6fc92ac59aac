package verify

import "math"

// key is a key of Threefry-2x32 with 20 rounds (Salmon et al. 2011), used as
// JAX uses it in its original layout (jax_threefry_partitionable off). With it
// the random field of a model that was published by its seed alone can be made
// again.
type key [2]uint32

// block is the cipher: two words of output for two of counter.
func (k key) block(x, y uint32) (uint32, uint32) {
	ks := [3]uint32{k[0], k[1], k[0] ^ k[1] ^ 0x1BD11BDA}
	rotations := [2][4]int{{13, 15, 26, 6}, {17, 29, 16, 24}}
	x, y = x+ks[0], y+ks[1]
	for i := range 5 {
		for _, r := range rotations[i%2] {
			x += y
			y = (y<<r | y>>(32-r)) ^ x
		}
		x += ks[(i+1)%3]
		y += ks[(i+2)%3] + uint32(i) + 1
	}
	return x, y
}

// bits returns n random words: of the counters 0..n−1, the first half goes in
// as first words and the second half as second words.
func (k key) bits(n int) []uint32 {
	half := (n + 1) / 2
	out := make([]uint32, 2*half)
	for i := range half {
		second := uint32(half + i)
		if half+i >= n {
			second = 0 // padding of an odd n
		}
		out[i], out[half+i] = k.block(uint32(i), second)
	}
	return out[:n]
}

// split makes n keys.
func (k key) split(n int) []key {
	b := k.bits(2 * n)
	out := make([]key, n)
	for i := range out {
		out[i] = key{b[2*i], b[2*i+1]}
	}
	return out
}

// uniform returns n numbers in [0, 1) with 23 random bits each.
func (k key) uniform(n int) []float64 {
	out := make([]float64, n)
	for i, b := range k.bits(n) {
		out[i] = float64(math.Float32frombits(b>>9|0x3f800000) - 1)
	}
	return out
}

// coins returns n numbers that are 0 or 1, as JAX draws integers below 2
// (randint): the last bits of the second half of the key.
func (k key) coins(n int) []int32 {
	out := make([]int32, n)
	for i, b := range k.split(2)[1].bits(n) {
		out[i] = int32(b & 1)
	}
	return out
}
