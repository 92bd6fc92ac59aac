package onnxgrad

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/binary16"
	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// TestIntegersAgainstTorch: forward products in 8 bits give torch's log f to a few
// hundredths, and the second term within a third, for every fixture, and for one whose weights were all made by constant folding.
func TestIntegersAgainstTorch(t *testing.T) {
	t.Parallel()
	folded := named(t, "bert-eager-tied")
	folded.name, folded.model = "every matrix transposed", transposedWeights(t, folded.model)
	for _, f := range append(slices.Clone(fixtures(t)), folded) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			d, err := Derive(f.model, Options{Int8: true})
			if err != nil {
				t.Fatal(err)
			}
			s := open(t, d, ort.Config{})
			for i, c := range f.Calls {
				r := s.run(t, c, true, true)
				if off := relative(r.logProb, c["log_prob"].Data); !(off < 0.05) || off < 1e-6 {
					t.Errorf("call %d: log f is off by %.2g", i, off)
				}
				if c["blanks"].Shape[1] == 1 {
					continue
				}
				if off := relative(second(c, r.gradient, r.conditional)); !(off < 0.3) {
					t.Errorf("call %d: the second term is off by %.2g", i, off)
				}
			}
		})
	}
}

// TestBlocksAgainstFloat64: the runtime's product of rounded weights equals the one in float64 but
// for what the factors beside them are rounded by, a row alone is the same bits as among others,
// and weights that were whole numbers times a scale come out as they were stored.
func TestBlocksAgainstFloat64(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		depth      int
		transposed bool
		four       bool // whole numbers of 4 bits
	}{{192, true, true}, {192, true, false}, {100, true, true}, {64, false, false}, {24, false, true}} {
		const width, many = 40, 9
		values := make([]float32, width*c.depth)
		for i := range values {
			values[i] = float32(rng.NormFloat64() / 20)
			if c.four {
				scale := binary16.Widen(binary16.Round(.003 * float32(1+i%c.depth/int8Block)))
				values[i] = binary16.Widen(binary16.Round(scale * float32(rng.IntN(16)-8)))
			}
		}
		w := onnx.Floats("w", []int64{width, int64(c.depth)}, values...)
		if !c.transposed {
			w.Dims = []int64{int64(c.depth), width}
		}
		q, err := roundWeights(rounding{w, c.transposed, 1})
		if err != nil {
			t.Fatal(err)
		}
		attrs := []*onnx.Attribute{onnx.Attr("K", c.depth), onnx.Attr("N", width),
			onnx.Attr("bits", 8), onnx.Attr("block_size", int8Block), onnx.Attr("accuracy_level", 4)}
		n := &onnx.Node{Name: "product", Op: "MatMulNBits", Domain: onnx.Microsoft, Attrs: attrs,
			Inputs: []string{"x", "q", "s"}, Outputs: []string{"y"}}
		x := make([]float32, many*c.depth)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		got := product(t, n, q, x, many, width)
		if one := product(t, n, q, x[:2*c.depth], 2, width); !slices.Equal(one, got[:2*width]) {
			t.Errorf("%+v: other bits in other company", c)
		}
		wide := make([]float64, len(x))
		for i, v := range x {
			wide[i] = float64(v)
		}
		in := []*onnxeval.Tensor{{Type: onnx.Float, Shape: []int{many, c.depth}, F: wide}}
		for _, v := range q {
			e, err := onnxeval.FromONNX(v.tensor)
			if err != nil {
				t.Fatal(err)
			}
			in = append(in, e)
		}
		want, err := onnxeval.Node(n, in, 17)
		if err != nil {
			t.Fatal(err)
		}
		var off, of float64
		for i, v := range want[0].F {
			off, of = off+(float64(got[i])-v)*(float64(got[i])-v), of+v*v
			sum := 0.0
			for k := range c.depth {
				at := i%width*c.depth + k
				if !c.transposed {
					at = k*width + i%width
				}
				sum += wide[i/width*c.depth+k] * float64(values[at])
			}
			limit := 2e-2
			if c.four && c.transposed {
				limit = 2e-3 // what float16 rounds
			}
			if !(math.Abs(sum-v) < limit) {
				t.Errorf("%+v: %v with rounded weights, %v without", c, v, sum)
			}
		}
		if off = math.Sqrt(off / of); !(off > 1e-5 && off < 1e-2) {
			t.Errorf("%+v: products are off by %.2g", c, off)
		}
	}
}

// product runs n on some rows.
func product(t *testing.T, n *onnx.Node, q [2]*value, x []float32, rows, width int) []float32 {
	t.Helper()
	named := func(name string, v *value) *onnx.Tensor {
		w := *v.tensor
		w.Name = name
		return &w
	}
	g := &onnx.Graph{Name: "g", Nodes: []*onnx.Node{n}, Inputs: []*onnx.ValueInfo{
		floatInfo("x", "rows", "depth")}, Outputs: []*onnx.ValueInfo{floatInfo("y", "rows", "width")},
		Initializers: []*onnx.Tensor{named("q", q[0]), named("s", q[1])}}
	data, err := (&onnx.Model{IRVersion: 8, Graph: g,
		Opsets: map[string]int64{"": 17, onnx.Microsoft: 1}}).Marshal()

	if err != nil {
		t.Fatal(err)
	}
	s, err := ort.OpenBytes("product", data, []string{"x"}, []string{"y"}, ort.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is lost
	y := make([]float32, rows*width)
	in, err := ort.NewTensor([]int64{int64(rows), int64(len(x) / rows)}, x)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := ort.NewTensor([]int64{int64(rows), int64(width)}, y)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := s.Run(context.Background(), []*ort.Tensor{in}, []*ort.Tensor{out}); err != nil {
		t.Fatal(err)
	}
	return y
}

// transposedWeights stores the matrices that products read the other way round and turns them back
// in the graph, as exports without constant folding do.
func transposedWeights(t *testing.T, m *onnx.Model) *onnx.Model {
	t.Helper()
	out, g := *m, *m.Graph
	out.Graph, g.Nodes = &g, nil
	turned := map[string]bool{}
	for _, n := range m.Graph.Nodes {
		if n.Op == "MatMul" {
			turned[n.Inputs[1]] = true
		}
	}
	g.Initializers = nil
	for _, w := range m.Graph.Initializers {
		if !turned[w.Name] || len(w.Dims) != 2 {
			g.Initializers = append(g.Initializers, w)
			continue
		}
		v, err := w.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		rows, cols := int(w.Dims[0]), int(w.Dims[1])
		data := make([]float32, len(v))
		for r := range rows {
			for c := range cols {
				data[c*rows+r] = float32(v[r*cols+c])
			}
		}
		back := w.Name + "/turned"
		g.Initializers = append(g.Initializers,
			onnx.Floats(back, []int64{w.Dims[1], w.Dims[0]}, data...))
		g.Nodes = append(g.Nodes, &onnx.Node{Name: back, Op: "Transpose", Inputs: []string{back},
			Outputs: []string{w.Name},
			Attrs:   []*onnx.Attribute{onnx.Attr("perm", []int64{1, 0})}})
	}
	if len(g.Nodes) == 0 {
		t.Fatal("no matrix is read by a product")
	}
	g.Nodes = append(g.Nodes, m.Graph.Nodes...)
	return &out
}
