package onnxgrad

import (
	"fmt"
	"math"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

var attentions = table{
	"Attention":              {Least: 1, Run: scaledAttention},
	"RotaryEmbedding":        {Least: 1, Run: rotary},
	"SkipLayerNormalization": {Least: 3, Run: skipNorm(true)},
}

// scaledAttention is opset 23's Attention on [batch, heads, length, width], one query at a time, or
// the runtime's operation of the same name.
func scaledAttention(c *call) ([]*dense, error) {
	if c.Node.Domain != "" {
		return packedAttention(c)
	}
	q, k, v, mask := c.In[0], c.Arg(1), c.Arg(2), c.Arg(3)
	if k == nil || v == nil || len(c.In) > 4 || len(q.Shape) != 4 || len(k.Shape) != 4 ||
		len(v.Shape) != 4 ||
		c.Node.Int("is_causal", 0) != 0 || c.Node.Float("softcap", 0) != 0 {
		return nil, fmt.Errorf("%w: this form of attention", onnxeval.ErrOp)
	}
	batch, heads, n, d := q.Shape[0], q.Shape[1], q.Shape[2], q.Shape[3]
	m, w := k.Shape[2], v.Shape[3]
	if k.Shape[0] != batch || v.Shape[0] != batch || k.Shape[1] != heads || v.Shape[1] != heads ||
		k.Shape[3] != d || v.Shape[2] != m {
		return nil, fmt.Errorf("shapes %v, %v and %v", q.Shape, k.Shape, v.Shape)
	}
	alpha := float64(c.Node.Float("scale", 0))
	if alpha == 0 {
		alpha = 1 / math.Sqrt(float64(d))
	}
	full := []int{batch, heads, n, m}
	var st []int
	if mask != nil {
		if s, err := onnxeval.Broadcast(mask.Shape, full); err != nil ||
			onnxeval.Volume(s) != onnxeval.Volume(full) {
			return nil, fmt.Errorf("mask of shape %v for scores of %v", mask.Shape, full)
		}
		st = onnxeval.BroadcastStrides(mask.Shape, full)
	}
	out, err := onnxeval.Alloc(q.Type, []int{batch, heads, n, w})
	if err != nil {
		return nil, err
	}
	apart := func(t *dense, length, width int) rowsOf {
		return func(b, a, i int) []float64 { return t.F[((b*heads+a)*length+i)*width:][:width] }
	}
	attend(full, apart(q, n, d), apart(k, m, d), apart(v, m, w), apart(out, n, w),
		func(b, a, i, j int, dot float64) float64 {
			dot *= alpha
			if mask == nil {
				return dot
			}
			at := b*st[0] + a*st[1] + i*st[2] + j*st[3]
			switch {
			case mask.IsFloat():
				dot += mask.F[at]
			case mask.I[at] == 0:
				dot = -math.MaxFloat32
			}
			return dot
		})
	return []*dense{out}, nil
}

// rowsOf gives what a head has at a position of a text of the batch.
type rowsOf func(text, head, at int) []float64

// attend adds softmax(score(q·k))·v to out. size is the batch, the heads, the queries and the keys.
func attend(size []int, q, k, v, out rowsOf, score func(b, a, i, j int, dot float64) float64) {
	p := make([]float64, size[3])
	for b := range size[0] {
		for a := range size[1] {
			for i := range size[2] {
				top, sum := math.Inf(-1), 0.0
				query := q(b, a, i)
				for j := range p {
					dot := 0.0
					for e, x := range k(b, a, j) {
						dot += query[e] * x
					}
					p[j] = score(b, a, i, j, dot)
					top = max(top, p[j])
				}
				for j, s := range p {
					p[j] = math.Exp(s - top)
					sum += p[j]
				}
				to := out(b, a, i)
				for j, s := range p {
					for e, x := range v(b, a, j) {
						to[e] += s / sum * x
					}
				}
			}
		}
	}
}

// rotary is opset 23's RotaryEmbedding on [batch, heads, length, width] with given cosines and
// sines.
func rotary(c *call) ([]*dense, error) {
	x, cos, sin := c.In[0], c.Arg(1), c.Arg(2)
	if c.Node.Domain != "" || cos == nil || sin == nil || c.Arg(3) != nil || len(x.Shape) != 4 ||
		len(cos.Shape) != 3 ||
		c.Node.Int("interleaved", 0) != 0 || c.Node.Int("rotary_embedding_dim", 0) != 0 {
		return nil, fmt.Errorf("%w: this form of rotary embedding", onnxeval.ErrOp)
	}
	out, err := onnxeval.Alloc(x.Type, x.Shape)
	if err != nil {
		return nil, err
	}
	batch, heads, n, d := x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
	half := d / 2
	st := onnxeval.BroadcastStrides(cos.Shape, []int{batch, n, half})
	for b := range batch {
		for h := range heads {
			for i := range n {
				at := ((b*heads+h)*n + i) * d
				for e := range half {
					cs, sn := cos.F[b*st[0]+i*st[1]+e*st[2]], sin.F[b*st[0]+i*st[1]+e*st[2]]
					p, q := x.F[at+e], x.F[at+half+e]
					out.F[at+e], out.F[at+half+e] = p*cs-q*sn, p*sn+q*cs
				}
			}
		}
	}
	return []*dense{out}, nil
}

// skipNorm is the runtime's SkipLayerNormalization, or SkipSimplifiedLayerNormalization, which does
// not centre and has no β: the norm of a sum, which is the fourth output.
func skipNorm(centre bool) func(*call) ([]*dense, error) {
	return func(c *call) ([]*dense, error) {
		beta, bias := c.Arg(3), c.Arg(4)
		if !centre {
			beta, bias = nil, c.Arg(3)
		}
		x, err := sum(c.In[0], c.In[1], bias)
		if err != nil {
			return nil, err
		}
		y, err := normalised(c, centre, x, c.In[2], beta)
		return []*dense{y, nil, nil, x}, err
	}
}

// sum adds up tensors. Those that are nil are left out.
func sum(x *dense, others ...*dense) (_ *dense, err error) {
	for _, t := range others {
		if t == nil {
			continue
		}
		if x, err = apply("Add", x, t); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// apply computes the one output of an operator without attributes.
func apply(op string, in ...*dense) (*dense, error) {
	out, err := onnxeval.Node(&onnx.Node{Op: op}, in, 17, nil)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}
