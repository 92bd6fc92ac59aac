package papers

import (
	"context"
	"fmt"
	"math"
	"sync"

	"infill/lab/internal/stable"
	"infill/lab/targets"
)

// maxSums bounds the sums of Marginals: 3^9 and some room.
const maxSums = 60_000

// Sums computes U for every value of the sums s_j = β_j + β_{d+j}, which is all that it depends on:
// 3^d values, s_j being digit j of the index in base 3. It costs two multiplications and an
// addition for each sum and observation, and few logarithms, since
//
//	Σ_n log(1 + exp(a_n)) = log Π_n (1 + Π_j exp(x_nj)^{s_j})
//
// and the inner product is a factor for the low digits times one for the high ones. Errors wrap
// targets.ErrTooLarge, from d = 11 on, or are ctx's.
func (t *Selection) Sums(ctx context.Context) ([]float64, error) {
	total := math.Pow(3, float64(t.D))
	if total > maxSums {
		return nil, fmt.Errorf("%w: 3^%d sums, at most %d", targets.ErrTooLarge, t.D, maxSums)
	}
	u := make([]float64, int(total))
	low := min(t.D, 5) // digits whose factors are a table that stays in the nearest cache
	block := powersOf3(low)
	const blocks = 9 // a goroutine's
	var all sync.WaitGroup
	for from := 0; from < len(u); from += blocks * block {
		all.Go(func() { t.sums(ctx, u[from:min(from+blocks*block, len(u))], from/block, low) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return u, nil
}

func powersOf3(n int) int {
	p := 1
	for range n {
		p *= 3
	}
	return p
}

// maxLog bounds the logarithm of a product that is kept as it is.
const maxLog = 600

// sums is U at the sums whose digits above the low ones are first, first + 1 and so on.
func (t *Selection) sums(ctx context.Context, u []float64, first, low int) {
	block := powersOf3(low)
	high := make([]float64, len(u)/block)
	table, e := make([]float64, block), make([]float64, t.D)
	slope := make([]float64, t.D) // Σ y_n x_n
	product := make([]float64, len(u))
	for i := range product {
		product[i] = 1
	}
	flush := func() {
		for i, p := range product {
			u[i] -= math.Log(p)
			product[i] = 1
		}
	}
	size := 0.0 // bounds the logarithms of the products
	for r, y := range t.Y {
		if r%1024 == 0 && ctx.Err() != nil {
			return
		}
		most := math.Ln2 // bounds log(1 + exp(a))
		for j, x := range t.row(r) {
			slope[j] += y * x
			e[j] = math.Exp(x)
			most += 2 * math.Max(x, 0)
		}
		if !(most < maxLog) {
			for i := range u {
				u[i] -= stable.Softplus(dotDigits(t.row(r), first*block+i))
			}
			continue
		}
		if size += most; size > maxLog {
			flush()
			size = most
		}
		table[0] = 1
		for j, stride := 0, 1; j < low; j, stride = j+1, 3*stride {
			for i := range table[:stride] {
				table[stride+i] = table[i] * e[j]
				table[2*stride+i] = table[stride+i] * e[j]
			}
		}
		for k := range high {
			high[k] = 1
			for j, rest := low, first+k; rest > 0; j, rest = j+1, rest/3 {
				for range rest % 3 {
					high[k] *= e[j]
				}
			}
		}
		for k, h := range high {
			part := product[k*block : (k+1)*block]
			for i, f := range table[:len(part)] {
				part[i] *= 1 + h*f
			}
		}
	}
	flush()
	for i := range u {
		u[i] += dotDigits(slope, first*block+i)
	}
}

// dotDigits is Σ_j x_j times digit j of s in base 3.
func dotDigits(x []float64, s int) float64 {
	sum := 0.0
	for j := 0; s > 0; j, s = j+1, s/3 {
		sum += x[j] * float64(s%3)
	}
	return sum
}

// Marginals computes P(β_i = 1) of all 2d coordinates from Sums. A sum s is made by Π C(2, s_j)
// states. Errors come from Sums.
func (t *Selection) Marginals(ctx context.Context) ([]float64, error) {
	sums, err := t.Sums(ctx)
	if err != nil {
		return nil, err
	}
	return t.MarginalsOf(sums), nil
}

// MarginalsOf is Marginals from what Sums gave.
func (t *Selection) MarginalsOf(sums []float64) []float64 {
	u := make([]float64, len(sums))
	for s := range u {
		u[s] = sums[s]
		for rest := s; rest > 0; rest /= 3 {
			if rest%3 == 1 {
				u[s] += math.Ln2
			}
		}
	}
	z, out := stable.LogSumExp(u), make([]float64, 2*t.D)
	for s, v := range u {
		p := math.Exp(v - z)
		for j, rest := 0, s; j < t.D; j, rest = j+1, rest/3 {
			out[j] += p * float64(rest%3) / 2
		}
	}
	copy(out[t.D:], out[:t.D])
	return out
}
