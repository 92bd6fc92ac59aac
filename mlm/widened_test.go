package mlm

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm/internal/export"
	"infill/mlm/onnx"
	"infill/models"
)

// A large model for few rows has its weights widened at their use: the values hardly differ, and
// are the same bits each time, alone and in company. A small one is as it always is.
func TestFew(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: the default model takes some seconds")
	}
	open := func(t testing.TB, o Options) *Model {
		orttest.Load(t)
		m, err := Open(t.Context(), models.Default(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		return m
	}
	m, few := open(t, Options{Forward: true}), open(t, Options{Few: true})
	if d, ok := few.be.(*derived); !ok || !d.about.Late || d.about.Gradient || !few.options.LowMemory {
		t.Error("the weights are widened when the model is opened")
	}
	s, states := randomStates(m, 3, 9, 2, 3)
	want, got := table(3, 2), table(3, 2)
	if err := m.LogProb(t.Context(), s, states, want); err != nil {
		t.Fatal(err)
	}
	if err := few.LogProb(t.Context(), s, states, got); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		one := table(1, 2)
		if err := few.LogProb(t.Context(), s, states[i:i+1], one); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one[0], got[i]) {
			t.Errorf("%v alone, %v in company", one[0], got[i])
		}
		for j, v := range want[i] {
			if math.Abs(float64(v-got[i][j])) > 1e-4 {
				t.Errorf("%v, want %v", got[i][j], v)
			}
		}
	}
	tiny, as := openTiny(t, of(Options{Few: true})), openTiny(t, options{})
	s, states = randomStates(as, 3, 9, 2, 3)
	if !slices.Equal(everything(t, tiny, s, states), everything(t, as, s, states)) {
		t.Error("a small model for few rows has other bits")
	}
}

// What cannot be in parts stays whole, and what is read elsewhere stays there.
func TestWidened(t *testing.T) {
	t.Parallel()
	cast := &onnx.Node{Op: "Cast", Name: "c", Inputs: []string{"w"}, Outputs: []string{"f"},
		Attrs: []*onnx.Attribute{onnx.Attr("to", onnx.Float)}}
	look := &onnx.Node{Op: "Gather", Name: "g", Inputs: []string{"f", "i"}, Outputs: []string{"y"}}
	use := &onnx.Node{Op: "Gemm", Name: "p", Inputs: []string{"x", "f", "b"}, Outputs: []string{"z"},
		Attrs: []*onnx.Attribute{onnx.Attr("transB", 1)}}
	const rows, cols = 3000, 2048
	w := onnx.NewTensor("w", onnx.Float16, []int64{rows, cols}, make([]byte, 2*rows*cols))
	model := func(nodes ...*onnx.Node) *onnx.Model {
		return &onnx.Model{Graph: &onnx.Graph{Nodes: nodes, Initializers: []*onnx.Tensor{w}}}
	}
	ops := func(m *onnx.Model) (out []string) {
		for _, n := range m.Graph.Nodes {
			out = append(out, n.Op)
		}
		return out
	}
	for _, c := range []struct {
		late bool
		in   *onnx.Model
		want []string
	}{
		{false, model(cast, look, use), []string{"Cast", "Gather", "Cast", "Gemm"}},
		{false, model(cast, look), []string{"Gather", "Cast"}},
		{true, model(cast, look, use), []string{"Gather", "Cast", "Cast", "Gemm", "Cast", "Gemm",
			"Concat", "Add"}},
		{true, model(use), []string{"Gemm"}},
	} {
		out, _ := export.Of(c.in).Widened(c.late)
		if got := ops(out); !slices.Equal(got, c.want) {
			t.Errorf("%v, late %v: %v, want %v", ops(c.in), c.late, got, c.want)
		}
		total := int64(0)
		for _, part := range out.Graph.Initializers[1:] {
			if total += part.Dims[0]; 4*part.Len() > 12<<20 || part.Len() != part.Dims[0]*cols {
				t.Errorf("a part of %v", part.Dims)
			}
		}
		if len(out.Graph.Initializers) > 1 && total != rows {
			t.Errorf("parts of %d rows", total)
		}
	}
}

// On the default model products in 8 bits are near those of float32.
func TestInt8Default(t *testing.T) {
	t.Parallel()
	testmode.Long(t)
	orttest.Load(t)
	const places = 24
	var out [2][][]float32
	var took [2]time.Duration
	for i, p := range []Precision{Float32, Int8} {
		m, err := Open(t.Context(), models.Default(), Options{Precision: p, Forward: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		text, n := fiction, 0
		for ; n < places; n += 8 {
			line, rest, _ := strings.Cut(text, "\n")
			enc, err := m.Tokenizer().Encode(line)
			if err != nil {
				t.Fatal(err)
			}
			s := &Sentence{IDs: enc.IDs}
			for k := range 8 {
				s.Blanks = append(s.Blanks, 1+k*(len(enc.IDs)-2)/8)
			}
			state := make([]int32, 8)
			for k, at := range s.Blanks {
				state[k] = enc.IDs[at]
			}
			wide := table(1, 8*m.VocabSize())
			start := time.Now()
			if err := m.Gradient(t.Context(), s, [][]int32{state}, Forward, table(1, 8), wide); err != nil {
				t.Fatal(err)
			}
			took[i] += time.Since(start)
			out[i], text = append(out[i], wide[0]), rest
		}
	}
	mean, most := 0.0, 0.0
	vocab := len(out[0][0]) / 8
	for i := range out[0] {
		for k := range 8 {
			kl := 0.0
			for j := k * vocab; j < (k+1)*vocab; j++ {
				a, b := float64(out[0][i][j]), float64(out[1][i][j])
				kl += math.Exp(a) * (a - b)
			}
			mean, most = mean+kl/places, max(most, kl)
		}
	}
	t.Logf("KL %.5f, at most %.4f; a row takes %.1f ms, and %.1f ms in float32", mean, most,
		took[1].Seconds()*1e3/places, took[0].Seconds()*1e3/places)
	if !(mean > 1e-6 && mean < 0.005) {
		t.Errorf("KL %.5f, at most %.4f", mean, most)
	}
}

const fiction = `The old man looked at the sea for a long time, and then he went back to his house and closed the door.
She had never been so far from home before, but the letter in her pocket gave her courage to go on.
They waited in the dark kitchen until the rain had stopped, and nobody said a word about the money.
"Where have you been all day?" asked his mother, without looking up from the book on her knees.
`
