package onnxgrad

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"infill/internal/ort"
	"infill/internal/testmode"
	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

func unshared(t testing.TB, m *onnx.Model) *Derived {
	t.Helper()
	d, err := Derive(m, Options{Unshared: true})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(d.Inputs, inFirst) || slices.Contains(d.Inputs, inNumbers) {
		t.Fatalf("inputs %v of a graph that shares nothing", d.Inputs)
	}
	return d
}

func (r result) same(o result) bool {
	return slices.Equal(r.logProb, o.logProb) && slices.Equal(r.conditional, o.conditional) &&
		slices.Equal(r.gradient, o.gradient)
}

// TestSharedAsUnshared: every architecture shares, and gets the same bits as without; padded rows,
// segments and several sentences in a call among them.
func TestSharedAsUnshared(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, f fixture) {
		if strings.Contains(f.name, "-o") { // other opsets and exporters of the same models
			testmode.Long(t)
		}
		d := derive(t, f.model)
		if !slices.Contains(d.Inputs, inFirst) || !slices.Contains(d.Inputs, inNumbers) {
			t.Errorf("%s: nothing is shared", f.name)
			return
		}
		counts := strings.HasPrefix(f.name, "roberta") && f.name != "roberta-positions" ||
			strings.HasPrefix(f.name, "mpnet")
		if counts != (len(d.Counted) == 1) || counts && d.Counted[0] != 1 {
			t.Errorf("%s: positions are counted by the tokens %v", f.name, d.Counted)
		}
		s, u := f.open(t), open(t, unshared(t, f.model), ort.Config{})
		for i, c := range f.Calls {
			if got, want := s.run(t, c, true, true), u.run(t, c, true, true); !got.same(want) {
				t.Errorf("%s, call %d: other bits; log f is off by %.2g, the gradient by %.2g",
					f.name, i,
					relative(got.logProb, wide(want.logProb)), relative(got.gradient,
						wide(want.gradient)))
			}
			if got, want := s.run(t, c, false, false), u.run(t, c, false, false); !got.same(want) {
				t.Errorf("%s, call %d: energies have other bits", f.name, i)
			}
		}
	})
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// TestSharedInFewRows: products with as few rows as there can be give the same bits.
func TestSharedInFewRows(t *testing.T) {
	t.Parallel()
	f := named(t, "bert-sdpa-tied")
	s, u := f.open(t), open(t, unshared(t, f.model), ort.Config{})
	d := s.derived
	for _, m := range []int{1, 2, 3} {
		for length := m + 2; length < 16; length++ {
			for chains := 1; chains < 4; chains++ {
				c := smallCall(chains, m, length, d.Vocabulary)
				if got, want := s.run(t, c, true, true), u.run(t, c, true, true); !got.same(want) {
					t.Errorf("%d chains of %d blanks, length %d: other bits", chains, m, length)
				}
			}
		}
	}
}

// smallCall is benchCall for small vocabularies; at least two rows, as the product sees to.
func smallCall(chains, m, length, vocabulary int) map[string]array {
	if chains*m < 2 {
		chains = 2
	}
	c := benchCall(chains, m, length, vocabulary+100)
	for i, v := range c["input_ids"].Data {
		if v >= 100 {
			c["input_ids"].Data[i] = 5 + float64(int(v)%(vocabulary-5))
		}
	}
	for i := range c["targets"].Data {
		c["targets"].Data[i] = 5 + float64(i)
	}
	return c
}

// TestSharedOnce: what is shared is computed from the first of the positions that are alike and
// from nothing else, for as many as there are distinct ones.
func TestSharedOnce(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures(t) {
		if f.name != "bert-sdpa-tied" {
			continue
		}
		d := derive(t, f.model)
		c := withAlike(d, f.Calls[2])
		names := []string{}
		for _, n := range d.Model.Graph.Nodes {
			if n.Op == "Gather" && n.Inputs[0] == d.Embedding || n.Op == "Gemm" {
				names = append(names, n.Outputs[0])
			}
		}
		e, err := newEvaluator(d.Model)
		if err != nil {
			t.Fatal(err)
		}
		no := &onnxeval.Tensor{Type: onnx.Bool, Shape: []int{}, I: []int64{0}}
		in := map[string]*onnxeval.Tensor{inConditional: no, inGradient: no}
		for _, name := range d.Inputs {
			if a, ok := c[name]; ok {
				in[name] = onnxeval.NewInt(a.Shape, a.ints())
			}
		}
		out, err := e.Run(in, names...)
		if err != nil {
			t.Fatal(err)
		}
		distinct, all := len(c[inFirst].Data), len(c[inNumbers].Data)
		if distinct > all/2 {
			t.Fatalf("%d of %d positions are distinct: the test shows nothing", distinct, all)
		}
		few := 0
		for _, x := range out {
			if n := x.Len() / x.Shape[len(x.Shape)-1]; n == distinct {
				few++
			}
		}
		if few != 4 { // the lookup of words, queries, keys, values
			t.Errorf("%d of %d lookups and products are for %d distinct positions, want 4", few,
				len(out), distinct)
		}

		s := open(t, d, ort.Config{})
		want := s.run(t, c, true, true)
		other := maps.Clone(c)
		ids := array{Shape: c["input_ids"].Shape, Data: slices.Clone(c["input_ids"].Data)}
		for i := range ids.Data {
			if !slices.Contains(c[inFirst].Data, float64(i)) {
				ids.Data[i] = 7
			}
		}
		other["input_ids"] = ids
		if !s.run(t, other, true, true).same(want) {
			t.Error("tokens at positions that are like an earlier one are read")
		}
	}
}

// TestCountedTokens: a model that counts tokens to number positions gets the same with its padding
// token in the middle of a row, where nothing can be shared, as without sharing.
func TestCountedTokens(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures(t) {
		if f.name != "roberta-sdpa" && f.name != "mpnet" {
			continue
		}
		d := derive(t, f.model)
		s, u := open(t, d, ort.Config{}), open(t, unshared(t, f.model), ort.Config{})
		c := maps.Clone(f.Calls[2])
		length := c["input_ids"].Shape[1]
		ids := array{Shape: c["input_ids"].Shape, Data: slices.Clone(c["input_ids"].Data)}
		ids.Data[length+2] = 1
		c["input_ids"] = ids
		if a := withAlike(d, c); len(a[inFirst].Data) != len(ids.Data) {
			t.Errorf("%s: %d of %d positions are distinct", f.name, len(a[inFirst].Data),
				len(ids.Data))
		}
		want := u.run(t, c, true, true)
		if !s.run(t, c, true, true).same(want) {
			t.Errorf("%s: other bits", f.name)
		}
		ids.Data[length+2] = 9
		if u.run(t, c, true, true).same(want) {
			t.Errorf("%s: the padding token makes no difference: the test shows nothing", f.name)
		}
	}
}

func TestAlike(t *testing.T) {
	t.Parallel()
	var a alike
	check := func(what string, first, numbers []int64) {
		t.Helper()
		if !slices.Equal(a.First, first) || !slices.Equal(a.Numbers, numbers) {
			t.Errorf("%s: first %v, numbers %v, want %v and %v", what, a.First, a.Numbers, first,
				numbers)
		}
	}
	ids := []int64{2, 4, 8, 3, 2, 7, 4, 3, 2, 4, 8, 3}
	a.Find(4, nil, ids)
	check("three rows", []int64{0, 1, 2, 3, 5, 6}, []int64{0, 1, 2, 3, 0, 4, 5, 3, 0, 1, 2, 3})
	a.Find(4, nil, ids, []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1})
	check("segments", []int64{0, 1, 2, 3, 5, 6, 10, 11},
		[]int64{0, 1, 2, 3, 0, 4, 5, 3, 0, 1, 6, 7})
	a.Find(2, []int64{9, 3}, []int64{2, 3, 2, 3})
	check("a counted token", []int64{0, 1, 2, 3}, []int64{0, 1, 2, 3})
	a.Find(2, []int64{9}, []int64{2, 3, 2, 3})
	check("no counted token", []int64{0, 1}, []int64{0, 1, 0, 1})
	a.Find(1, nil, []int64{5, 5, 5})
	check("all the same", []int64{0, 0}, []int64{0, 0, 0})
	a.Find(2, nil, []int64{5, 5})
	check("the same token at two places", []int64{0, 1}, []int64{0, 1})
	a.Find(4, nil, nil)
	check("nothing", []int64{}, []int64{})
}

// TestAlikeByComparison: positions have the same number exactly if they are alike, First is the
// first of each, and once there is memory none is asked for.
func TestAlikeByComparison(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var a alike
	for range 200 {
		length, rows := 1+r.IntN(9), 1+r.IntN(9)
		ids, types := make([]int64, rows*length), make([]int64, rows*length)
		for i := range ids {
			ids[i], types[i] = int64(r.IntN(3)), int64(r.IntN(2))
		}
		others := [][]int64{types}[:r.IntN(2)]
		a.Find(length, nil, ids, others...)
		for i := range ids {
			first := slices.IndexFunc(count(len(ids)), func(j int64) bool {
				return ids[i] == ids[j] && i%length == int(j)%length &&
					(len(others) == 0 || types[i] == types[j])
			})
			if a.First[a.Numbers[i]] != int64(first) {
				t.Fatalf("length %d, %v, %v: position %d is like %d, not like %d", length, ids,
					others, i, first, a.First[a.Numbers[i]])
			}
		}
		if !slices.IsSorted(a.First) {
			t.Fatalf("first %v", a.First)
		}
		if n := testing.AllocsPerRun(5, func() { a.Find(length, nil, ids, others...) }); n > 0 {
			t.Fatalf("%v allocations", n)
		}
	}
}

func BenchmarkAlike(b *testing.B) {
	c := benchCall(9, 4, 25, 16384)
	ids := c["input_ids"].ints()
	var a alike
	for b.Loop() {
		a.Find(25, nil, ids)
	}
}

// TestSharedInMutatedGraphs: models that compute something else, because nodes have other
// operations or read other values, give the same with sharing as without, whatever of them can
// still be shared.
func TestSharedInMutatedGraphs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 2))
	names := []string{"bert-sdpa-tied", "roberta-sdpa", "deberta-v2", "modernbert-eager"}
	list := slices.DeleteFunc(fixtures(t), func(f fixture) bool {
		return !slices.Contains(names,
			f.name)
	})
	elementwise := []string{"Add", "Mul", "Sub", "Softmax", "Transpose", "ReduceMean", "Exp",
		"CumSum", "Max"}
	shared, compared := 0, 0
	for range 150 {
		f := list[r.IntN(len(list))]
		m := loadModel(t, "testdata/"+f.name+".onnx")
		// what comes before the first attention is there
		nodes := m.Graph.Nodes[:len(m.Graph.Nodes)/2]
		a, b := nodes[r.IntN(len(nodes))], nodes[r.IntN(len(nodes))]
		switch r.IntN(3) {
		case 0:
			a.Op = elementwise[r.IntN(len(elementwise))]
		case 1:
			if len(a.Inputs) > 0 && len(b.Inputs) > 0 {
				a.Inputs[r.IntN(len(a.Inputs))] = b.Inputs[r.IntN(len(b.Inputs))]
			}
		default:
			a.Op, a.Attrs = b.Op, b.Attrs
		}
		if m.Check() != nil {
			continue
		}
		d, err := Derive(m, Options{ForwardOnly: true})
		plain, perr := Derive(m, Options{ForwardOnly: true, Unshared: true})
		if (err == nil) != (perr == nil) {
			t.Errorf("%s, %s %q: with sharing %v, without %v", f.name, a.Op, a.Name, err, perr)
		}
		if err != nil || perr != nil {
			continue
		}
		got, want := reference(t, d, f.Calls[2]), reference(t, plain, f.Calls[2])
		if want == nil {
			continue
		}
		compared++
		if slices.Contains(d.Inputs, inFirst) {
			shared++
		}
		if got == nil || !(relative(got, want) < 1e-9) && !slices.ContainsFunc(want, math.IsNaN) {
			t.Errorf("%s, %s %q: with sharing it computes something else", f.name, a.Op, a.Name)
		}
	}
	t.Logf("%d compared, %d of them share", compared, shared)
	if shared < 20 {
		t.Errorf("only %d of %d graphs share: the test shows little", shared, compared)
	}
}

// reference is log f of a call in float64, nil if the graph cannot be evaluated.
func reference(t *testing.T, d *Derived, c map[string]array) []float64 {
	t.Helper()
	e, err := newEvaluator(d.Model)
	if err != nil {
		return nil
	}
	in := map[string]*onnxeval.Tensor{inConditional: {Type: onnx.Bool, Shape: []int{},
		I: []int64{0}}}
	c = withAlike(d, c)
	for _, name := range d.Inputs {
		if a, ok := c[name]; ok {
			in[name] = onnxeval.NewInt(a.Shape, a.ints())
		}
	}
	out, err := e.Run(in, outLogProb)
	if err != nil {
		return nil
	}
	return out[0].F
}
