package onnx

import (
	"bytes"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/encoding/protowire"
)

const tiny = "../testdata/tiny-bert"

func loadTiny(t testing.TB) ([]byte, *Model) {
	t.Helper()
	data, err := os.ReadFile(tiny + "/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(data, "model.onnx", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return data, m
}

func TestReadsAnExport(t *testing.T) {
	data, m := loadTiny(t)
	if m.Opsets[""] != 14 || m.ProducerName != "pytorch" {
		t.Errorf("opset %d, producer %q", m.Opsets[""], m.ProducerName)
	}
	if got := len(m.Graph.Inputs); got != 3 || m.Graph.Inputs[0].Name != "input_ids" ||
		m.Graph.Inputs[0].Type != Int64 {
		t.Errorf("inputs %d, first %+v", got, m.Graph.Inputs[0])
	}
	out := m.Graph.Outputs[0]
	if len(out.Shape) != 3 || out.Shape[0].Param != "batch" || out.Shape[2].Value != 70 {
		t.Errorf("logits shape %+v", out.Shape)
	}
	for _, w := range m.Graph.Initializers {
		b, err := w.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if w.Origin.Length != int64(len(b)) || !bytes.Equal(data[w.Origin.Offset:][:len(b)], b) {
			t.Fatalf("%s: origin %+v does not point at its data", w.Name, w.Origin)
		}
		if len(b) > 0 && &data[w.Origin.Offset] != &b[0] {
			t.Fatalf("%s: data was copied", w.Name)
		}
	}
}

// TestRoundTrip writes and reads back, inside one file and with external data, and compares every
// field.
func TestRoundTrip(t *testing.T) {
	data, m := loadTiny(t)
	for _, min := range []int64{0, 1024} {
		out, err := m.MarshalExternal(min, nil)
		if err != nil {
			t.Fatal(err)
		}
		if min > 0 && len(out) > len(data)*6/10 {
			t.Errorf("external form has %d bytes, original %d", len(out), len(data))
		}
		dir := fstest.MapFS{"model.onnx": {Data: data}, "derived.onnx": {Data: out}}
		back, err := Load(dir, "derived.onnx")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(strip(t, m), strip(t, back)) {
			t.Errorf("ExternalMin %d: the model changed", min)
		}
	}
}

// strip replaces every tensor by its contents, so that models compare by value.
func strip(t *testing.T, m *Model) *Model {
	t.Helper()
	plain := func(w *Tensor) *Tensor {
		b, err := w.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return &Tensor{Name: w.Name, Dims: append([]int64{}, w.Dims...), Type: w.Type,
			data: append([]byte{}, b...)}
	}
	g := *m.Graph
	g.Initializers, g.Nodes = nil, nil
	for _, w := range m.Graph.Initializers {
		g.Initializers = append(g.Initializers, plain(w))
	}
	for _, n := range m.Graph.Nodes {
		c := *n
		c.Attrs = nil
		for _, a := range n.Attrs {
			b := *a
			if b.T != nil {
				b.T = plain(b.T)
			}
			c.Attrs = append(c.Attrs, &b)
		}
		g.Nodes = append(g.Nodes, &c)
	}
	out := *m
	out.Graph = &g
	return &out
}

func TestTypedDataFields(t *testing.T) {
	// float_data packed, int32_data holding float16 bits, int64_data unpacked.
	var m message
	m.sub(7, func(m *message) {
		m.str(2, "g", true)
		m.sub(5, func(m *message) {
			m.ints(1, []int64{2})
			m.int(2, int64(Float))
			m.str(8, "f", false)
			m.str(4, "\x00\x00\x80\x3f\x00\x00\x00\xc0", false) // 1, -2
		})
		m.sub(5, func(m *message) {
			m.ints(1, []int64{3})
			m.int(2, int64(Float16))
			m.str(8, "h", false)
			m.ints(5, []int64{0x3c00, 0xc000, 0x0001})
		})
		m.sub(5, func(m *message) {
			m.ints(1, []int64{2})
			m.int(2, int64(Int64))
			m.str(8, "i", false)
			m.int(7, -5)
			m.int(7, 9)
		})
		m.sub(5, func(m *message) { // 4 bits: two in a number of int32_data, and in a byte
			m.ints(1, []int64{3})
			m.int(2, int64(typeInt4))
			m.str(8, "j", false)
			m.ints(5, []int64{0x9f, 0x07})
		})
		m.sub(5, func(m *message) {
			m.ints(1, []int64{3})
			m.int(2, int64(typeUint4))
			m.str(8, "k", false)
			m.str(9, "\x9f\x07", false)
		})
	})
	model, err := Parse(m.b, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{1, -2}, {1, -2, math.Ldexp(1, -24)}, {-5, 9}, {-1, -7, 7}, {15, 9, 7}}
	for i, w := range model.Graph.Initializers {
		got, err := w.Float64s()
		if err != nil || !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%s: %v, %v; want %v", w.Name, got, err, want[i])
		}
	}
}

func TestElements(t *testing.T) {
	if n, err := elements([]int64{3, 0, 5}); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, d := range [][]int64{{-1}, {1 << 40, 1 << 40}, {1 << 20, 1 << 20, 2},
		{math.MaxInt64, 0, 2}, make([]int64, maxRank+1)} {
		if n, err := elements(d); err == nil {
			t.Errorf("%v: %d elements accepted", d, n)
		}
	}
}

// small is a valid model to damage: y = x + w.
func small() *Model {
	vi := func(n string) []*ValueInfo {
		return []*ValueInfo{{Name: n, Type: Float, HasShape: true, Shape: []Dim{{Value: 2}}}}
	}
	return &Model{IRVersion: 7, Opsets: map[string]int64{"": 14}, Graph: &Graph{
		Name: "g", Inputs: vi("x"), Outputs: vi("y"), Initializers: []*Tensor{Floats("w",
			[]int64{2}, 1, 2)},
		Nodes: []*Node{{Name: "add", Op: "Add", Inputs: []string{"x", "w"},
			Outputs: []string{"y"}}},
	}}
}

func TestCheckRefuses(t *testing.T) {
	nested := func(m *Model, depth int) {
		for range depth {
			m.Graph = &Graph{Name: "g", Nodes: []*Node{{Name: "if", Op: "If",
				Attrs: []*Attribute{Attr("then_branch", m.Graph)}}}}
		}
	}
	add := func(name string, out string, in ...string) *Node {
		return &Node{Name: name, Op: "Add", Inputs: in, Outputs: []string{out}}
	}
	cases := map[string]struct {
		break_ func(*Model)
		kind   error
		say    string
	}{
		"dangling input": {func(m *Model) { m.Graph.Nodes[0].Inputs[1] = "v" }, errGraph,
			`input "v" is not defined`},
		"missing output": {func(m *Model) { m.Graph.Outputs[0].Name = "z" }, errGraph,
			`output "z"`},
		"defined twice": {func(m *Model) {
			m.Graph.Nodes = append(m.Graph.Nodes,
				add("b", "y", "x", "x"))
		}, errGraph, "defined twice"},
		"shadows a weight": {func(m *Model) {
			m.Graph.Nodes = append(m.Graph.Nodes,
				add("b", "w", "x", "x"))
		}, errGraph, "defined twice"},
		"two weights": {func(m *Model) {
			m.Graph.Initializers = append(m.Graph.Initializers,
				m.Graph.Initializers[0])
		}, errGraph, "defined twice"},
		"cycle": {func(m *Model) {
			m.Graph.Nodes = []*Node{add("a", "y", "x", "z"),
				add("b", "z", "y", "w")}
		}, errGraph, "cycle"},
		"self loop": {func(m *Model) {
			m.Graph.Nodes = append(m.Graph.Nodes,
				add("a", "z", "x", "z"))
		}, errGraph, "cycle"},
		"custom domain": {func(m *Model) { m.Graph.Nodes[0].Domain = "evil" }, errUnsupported,
			`domain "evil"`},
		"old opset":  {func(m *Model) { m.Opsets[""] = 6 }, errUnsupported, "opset 6"},
		"no opset":   {func(m *Model) { m.Opsets = nil }, errUnsupported, "opset 0"},
		"ir version": {func(m *Model) { m.IRVersion = 99 }, errUnsupported, "IR version"},
		"deep":       {func(m *Model) { nested(m, maxDepth+1) }, errLimit, "nest"},
		"attribute twice": {func(m *Model) {
			m.Graph.Nodes[0].Attrs = []*Attribute{Attr("a", 0), Attr("a", 0)}
		}, errGraph, "twice"},
		"dangling in inner": {func(m *Model) { m.Graph.Nodes[0].Inputs[0] = "v"; nested(m, 1) },
			errGraph, `"v"`},
	}
	for name, c := range cases {
		m := small()
		c.break_(m)
		err := m.Check()
		var typed *Error
		if !errors.Is(err, c.kind) || !errors.As(err, &typed) ||
			!strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := small().Check(); err != nil {
		t.Errorf("the undamaged model: %v", err)
	}
}

// TestOpsetTwice has two versions of ONNX's own operators, under both names of their domain.
func TestOpsetTwice(t *testing.T) {
	data, err := small().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again := protowire.AppendTag(data, 8, protowire.BytesType)
	again = protowire.AppendBytes(again, protowire.AppendVarint(protowire.AppendTag(
		protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "ai.onnx"), 2,
		protowire.VarintType), 14))
	if _, err := Parse(again, "", nil); !errors.Is(err, errGraph) ||
		!strings.Contains(err.Error(), "twice") {
		t.Errorf("%v", err)
	}
}

func TestCheckSorts(t *testing.T) {
	m := small()
	m.Graph.Nodes = []*Node{
		{Name: "last", Op: "Add", Inputs: []string{"t", "w"}, Outputs: []string{"y"}},
		{Name: "first", Op: "Add", Inputs: []string{"x", "w"}, Outputs: []string{"t"}},
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	if m.Graph.Nodes[0].Name != "first" {
		t.Error("nodes are not in order")
	}
}

func TestExternalData(t *testing.T) {
	with := func(set map[string]string, dims ...int64) []byte {
		var m message
		m.sub(7, func(m *message) {
			m.sub(5, func(m *message) {
				m.ints(1, dims)
				m.int(2, int64(Float))
				m.str(8, "w", false)
				for k, v := range set {
					m.sub(13, func(m *message) { m.str(1, k, false); m.str(2, v, false) })
				}
				m.int(14, 1)
			})
		})
		return m.b
	}
	dir := fstest.MapFS{"sub/w.bin": {Data: []byte("abcd\x00\x00\x80\x3f\x00\x00\x00\x40zz")}}
	m, err := Parse(with(map[string]string{"location": "sub/w.bin", "offset": "4", "length": "8"},
		2), "m.onnx", dir)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Graph.Initializers[0].Float64s(); err != nil ||
		!reflect.DeepEqual(v, []float64{1, 2}) {
		t.Errorf("%v, %v", v, err)
	}
	for name, c := range map[string]struct {
		set  map[string]string
		dims []int64
	}{
		"parent":       {map[string]string{"location": "../w.bin"}, []int64{2}},
		"inner parent": {map[string]string{"location": "sub/../../w.bin"}, []int64{2}},
		"absolute":     {map[string]string{"location": "/etc/passwd"}, []int64{2}},
		"backslash":    {map[string]string{"location": `sub\w.bin`}, []int64{2}},
		"empty":        {map[string]string{"location": ""}, []int64{2}},
		"folder":       {map[string]string{"location": "sub"}, []int64{2}},
		"missing":      {map[string]string{"location": "v.bin"}, []int64{2}},
		"past the end": {map[string]string{"location": "sub/w.bin", "offset": "8"}, []int64{2}},
		"huge offset": {map[string]string{"location": "sub/w.bin",
			"offset": "9223372036854775807"}, []int64{2}},
		"negative":       {map[string]string{"location": "sub/w.bin", "offset": "-4"}, []int64{2}},
		"wrong length":   {map[string]string{"location": "sub/w.bin", "length": "4"}, []int64{2}},
		"huge shape":     {map[string]string{"location": "sub/w.bin"}, []int64{1 << 30}},
		"not a number":   {map[string]string{"location": "sub/w.bin", "offset": "x"}, []int64{2}},
		"no such folder": {map[string]string{"location": "none/w.bin"}, []int64{2}},
	} {
		if _, err := Parse(with(c.set, c.dims...), "m.onnx", dir); !errors.Is(err, ErrExternal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Parse(with(map[string]string{"location": "w.bin"}, 2), "m.onnx",
		nil); !errors.Is(err, ErrExternal) {
		t.Errorf("no folder: %v", err)
	}
}

func TestTruncated(t *testing.T) {
	data, _ := loadTiny(t)
	for n := 0; n < len(data); n += 1 + len(data)/300 {
		m, err := Parse(data[:n], "", nil)
		if err == nil {
			err = m.Check()
		}
		var typed *Error
		if !errors.As(err, &typed) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	add := func(m *Model) {
		b, err := m.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	add(small())
	m := small()
	m.Graph.Nodes = append(m.Graph.Nodes, &Node{Name: "c", Op: "Constant", Outputs: []string{"k"},
		Attrs: []*Attribute{
			Attr("value", Ints("", Int64, []int64{2}, 1, -1)), {Name: "f",
				Type: attrFloats, Floats: []float32{1, 2}},
			Attr("i", []int64{1, 1 << 40}), Attr("s", "x"),
			Attr("g", small().Graph)}})
	m.Graph.Initializers[0].Origin = Origin{File: "w.bin", Length: 8}
	add(m)
	ext, err := m.MarshalExternal(1, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ext)
	f.Add([]byte{0x3a, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := fstest.MapFS{"w.bin": {Data: make([]byte, 64)}, "m.onnx": {Data: data}}
		m, err := Parse(data, "m.onnx", dir)
		agree(t, m, err, dir)
		if err == nil {
			err = m.Check()
		}
		if err != nil {
			var typed *Error
			if !errors.As(err, &typed) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		out, err := m.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Parse(out, "m.onnx", dir); err != nil || back.Check() != nil {
			t.Fatalf("what was accepted does not read back: %v", err)
		}
	})
}
