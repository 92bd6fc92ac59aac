package onnxgrad

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// made gives a value of random contents: an input if name is set, else a weight.
func made(t *testing.T, r *rand.Rand, name string, shape ...int) *value {
	t.Helper()
	data, dims := make([]float32, volume(shape)), make([]int64, len(shape))
	for i := range data {
		data[i] = float32(r.NormFloat64())
	}
	for i, d := range shape {
		dims[i] = int64(d)
	}
	v, err := stored(onnx.Floats(name, dims, data...))
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		v.fixed, v.tensor = false, nil
	}
	return v
}

// evaluate computes a value by the reference, node by node.
func evaluate(t *testing.T, nodes []*node, want *value, inputs ...*value) []float64 {
	t.Helper()
	at := map[*value]*onnxeval.Tensor{}
	for _, v := range inputs {
		at[v] = v.known[0]
	}
	for _, n := range nodes {
		in := make([]*onnxeval.Tensor, len(n.in))
		for i, v := range n.in {
			if in[i] = at[v]; in[i] == nil {
				in[i] = v.known[0]
			}
			if in[i] == nil {
				t.Fatalf("%v reads what has not been computed", n)
			}
		}
		if n.op == "Reshape" {
			c := *in[0]
			c.Shape = n.out[0].shape[0]
			at[n.out[0]] = &c
			continue
		}
		p := n.proto()
		if n.op == "MatMul" {
			p = fusedProto(n)
		}
		p.Outputs = make([]string, len(n.out))
		out, err := evaluated(p, in, 17)
		if err != nil {
			t.Fatalf("%v: %v", n, err)
		}
		at[n.out[0]] = out[0]
	}
	return at[want].F
}

// hidden forgets the contents of inputs, so that nothing is worked out ahead of its time, and gives
// back a function that restores them.
func hidden(inputs ...*value) func() {
	known := make([][probes]*onnxeval.Tensor, len(inputs))
	for i, v := range inputs {
		known[i], v.known = v.known, [probes]*onnxeval.Tensor{}
	}
	return func() {
		for i, v := range inputs {
			v.known = known[i]
		}
	}
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b,
		func(x, y float64) bool { return math.Abs(x-y) < 1e-5*(1+math.Abs(x)) }) && len(a) > 0
}

// attention is one layer's, with a choice of peculiarities.
type attention struct {
	queries              int
	turned, bias         bool // weights stored transposed; keys and values with a bias
	where, nan           bool // hidden by a choice instead of a sum; NaN replaced
	squashed, unweighted bool // scores and weights not by way of a softmax
	readTwice            bool
}

// TestOneQueryOnLayers: what is rewritten computes the same, and what must stay does.
func TestOneQueryOnLayers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attention
		left int // products with weights of all positions
	}{
		{attention{queries: 1}, 0},
		{attention{queries: 1, bias: true}, 0},
		{attention{queries: 1, bias: true, turned: true}, 0},
		{attention{queries: 1, bias: true, where: true, nan: true}, 0},
		{attention{queries: 2, bias: true}, 2},
		{attention{queries: 1, readTwice: true}, 1},
		{attention{queries: 1, squashed: true}, 0},
		{attention{queries: 1, squashed: true, bias: true}, 1},
		{attention{queries: 1, unweighted: true}, 0},
		{attention{queries: 1, unweighted: true, bias: true}, 2},
	} {
		t.Run(fmt.Sprintf("%+v", c.attention), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			x, q, mask := made(t, r, "x", 3, 5, 6), made(t, r, "q", 3, 2, c.queries, 4),
				made(t, r, "mask", 3, 1, 1, 5)
			restore := hidden(x, q, mask)
			b := newBuilder(17)
			project := func() *value {
				var y *value
				if c.turned {
					y = b.matmul(x, made(t, r, "", 8, 6), false, true, 0.5)
				} else {
					y = b.matmul(x, made(t, r, "", 6, 8), false, false, 0.5)
				}
				if c.bias {
					y = b.op("Add", made(t, r, "", 8), y)
				}
				return b.transpose(b.reshape(y, shapeOf(3, 5, 2, 4)), []int64{0, 2, 1, 3})
			}
			k, v := project(), project()
			s := b.matmul(q, k, false, true, 0.7)
			if c.where {
				s = b.op("Where", b.op("Greater", mask, b.scalar(0)), s, b.scalar(-1e30))
			} else {
				s = b.op("Add", s, mask)
			}
			if c.squashed {
				s = b.op("Tanh", s)
			}
			p := b.with("Softmax", "axis", 3, s)
			switch {
			case c.unweighted:
				p = b.op("Sigmoid", s)
			case c.nan:
				p = b.op("Where", b.op("IsNaN", p), b.scalar(0), p)
			}
			y := b.matmul(p, v, false, false, 1)
			if c.readTwice {
				y = b.op("Add", y, b.reduce("ReduceSum", k, 2))
			}
			if b.err != nil {
				t.Fatal(b.err)
			}
			after := live(oneQuery(b, live(b.nodes, y)), y)
			if b.err != nil {
				t.Fatal(b.err)
			}
			restore()
			// The rewritten nodes give the outputs of those that they replace, so the old ones are
			// made anew.
			got := evaluate(t, after, y, x, q, mask)
			want := evaluate(t, live(b.nodes, y), y, x, q, mask)
			if !same(got, want) {
				t.Errorf("%v\nwithout rewriting %v", got, want)
			}
			left := 0
			for _, n := range after {
				if n.op == "MatMul" && n.in[0] == x && n.in[1].fixed {
					left++
				}
			}
			if left != c.left {
				t.Errorf("%d products of all positions with weights are left, not %d", left, c.left)
			}
		})
	}
}

// TestOneQueryOnModels: in the last layer of what exporters write of BERT and its like, neither
// keys nor values are computed at all positions. That results stay the same is for the comparison
// with torch.
func TestOneQueryOnModels(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures(t) {
		want := 2
		switch {
		case strings.HasPrefix(f.name, "deberta"), strings.HasPrefix(f.name, "modernbert"):
			want = 0 // keys are read twice, or turned by their positions
		case f.name == "bert-ort-mha", strings.HasPrefix(f.name, "eurobert"):
			want = 1 // the shape of the keys is read; the keys are turned by their positions
		case strings.HasPrefix(f.name, "neobert"):
			want = 0 // queries, keys and values are one product
		case strings.HasSuffix(f.name, "ort-transformers"), f.name == "bert-ort-fastgelu",
			f.name == "bert-ort-float16", f.name == "bert-ort-rawmask":
			want = 0 // queries, keys and values are one product
		}
		l, err := load(f.model, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.fuse(), l.tidyProducts()); err != nil {
			t.Fatal(err)
		}
		b := newBuilder(l.opset)
		b.consts = l.consts
		g := &gatherer{builder: b, index: b.reshape(&value{name: inPositions, typ: onnx.Int64,
			shape: rows()}, rows(1))}
		logits := g.run(l.nodes, place{l.logits, 1})
		before := live(b.nodes, logits)
		after := live(oneQuery(b, before), logits)
		if b.err != nil {
			t.Fatal(b.err)
		}
		count := func(nodes []*node) (n int) {
			for _, m := range nodes {
				s := m.out[0].shape
				if m.op == "MatMul" && m.in[1].fixed && !m.in[0].fixed &&
					volume(s[0]) == probeRows[0]*probeLength[0]*s[0][s.rank()-1] {
					n++
				}
			}
			return n
		}
		if got := count(before) - count(after); got != want {
			t.Errorf("%s: %d products of all positions fewer, not %d", f.name, got, want)
		}
	}
}
