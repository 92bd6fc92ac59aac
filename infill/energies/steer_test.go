package energies

import (
	"bufio"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/text"
	"infill/mlm"
	"infill/mlm/onnx"
	"infill/models"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

var update = flag.Bool("update", false, "write testdata/tone, the classifier of the documents")

// width is the width of the trained classifier's embeddings.
const width = 8

// bag is a classifier: the mean of the embeddings of all tokens, and a linear layer.
type bag struct {
	vocab  []string
	embed  []float64 // [vocab, width]
	weight []float64 // [width, 2]
	bias   []float64 // [2]
}

// labels of testdata/reviews.txt.
var labels = []string{"negative", "positive"}

// review is a labelled text.
type review struct {
	label int
	text  string
}

func readReviews(t *testing.T) (out []review) {
	t.Helper()
	file, err := os.Open("testdata/reviews.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		label, text, _ := strings.Cut(lines.Text(), " ")
		if i := slices.Index(labels, label); i >= 0 {
			out = append(out, review{i, text})
		}
	}
	if len(out) < 40 {
		t.Fatalf("%d reviews", len(out))
	}
	return out
}

// logits of a text's tokens.
func (b *bag) logits(ids []int32) (z [2]float64, mean []float64) {
	mean = make([]float64, width)
	for _, id := range ids {
		for j := range mean {
			mean[j] += b.embed[int(id)*width+j] / float64(len(ids))
		}
	}
	for c := range z {
		z[c] = b.bias[c]
		for j, m := range mean {
			z[c] += m * b.weight[j*2+c]
		}
	}
	return z, mean
}

// train fits a classifier to reviews by stochastic gradient descent on the cross entropy.
func train(t *testing.T, reviews []review) (*bag, *tokenize.Tokenizer) {
	t.Helper()
	b := &bag{vocab: []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ","}}
	for _, r := range reviews {
		for _, w := range strings.Fields(r.text) {
			if !slices.Contains(b.vocab, w) {
				b.vocab = append(b.vocab, w)
			}
		}
	}
	tok := tokenizetest.Of(t, false, b.vocab...)
	rng := rand.New(rand.NewPCG(1, 1))
	b.embed, b.weight, b.bias = make([]float64, len(b.vocab)*width), make([]float64, width*2),
		make([]float64, 2)
	for i := range b.embed {
		b.embed[i] = rng.NormFloat64() / 4
	}
	for i := range b.weight {
		b.weight[i] = rng.NormFloat64()
	}
	const rate, decay, unknown, epochs = 0.5, 1e-3, 0.4, 300
	for range epochs {
		for _, i := range rng.Perm(len(reviews)) {
			enc, err := tok.Encode(reviews[i].text)
			if err != nil {
				t.Fatal(err)
			}
			for p := range enc.IDs { // unknown words say nothing, then
				if rng.Float64() < unknown && !enc.Special[p] {
					enc.IDs[p] = tok.UNKID()
				}
			}
			z, mean := b.logits(enc.IDs)
			d := [2]float64{} // of the loss, by the logits: p − 1{label}
			d[1] = 1 / (1 + math.Exp(z[0]-z[1]))
			d[0] = 1 - d[1]
			d[reviews[i].label]--
			for j, m := range mean {
				back := 0.0
				for c := range d {
					back += d[c] * b.weight[j*2+c]
					b.weight[j*2+c] -= rate * (d[c]*m + decay*b.weight[j*2+c])
				}
				for _, id := range enc.IDs {
					b.embed[int(id)*width+j] -= rate * back / float64(len(enc.IDs))
				}
			}
			for c := range d {
				b.bias[c] -= rate * d[c]
			}
		}
	}
	return b, tok
}

// export writes a classifier as Hugging Face's tools do: logits of input_ids and attention_mask.
func (b *bag) export(t *testing.T, dir string) {
	t.Helper()
	floats := func(v []float64) []float32 {
		out := make([]float32, len(v))
		for i, x := range v {
			out[i] = float32(x)
		}
		return out
	}
	node := func(op, out string, in ...string) *onnx.Node {
		return &onnx.Node{Name: out, Op: op, Inputs: in, Outputs: []string{out}}
	}
	ids := []onnx.Dim{{Param: "batch"}, {Param: "sequence"}}
	m := &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 13}, Graph: &onnx.Graph{
		Name: "bag",
		Inputs: []*onnx.ValueInfo{
			{Name: "input_ids", Type: onnx.Int64, HasShape: true, Shape: ids},
			{Name: "attention_mask", Type: onnx.Int64, HasShape: true, Shape: ids},
		},
		Outputs: []*onnx.ValueInfo{{Name: "logits", Type: onnx.Float, HasShape: true,
			Shape: []onnx.Dim{{Param: "batch"}, {Value: 2}}}},
		Initializers: []*onnx.Tensor{
			onnx.Floats("E", []int64{int64(len(b.vocab)), width}, floats(b.embed)...),
			onnx.Floats("W", []int64{width, 2}, floats(b.weight)...),
			onnx.Floats("b", []int64{2}, floats(b.bias)...),
			onnx.Ints("one", onnx.Int64, []int64{1}, 1), onnx.Ints("two", onnx.Int64, []int64{1}, 2),
		},
		Nodes: []*onnx.Node{
			node("Gather", "e", "E", "input_ids"),
			{Name: "m", Op: "Cast", Inputs: []string{"attention_mask"}, Outputs: []string{"m"},
				Attrs: []*onnx.Attribute{onnx.Attr("to", onnx.Float)}},
			node("Unsqueeze", "wide", "m", "two"), node("Mul", "kept", "e", "wide"),
			node("ReduceSum", "sum", "kept", "one"), node("ReduceSum", "n", "wide", "one"),
			node("Div", "mean", "sum", "n"),
			node("Squeeze", "flat", "mean", "one"), node("MatMul", "linear", "flat", "W"),
			node("Add", "logits", "linear", "b"),
		},
	}}
	data, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{
		"id2label": map[string]string{"0": labels[0], "1": labels[1]}, "vocab_size": len(b.vocab),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"model.onnx": string(data), "config.json": string(config) + "\n",
		"vocab.txt":             strings.Join(b.vocab, "\n") + "\n",
		"tokenizer_config.json": `{"do_lower_case": true}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A classifier is trained on some reviews, exported, and steers the model small: the more it
// weighs, the larger is the share of fillings that it gives the wanted label.
func TestSteered(t *testing.T) {
	t.Parallel()
	reviews := readReviews(t)
	b, tok := train(t, reviews)
	dir := filepath.Join(t.TempDir(), "tone")
	if *update {
		dir = filepath.Join("testdata", "tone")
	}
	b.export(t, dir)
	c := openClassifier(t, dir)
	right := 0
	for _, r := range reviews {
		enc, err := tok.Encode(r.text)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := b.logits(enc.IDs)
		term, err := c.Label("tone", labels[r.label])
		if err != nil {
			t.Fatal(err)
		}
		// What was exported says what was trained.
		want := -math.Log1p(math.Exp(z[1-r.label] - z[r.label]))
		got := values(t, term, infill.Finished{Text: r.text})[0]
		if math.Abs(got-want) > 1e-4 {
			t.Errorf("%q: log p = %v, want %v", r.text, got, want)
		}
		if got > -math.Ln2 {
			right++
		}
	}
	if right < len(reviews)*9/10 {
		t.Fatalf("%d of %d reviews are right", right, len(reviews))
	}

	m, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	e := infill.New(m)
	tm, err := text.Parse(m.Tokenizer(), "The film was [MASK] and [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range labels {
		term, err := c.Label("tone", label)
		if err != nil {
			t.Fatal(err)
		}
		first, last := -1.0, -1.0
		for _, weight := range []float64{0, 2, 8} {
			r, err := e.Fill(t.Context(), tm, infill.Options{
				Seed: 1, Sampling: infill.SamplingOptions{Steps: 40, Chains: 60},
				Results: infill.ResultOptions{All: true, Collect: infill.CollectLast},
				Words:   infill.WordOptions{Terms: []infill.Weighted{{Term: term, Weight: weight}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			share, best := 0.0, ""
			for _, f := range r.Fillings {
				if values(t, term, infill.Finished{Text: f.Text})[0] > -math.Ln2 {
					share += float64(f.Count) / 60
					if best == "" {
						best = f.Text
					}
				}
			}
			t.Logf("%s, λ = %v: %.2f of the fillings, best %q", label, weight, share, best)
			if share <= last && share < 1 {
				t.Errorf("%s, λ = %v: %.2f of the fillings have the label, %.2f before", label, weight, share,
					last)
			}
			if last = share; first < 0 {
				first = share
			}
		}
		if last < 0.95 && last < first+0.4 {
			t.Errorf("%s: the share goes from %.2f to %.2f", label, first, last)
		}
	}
}
