package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnxeval"
)

var products = table{
	"MatMul": {Least: 2, Run: func(c *call) ([]*dense, error) {
		return one(matmul(c.In[0], c.In[1], false, false,
			1))
	}},
	"FusedMatMul": {Least: 2, Run: func(c *call) ([]*dense, error) {
		if c.Node.Int("transBatchA", 0) != 0 || c.Node.Int("transBatchB", 0) != 0 {
			return nil, fmt.Errorf("batch transposition is not supported")
		}
		return one(matmul(c.In[0], c.In[1], c.Node.Int("transA", 0) != 0, c.Node.Int("transB", 0) != 0,
			float64(c.Node.Float("alpha", 1))))
	}},
	"MatMulNBits": {Least: 3, Run: blocksProduct},
	"Gemm": {Least: 2, Run: func(c *call) ([]*dense, error) {
		y, err := matmul(c.In[0], c.In[1], c.Node.Int("transA", 0) != 0, c.Node.Int("transB", 0) != 0,
			float64(c.Node.Float("alpha", 1)))
		bias := c.Arg(2)
		if err != nil || bias == nil {
			return one(y, err)
		}
		if beta := float64(c.Node.Float("beta", 1)); beta != 1 {
			bias = bias.With(bias.Shape)
			bias.F = append([]float64{}, bias.F...)
			for i := range bias.F {
				bias.F[i] *= beta
			}
		}
		return one(sum(y, bias))
	}},
}

// blocksProduct is com.microsoft's MatMulNBits, from its documentation (ContribOperators.md of ONNX
// Runtime), with nothing rounded. Inputs: x [..., K], numbers of 8 or 4 bits in bytes [N, blocks,
// bytes of a block], the lower half of a byte first, scales [N·blocks], zero points in the same
// form as the numbers, a row of blocks at a time, or else half of what fits; none, bias [N].
func blocksProduct(c *call) ([]*dense, error) {
	x, q, scale, zero := c.In[0], c.In[1], c.In[2], c.Arg(3)
	k, n := int(c.Node.Int("K", 0)), int(c.Node.Int("N", 0))
	bits, size := int(c.Node.Int("bits", 4)), int(c.Node.Int("block_size", 0))
	if bits != 8 && bits != 4 || k < 1 || n < 1 || size < 16 || c.Arg(4) != nil ||
		zero != nil && zero.IsFloat() {
		return nil, fmt.Errorf("%w: this form of blocks", onnxeval.ErrOp)
	}
	blocks, each := (k+size-1)/size, 8/bits
	packed := (blocks + each - 1) / each // zero points of a row
	if q.Len() != n*blocks*size/each || scale.Len() != n*blocks ||
		zero != nil && zero.Len() != n*packed {
		return nil, fmt.Errorf("%d numbers and %d scales for %d columns of %d blocks", q.Len(),
			scale.Len(), n, blocks)
	}
	number := func(t *dense, i int) float64 {
		return float64(t.I[i/each] >> (i % each * bits) & (1<<bits - 1))
	}
	w, err := onnxeval.Alloc(x.Type, []int{n, k})
	if err != nil {
		return nil, err
	}
	for i := range w.F {
		row, block := i/k, i%k/size
		from := float64(int(1) << (bits - 1))
		if zero != nil {
			from = number(zero, row*packed*each+block)
		}
		at := row*blocks + block
		w.F[i] = (number(q, at*size+i%k%size) - from) * scale.F[at]
	}
	y, err := matmul(x, w, false, true, 1)
	if err != nil {
		return nil, err
	}
	return one(sum(y, c.Arg(5)))
}

// matmul is numpy's matmul of a·α and b, either transposed in its last two axes first.
func matmul(a, b *dense, transA, transB bool, alpha float64) (*dense, error) {
	if !a.IsFloat() || !b.IsFloat() {
		return nil, fmt.Errorf("matrix product of %v and %v", a.Type, b.Type)
	}
	dropA, dropB := len(a.Shape) == 1, len(b.Shape) == 1
	if dropA {
		a = a.With([]int{1, a.Shape[0]})
	}
	if dropB {
		b = b.With([]int{b.Shape[0], 1})
	}
	if len(a.Shape) < 2 || len(b.Shape) < 2 {
		return nil, fmt.Errorf("matrix product of a scalar")
	}
	if transA {
		a = swapLast(a)
	}
	if transB {
		b = swapLast(b)
	}
	ra, rb := len(a.Shape), len(b.Shape)
	m, k, n := a.Shape[ra-2], a.Shape[ra-1], b.Shape[rb-1]
	if b.Shape[rb-2] != k {
		return nil, fmt.Errorf("matrix product of shapes %v and %v", a.Shape, b.Shape)
	}
	batch, err := onnxeval.Broadcast(a.Shape[:ra-2], b.Shape[:rb-2])
	if err != nil {
		return nil, err
	}
	out, err := onnxeval.Alloc(a.Type, append(append([]int{}, batch...), m, n))
	if err != nil {
		return nil, err
	}
	// one right side: all rows of a at once
	if onnxeval.Volume(b.Shape[:rb-2]) == 1 && onnxeval.Volume(batch) > 0 {
		gemm(out.F, a.F, b.F, onnxeval.Volume(batch)*m, k, n)
	} else {
		sa := onnxeval.BroadcastStrides(a.Shape[:ra-2], batch)
		sb := onnxeval.BroadcastStrides(b.Shape[:rb-2], batch)
		step := 1
		if len(batch) > 0 {
			step = batch[len(batch)-1]
		}
		onnxeval.Walk(batch, [][]int{sa, sb}, func(base []int, first int) {
			for j := range step {
				i := first + j
				la, lb := base[0]+j*sa[len(sa)-1], base[1]+j*sb[len(sb)-1]
				gemm(out.F[i*m*n:(i+1)*m*n], a.F[la*m*k:(la+1)*m*k], b.F[lb*k*n:(lb+1)*k*n], m, k,
					n)
			}
		})
	}
	if alpha != 1 {
		for i := range out.F {
			out.F[i] *= alpha
		}
	}
	shape := out.Shape
	if dropB {
		shape = shape[:len(shape)-1]
	}
	if dropA {
		shape = append(append([]int{}, shape[:len(batch)]...), shape[len(batch)+1:]...)
	}
	return out.With(shape), nil
}

func swapLast(t *dense) *dense {
	r := len(t.Shape)
	shape, st := slices.Clone(t.Shape), onnxeval.Strides(t.Shape)
	shape[r-2], shape[r-1] = shape[r-1], shape[r-2]
	st[r-2], st[r-1] = st[r-1], st[r-2]
	return onnxeval.Viewed(t, shape, st, 0)
}

// gemm adds a·b to c for row-major a [m,k], b [k,n], c [m,n]. Four rows of a share each pass over a
// block of b that stays in cache.
func gemm(c, a, b []float64, m, k, n int) {
	const blockK, blockN = 128, 512
	for k0 := 0; k0 < k; k0 += blockK {
		k1 := min(k0+blockK, k)
		for n0 := 0; n0 < n; n0 += blockN {
			n1 := min(n0+blockN, n)
			i := 0
			for ; i+4 <= m; i += 4 {
				c0, c1, c2, c3 := c[i*n+n0:i*n+n1], c[(i+1)*n+n0:(i+1)*n+n1],
					c[(i+2)*n+n0:(i+2)*n+n1], c[(i+3)*n+n0:(i+3)*n+n1]
				for p := k0; p < k1; p++ {
					w := b[p*n+n0 : p*n+n1]
					a0, a1, a2, a3 := a[i*k+p], a[(i+1)*k+p], a[(i+2)*k+p], a[(i+3)*k+p]
					c0, c1, c2, c3 := c0[:len(w)], c1[:len(w)], c2[:len(w)], c3[:len(w)]
					for j, v := range w {
						c0[j] += a0 * v
						c1[j] += a1 * v
						c2[j] += a2 * v
						c3[j] += a3 * v
					}
				}
			}
			for ; i < m; i++ {
				c0 := c[i*n+n0 : i*n+n1]
				for p := k0; p < k1; p++ {
					w := b[p*n+n0 : p*n+n1]
					a0 := a[i*k+p]
					for j, v := range w {
						c0[j] += a0 * v
					}
				}
			}
		}
	}
}
