package onnxref

import (
	"fmt"
	"math"
	"math/rand/v2"

	"infill/mlm/onnx"
)

// Sentence is what energies and gradients are checked on: a filled sentence and its blanks.
type Sentence struct {
	IDs    []int64 // piece ids, special tokens included, blanks filled with the state θ
	Types  []int64 // token types, nil for zeros
	Blanks []int   // positions of the blanks in IDs
	Mask   int64   // id of the mask token
}

func (s *Sentence) check(vocabulary int) error {
	if len(s.IDs) == 0 || len(s.Blanks) == 0 || s.Types != nil && len(s.Types) != len(s.IDs) {
		return fmt.Errorf("sentence of %d pieces with %d types and %d blanks", len(s.IDs), len(s.Types), len(s.Blanks))
	}
	for _, b := range s.Blanks {
		if b < 0 || b >= len(s.IDs) {
			return fmt.Errorf("blank at %d of %d pieces", b, len(s.IDs))
		}
	}
	for _, id := range append([]int64{s.Mask}, s.IDs...) {
		if id < 0 || id >= int64(vocabulary) {
			return fmt.Errorf("piece id %d outside the vocabulary of %d", id, vocabulary)
		}
	}
	return nil
}

// MaskedLM evaluates a masked language model on sentences: log f and its derivatives by differences.
type MaskedLM struct {
	*Evaluator
	logits, embedded string
	table            *Tensor // [V or more, D]
	vocabulary       int
}

// NewMaskedLM finds the parts of a model that onnx.Check has passed: input_ids, the table of which it
// gathers rows, and the logits.
func NewMaskedLM(m *onnx.Model) (*MaskedLM, error) {
	m = Separate(m)
	e, err := New(m)
	if err != nil {
		return nil, err
	}
	lm := &MaskedLM{Evaluator: e}
	for _, o := range m.Graph.Outputs {
		if o.Name == "logits" || len(m.Graph.Outputs) == 1 {
			lm.logits = o.Name
		}
	}
	if lm.logits == "" {
		return nil, fmt.Errorf("the model has no output named logits")
	}
	one := NewInt([]int{1, 3}, make([]int64, 3))
	out, err := e.Run(lm.inputs(one.I, make([]int64, 3), 1), lm.logits)
	if err != nil {
		return nil, err
	}
	if len(out[0].Shape) != 3 {
		return nil, fmt.Errorf("logits have shape %v", out[0].Shape)
	}
	lm.vocabulary = out[0].Shape[2]
	if n := WordLookup(m.Graph); n != nil {
		if t := e.consts[n.Inputs[0]]; t != nil && t.float() && len(t.Shape) == 2 && t.Shape[0] >= lm.vocabulary {
			lm.table, lm.embedded = t, n.Outputs[0]
		}
	}
	if lm.table == nil {
		return nil, fmt.Errorf("no table of %d rows is indexed by input_ids", lm.vocabulary)
	}
	return lm, nil
}

// Vocabulary is the number of columns of the logits.
func (lm *MaskedLM) Vocabulary() int { return lm.vocabulary }

// inputs feeds rows of equal length, none padded.
func (lm *MaskedLM) inputs(ids, types []int64, rows int) map[string]*Tensor {
	length := len(ids) / rows
	shape := []int{rows, length}
	ones, places := make([]int64, len(ids)), make([]int64, len(ids))
	for i := range ones {
		ones[i], places[i] = 1, int64(i%length)
	}
	all := map[string]*Tensor{"input_ids": NewInt(shape, ids), "attention_mask": NewInt(shape, ones),
		"token_type_ids": NewInt(shape, types), "position_ids": NewInt(shape, places)}
	in := map[string]*Tensor{}
	for _, v := range lm.model.Graph.Inputs {
		if t := all[v.Name]; t != nil {
			in[v.Name] = t
		}
	}
	return in
}

// rows feeds, for every listed blank, the sentence with that blank masked.
func (lm *MaskedLM) rows(s *Sentence, which []int) map[string]*Tensor {
	var ids, types []int64
	for _, i := range which {
		row := append([]int64{}, s.IDs...)
		row[s.Blanks[i]] = s.Mask
		ids = append(ids, row...)
		if s.Types == nil {
			types = append(types, make([]int64, len(row))...)
		} else {
			types = append(types, s.Types...)
		}
	}
	return lm.inputs(ids, types, len(which))
}

// logSoftmax of the logits at one position of one row.
func (lm *MaskedLM) logSoftmax(logits *Tensor, row, position int) []float64 {
	at := (row*logits.Shape[1] + position) * lm.vocabulary
	x := logits.F[at : at+lm.vocabulary]
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, v)
	}
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v - top - math.Log(sum)
	}
	return out
}

// Conditionals gives, for every blank i, log f(· | the sentence with blank i masked), in nats.
func (lm *MaskedLM) Conditionals(s *Sentence) ([][]float64, error) {
	if err := s.check(lm.vocabulary); err != nil {
		return nil, err
	}
	which := make([]int, len(s.Blanks))
	for i := range which {
		which[i] = i
	}
	out, err := lm.Run(lm.rows(s, which), lm.logits)
	if err != nil {
		return nil, err
	}
	res := make([][]float64, len(which))
	for i, b := range s.Blanks {
		res[i] = lm.logSoftmax(out[0], i, b)
	}
	return res, nil
}

// Slope is the derivative of Σ_{i≠j} log f(θ_i | sentence with i masked) as the embedding at blank j moves
// along row v of the embedding table, by five-point central differences.
func (lm *MaskedLM) Slope(s *Sentence, j, v int) (float64, error) {
	if err := s.check(lm.vocabulary); err != nil {
		return 0, err
	}
	if j < 0 || j >= len(s.Blanks) || v < 0 || v >= lm.vocabulary {
		return 0, fmt.Errorf("blank %d, token %d", j, v)
	}
	var others []int
	for i := range s.Blanks {
		if i != j {
			others = append(others, i)
		}
	}
	if len(others) == 0 {
		return 0, nil
	}
	// Four copies of the rows, displaced by −2, −1, 1 and 2 steps.
	steps := []float64{-2, -1, 1, 2}
	weights := []float64{1, -8, 8, -1} // over 12 steps
	var which []int
	for range steps {
		which = append(which, others...)
	}
	in := lm.rows(s, which)
	base, err := lm.Run(in, lm.embedded)
	if err != nil {
		return 0, err
	}
	e := &Tensor{Type: base[0].Type, Shape: base[0].Shape, F: append([]float64{}, base[0].F...)}
	d := e.Shape[2]
	along := lm.table.F[v*d : (v+1)*d]
	h := 1e-3 * (norm(e.F) / math.Sqrt(float64(e.Shape[0]*e.Shape[1]))) / max(norm(along), 1e-9)
	for r := range which {
		at := (r*e.Shape[1] + s.Blanks[j]) * d
		for k, x := range along {
			e.F[at+k] += h * steps[r/len(others)] * x
		}
	}
	in[lm.embedded] = e
	out, err := lm.Run(in, lm.logits)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for r, i := range which {
		sum += weights[r/len(others)] * lm.logSoftmax(out[0], r, s.Blanks[i])[s.IDs[s.Blanks[i]]]
	}
	return sum / (12 * h), nil
}

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// Outputs are what a derived graph gave for a sentence.
type Outputs struct {
	LogProb     []float32 // [m] log f(θ_i)
	Conditional []float32 // [m, V]
	Gradient    []float32 // [m, V]
}

// Deviation compares numbers with the truth.
type Deviation struct {
	MaxAbs float64 // largest difference
	Scale  float64 // largest absolute true value
}

// Rel is the largest difference relative to the largest true value, which is the measure of this
// project: single entries may be close to zero.
func (d Deviation) Rel() float64 {
	if d.Scale == 0 {
		return d.MaxAbs
	}
	return d.MaxAbs / d.Scale
}

func (d *Deviation) add(got, want float64) {
	diff := math.Abs(got - want)
	if !(diff <= d.MaxAbs) { // NaN counts
		d.MaxAbs = diff
	}
	d.Scale = max(d.Scale, math.Abs(want))
}

// Report is the outcome of Check.
type Report struct {
	Blanks     int
	Directions int       // directions along which the gradient was differenced, all blanks together
	Energy     Deviation // U, the sum of log f
	LogProb    Deviation // single log f
	Conditional,
	Gradient, // ∇U along the directions, relative to the largest of them
	Second Deviation // its second term alone, relative to the largest second term
}

// Check compares outputs of a derived graph with the float64 reference: log f exactly, the gradient by
// finite differences along `tokens` rows of the embedding table per blank, drawn with the given seed (all
// rows if tokens is not below the vocabulary).
func (lm *MaskedLM) Check(s *Sentence, got Outputs, tokens int, seed uint64) (Report, error) {
	r := Report{Blanks: len(s.Blanks)}
	cond, err := lm.Conditionals(s)
	if err != nil {
		return r, err
	}
	m, v := len(s.Blanks), lm.vocabulary
	if len(got.LogProb) != m || len(got.Conditional) != m*v || len(got.Gradient) != m*v {
		return r, fmt.Errorf("outputs of %d, %d and %d numbers for %d blanks and %d tokens", len(got.LogProb), len(got.Conditional), len(got.Gradient), m, v)
	}
	u, uWant := 0.0, 0.0
	for i, c := range cond {
		want := c[s.IDs[s.Blanks[i]]]
		r.LogProb.add(float64(got.LogProb[i]), want)
		u, uWant = u+float64(got.LogProb[i]), uWant+want
		for k, x := range c {
			r.Conditional.add(float64(got.Conditional[i*v+k]), x)
		}
	}
	r.Energy.add(u, uWant)
	rng := rand.New(rand.NewPCG(seed, 1))
	for j := range s.Blanks {
		for _, k := range rng.Perm(v)[:min(tokens, v)] {
			slope, err := lm.Slope(s, j, k)
			if err != nil {
				return r, err
			}
			g := float64(got.Gradient[j*v+k])
			r.Gradient.add(g, cond[j][k]+slope)
			r.Second.add(g-float64(got.Conditional[j*v+k]), slope)
			r.Directions++
		}
	}
	return r, nil
}
