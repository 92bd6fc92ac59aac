// Package images has data sets of images with few grey levels, the distance MMD between samples
// of images, and pictures of them.
package images

import (
	_ "embed"
	"math/rand/v2"

	"infill/lab/internal/domain"
)

// A Set is images of one size.
type Set struct {
	Name   string
	Side   int // pixels of a row, and rows
	Levels int // of grey: pixels are 0 to Levels−1
	// Train and Test have a row of Side² pixels for each image. TrainLabel and TestLabel have its
	// class.
	Train, Test           [][]int32
	TrainLabel, TestLabel []int
}

// digits.bin is described in README.md.
//
//go:embed digits.bin
var digits []byte

// Digits are scikit-learn's digits of 8 × 8 pixels with 2 or 4 levels. Every fifth image is one
// of the 360 for tests.
func Digits(levels int) *Set {
	const size = 17 // bytes
	s := &Set{Name: "digits", Side: 8, Levels: levels}
	for n := 0; n*size < len(digits); n++ {
		b := digits[n*size : (n+1)*size]
		x := make([]int32, 64)
		for i := range x {
			x[i] = int32(b[1+i/4]>>(2*(i%4))&3) * int32(levels) / 4
		}
		if n%5 == 0 {
			s.Test, s.TestLabel = append(s.Test, x), append(s.TestLabel, int(b[0]))
		} else {
			s.Train, s.TrainLabel = append(s.Train, x), append(s.TrainLabel, int(b[0]))
		}
	}
	return s
}

// Shares are the frequencies of the levels of every pixel among images, each level counted once
// more than it occurs.
func Shares(x [][]int32, levels int) [][]float64 {
	out := make([][]float64, len(x[0]))
	for i := range out {
		out[i] = make([]float64, levels)
		for v := range out[i] {
			out[i][v] = 1 / float64(len(x)+levels)
		}
		for _, s := range x {
			out[i][s[i]] += 1 / float64(len(x)+levels)
		}
	}
	return out
}

// Random are n images of independent uniform pixels.
func Random(rng *rand.Rand, n, pixels, levels int) [][]int32 {
	return domain.Categories(pixels, levels).Randoms(rng, n)
}

// Independent are n images of independent pixels, each with its shares of the levels, as Shares
// gives them.
func Independent(rng *rand.Rand, n int, shares [][]float64) [][]int32 {
	x := make([][]int32, n)
	for k := range x {
		x[k] = make([]int32, len(shares))
		for i, share := range shares {
			u, v := rng.Float64(), 0
			for ; v < len(share)-1 && u >= share[v]; v++ {
				u -= share[v]
			}
			x[k][i] = int32(v)
		}
	}
	return x
}
