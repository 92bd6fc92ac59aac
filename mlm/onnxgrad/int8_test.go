package onnxgrad

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/mlm/onnx"
)

// integerTests are all fixtures, and one whose matrices are stored the other way round.
func integerTests(t *testing.T) []fixture {
	folded := named(t, "bert-eager-tied")
	folded.name, folded.model = "every matrix transposed", transposedWeights(t, folded.model)
	return append(fixtures(t), folded)
}

// all runs a derived graph on calls and gives their outputs.
func (d *Derived) all(t *testing.T, calls []map[string]array) (out [][][]float32) {
	t.Helper()
	orttest.Load(t)
	data, err := d.Model.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	s, err := ort.OpenBytes("derived", data, d.Inputs, d.Outputs, ort.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is lost
	for _, c := range calls {
		results := make([]*ort.Tensor, len(d.Outputs))
		in := (&session{s, d.Inputs, d}).feed(t, c, true, false)
		if err := s.Run(context.Background(), in, results); err != nil {
			t.Fatal(err)
		}
		var of [][]float32
		for i, x := range results {
			v, ok := x.Floats()
			if !ok {
				t.Fatalf("output %d is not float32", i)
			}
			of = append(of, slices.Clone(v))
			x.Close()
		}
		for _, x := range in {
			x.Close()
		}
		out = append(out, of)
	}
	return out
}

// atBlanks is log softmax of logits at the position of each row.
func atBlanks(c map[string]array, logits []float32) (out []float64) {
	positions := c["positions"].ints()
	v := len(logits) / len(c["input_ids"].Data)
	for r, p := range positions {
		row := logits[(r*c["input_ids"].Shape[1]+int(p))*v:][:v]
		sum := 0.0
		for _, x := range row {
			sum += math.Exp(float64(x - slices.Max(row)))
		}
		for _, x := range row {
			out = append(out, float64(x-slices.Max(row))-math.Log(sum))
		}
	}
	return out
}

// TestIntegersAgainstTorch: the graph of a whole file gives torch's numbers at the blanks. Products
// in 8 bits give them to a few hundredths, in the whole graph the same as in the one that looks at
// blanks only, whatever columns stay in float32.
func TestIntegersAgainstTorch(t *testing.T) {
	t.Parallel()
	for _, f := range integerTests(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			calls := f.Calls[:min(2, len(f.Calls))]
			derived := func(o Options) *Derived {
				d, err := Derive(f.model, o)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			whole := derived(Options{Whole: true})
			if len(whole.Watched) == 0 || len(whole.Outputs) != 1+len(whole.Watched) {
				t.Fatalf("%d joints, outputs %v", len(whole.Watched), whole.Outputs)
			}
			seen := whole.all(t, calls)
			columns := map[int][]int{}
			for k, numbers := range whole.Watched {
				for _, n := range numbers {
					columns[n] = largestTwo(seen[0][1+k])
				}
			}
			some := Options{Int8: true, Exact: make([][]int, len(columns))}
			for k, list := range columns {
				some.Exact[k] = list
			}
			of, all := derived(Options{Int8: true}).all(t, calls), some
			all.Whole = true
			of2, ofAll := derived(some).all(t, calls), derived(all).all(t, calls)
			for i, c := range calls {
				want := c["conditional"].Data
				if off := relative(atBlanks(c, seen[i][0]), want); !(off < f.tolerance(1e-5)) {
					t.Errorf("call %d: the whole graph is off by %.2g", i, off)
				}
				for _, got := range [][]float32{of[i][1], of2[i][1]} {
					if off := relative(got, want); !(off < 0.1) || off < 1e-6 {
						t.Errorf("call %d: log f is off by %.2g", i, off)
					}
				}
				// The last bits differ, and so do a few whole numbers that lie between two.
				if off := relative(atBlanks(c, ofAll[i][0]), wide(of2[i][1])); !(off < 3e-3) {
					t.Errorf("call %d: the whole graph is off by %.2g in 8 bits", i, off)
				}
			}
		})
	}
}

// largestTwo are the places of the two largest numbers.
func largestTwo(x []float32) []int {
	first := slices.Index(x, slices.Max(x))
	rest := slices.Clone(x)
	rest[first] = -1
	return []int{first, slices.Index(rest, slices.Max(rest))}
}

// TestRoundedAgainstFormula: products are what the formula of integers gives, computed here term by
// term; weights are rounded to the nearest; a row alone is the same bits as among others.
func TestRoundedAgainstFormula(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		depth  int
		turned bool
		alpha  float64
		exact  []int
	}{{192, true, 1, []int{7, 100}}, {100, true, -.5, nil}, {64, false, 1, []int{0}},
		{24, false, 2, nil}} {
		const many, first = 9, 30
		widths := []int{first, 10}
		x := &value{name: "x", typ: onnx.Float, shape: dims{{77, c.depth}, {55, c.depth}}}
		b := newBuilder(17)
		j := &joint{x: x, numbers: []int{0, 1}, exact: c.exact}
		values := [2][]float32{}
		for i, width := range widths {
			values[i] = make([]float32, c.depth*width)
			for k := range values[i] {
				values[i][k] = float32(rng.NormFloat64() / 20)
			}
			shape := []int64{int64(c.depth), int64(width)}
			if c.turned {
				slices.Reverse(shape)
			}
			w, err := stored(onnx.Floats(fmt.Sprint("w", i), shape, values[i]...))
			if err != nil {
				t.Fatal(err)
			}
			b.matmul(x, w, false, c.turned, c.alpha)
			j.products = append(j.products, b.nodes[i])
		}
		out := newBuilder(17)
		(&derivation{}).rounded(out, j)
		if out.err != nil {
			t.Fatal(out.err)
		}
		in := make([]float32, many*c.depth)
		for i := range in {
			in[i] = float32(rng.NormFloat64())
			if slices.Contains(c.exact, i%c.depth) {
				in[i] *= 200
			}
		}
		got := [][]float32{}
		for _, rows := range []int{many, 1} {
			list := runJoint(t, out, j, in[:rows*c.depth], rows)
			got = append(got, list...)
		}
		for i, width := range widths {
			if !slices.Equal(got[i][:width], got[2+i]) {
				t.Errorf("%+v: other bits in other company", c)
			}
			at := func(k, column int) float64 {
				if c.turned {
					return c.alpha * float64(values[i][column*c.depth+k])
				}
				return c.alpha * float64(values[i][k*width+column])
			}
			for r := range many {
				row := in[r*c.depth:][:c.depth]
				for column := range width {
					w := func(k int) float64 { return at(k, column) }
					want, plain := formula(row, w, c.exact)
					if y := float64(got[i][r*width+column]); !(math.Abs(y-want) < 2e-4) {
						t.Errorf("%+v: %v, the formula gives %v", c, y, want)
					} else if !(math.Abs(y-plain) < .1) {
						t.Errorf("%+v: %v, without rounding %v", c, y, plain)
					}
				}
			}
		}
	}
}

// formula is what integers says of a row times a column, and their product. What decides between two
// whole numbers is computed in float32.
func formula(x []float32, w func(k int) float64, exact []int) (want, plain float64) {
	top, least, most := 0.0, float32(0), float32(0)
	for k, v := range x {
		plain += float64(v) * w(k)
		if !slices.Contains(exact, k) {
			top = max(top, math.Abs(w(k)))
		} else {
			v = 0
		}
		if k == 0 {
			least, most = v, v
		}
		least, most = min(least, v), max(most, v)
	}
	scale, step := (most-least)/255, 255/(most-least)
	zero := math.RoundToEven(float64(least * step))
	sum := 0.0
	for k, v := range x {
		if slices.Contains(exact, k) {
			want += float64(v) * w(k)
			continue
		}
		scaled := v * step
		q := math.RoundToEven(float64(scaled - float32(zero)))
		sum += (q + zero) * math.RoundToEven(w(k)/(top/64))
	}
	return want + float64(scale)*sum*top/64, plain
}

// runJoint runs the products of a joint on some rows.
func runJoint(t *testing.T, b *builder, j *joint, x []float32, rows int) (got [][]float32) {
	t.Helper()
	e := &emitter{names: map[*value]string{j.x: "x"}, used: map[string]bool{"x": true},
		sizes: map[string]string{}, graph: &onnx.Graph{Name: "joint"}}
	e.input("x", onnx.Float, "rows", "depth")
	var names []string
	e.graph.Nodes = e.nodes(b.nodes)
	uniqueNames(e.graph, map[string]bool{})
	for _, n := range j.products {
		names = append(names, e.name(n.out[0]))
		e.graph.Outputs = append(e.graph.Outputs, floatInfo(e.name(n.out[0]), "rows", "width"))
	}
	e.graph.Initializers = e.weights
	data, err := (&onnx.Model{IRVersion: 8, Graph: e.graph,
		Opsets: map[string]int64{"": 17, onnx.Microsoft: 1}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	s, err := ort.OpenBytes("products", data, []string{"x"}, names, ort.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is lost
	in := tensor(t, []int64{int64(rows), int64(len(x) / rows)}, x)
	defer in.Close()
	out := make([]*ort.Tensor, len(names))
	if err := s.Run(context.Background(), []*ort.Tensor{in}, out); err != nil {
		t.Fatal(err)
	}
	for _, y := range out {
		v, _ := y.Floats()
		got = append(got, slices.Clone(v))
		y.Close()
	}
	return got
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
