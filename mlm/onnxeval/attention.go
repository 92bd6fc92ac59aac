package onnxeval

import (
	"fmt"
	"math"
)

var attention = map[string]kernel{
	"Attention":              {1, scaledAttention},
	"RotaryEmbedding":        {1, rotary},
	"SkipLayerNormalization": {3, skipNorm},
}

// scaledAttention is opset 23's Attention on [batch, heads, length, width], one query at a time, or
// the runtime's operation of the same name.
func scaledAttention(c *call) ([]*Tensor, error) {
	if c.n.Domain != "" {
		return packedAttention(c)
	}
	q, k, v, mask := c.in[0], c.arg(1), c.arg(2), c.arg(3)
	if k == nil || v == nil || len(c.in) > 4 || len(q.Shape) != 4 || len(k.Shape) != 4 ||
		len(v.Shape) != 4 ||
		c.n.Int("is_causal", 0) != 0 || c.n.Float("softcap", 0) != 0 {
		return nil, fmt.Errorf("%w: this form of attention", ErrOp)
	}
	batch, heads, n, d := q.Shape[0], q.Shape[1], q.Shape[2], q.Shape[3]
	m, w := k.Shape[2], v.Shape[3]
	if k.Shape[0] != batch || v.Shape[0] != batch || k.Shape[1] != heads || v.Shape[1] != heads ||
		k.Shape[3] != d || v.Shape[2] != m {
		return nil, fmt.Errorf("shapes %v, %v and %v", q.Shape, k.Shape, v.Shape)
	}
	alpha := float64(c.n.Float("scale", 0))
	if alpha == 0 {
		alpha = 1 / math.Sqrt(float64(d))
	}
	full := []int{batch, heads, n, m}
	var st []int
	if mask != nil {
		if s, err := broadcastShape(mask.Shape, full); err != nil || volume(s) != volume(full) {
			return nil, fmt.Errorf("mask of shape %v for scores of %v", mask.Shape, full)
		}
		st = broadcastStrides(mask.Shape, full)
	}
	out, err := alloc(q.Type, []int{batch, heads, n, w})
	if err != nil {
		return nil, err
	}
	score := make([]float64, m)
	for bh := range batch * heads {
		for i := range n {
			top, sum := math.Inf(-1), 0.0
			for j := range m {
				s := 0.0
				for e := range d {
					s += q.F[(bh*n+i)*d+e] * k.F[(bh*m+j)*d+e]
				}
				s *= alpha
				if mask != nil {
					at := bh/heads*st[0] + bh%heads*st[1] + i*st[2] + j*st[3]
					switch {
					case mask.float():
						s += mask.F[at]
					case mask.I[at] == 0:
						s = -math.MaxFloat32
					}
				}
				score[j] = s
				top = max(top, s)
			}
			for j, s := range score {
				score[j] = math.Exp(s - top)
				sum += score[j]
			}
			to := out.F[(bh*n+i)*w : (bh*n+i+1)*w]
			for j, s := range score {
				for e := range to {
					to[e] += s / sum * v.F[(bh*m+j)*w+e]
				}
			}
		}
	}
	return []*Tensor{out}, nil
}

// rotary is opset 23's RotaryEmbedding on [batch, heads, length, width] with given cosines and
// sines.
func rotary(c *call) ([]*Tensor, error) {
	x, cos, sin := c.in[0], c.arg(1), c.arg(2)
	if c.n.Domain != "" || cos == nil || sin == nil || c.arg(3) != nil || len(x.Shape) != 4 ||
		len(cos.Shape) != 3 ||
		c.n.Int("interleaved", 0) != 0 || c.n.Int("rotary_embedding_dim", 0) != 0 {
		return nil, fmt.Errorf("%w: this form of rotary embedding", ErrOp)
	}
	out, err := alloc(x.Type, x.Shape)
	if err != nil {
		return nil, err
	}
	batch, heads, n, d := x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
	half := d / 2
	st := broadcastStrides(cos.Shape, []int{batch, n, half})
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
	return []*Tensor{out}, nil
}

// skipNorm is the runtime's SkipLayerNormalization: layer normalisation of a sum, which is the
// fourth output.
func skipNorm(c *call) ([]*Tensor, error) {
	x, skip, gamma, beta, bias := c.in[0], c.in[1], c.in[2], c.arg(3), c.arg(4)
	for _, t := range []*Tensor{skip, bias} {
		if t == nil {
			continue
		}
		s, err := add(&call{c.n, []*Tensor{x, t}, c.opset})
		if err != nil {
			return nil, err
		}
		x = s[0]
	}
	y, err := normalised(c, true, x, gamma, beta)
	return []*Tensor{y, nil, nil, x}, err
}
