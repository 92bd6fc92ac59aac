package onnxgrad

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// ErrParts is wrapped by the error for a model in which the logits or the table of word embeddings
// were not found.
var ErrParts = errors.New("not recognised as a masked language model")

// Sentence is what energies and gradients are checked on: a filled sentence and its blanks.
type Sentence struct {
	IDs    []int64 // piece ids, special tokens included, blanks filled with the state θ
	Types  []int64 // token types, nil for zeros
	First  int64   // position_ids of the first piece, for models that take them
	Blanks []int   // positions of the blanks in IDs
	Mask   int64   // id of the mask token
}

func (s *Sentence) check(vocabulary int) error {
	if len(s.IDs) == 0 || len(s.Blanks) == 0 || s.Types != nil && len(s.Types) != len(s.IDs) {
		return fmt.Errorf("sentence of %d pieces with %d types and %d blanks", len(s.IDs),
			len(s.Types), len(s.Blanks))
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

// MaskedLM evaluates a masked language model on sentences: log f and its derivatives by
// differences. It is safe for concurrent use.
type MaskedLM struct {
	eval             *evaluator
	logits, embedded string
	table            *onnxeval.Tensor // [V or more, D]
	vocabulary       int
}

// NewMaskedLM finds the parts of a model that [onnx.Model.Check] has passed: input_ids, the table
// that they are looked up in, and the logits. Errors wrap ErrParts, or onnxeval.ErrOp for an
// operator that cannot be evaluated.
func NewMaskedLM(m *onnx.Model) (*MaskedLM, error) {
	m = separate(m)
	e, err := newEvaluator(m)
	if err != nil {
		return nil, err
	}
	lm := &MaskedLM{eval: e}
	for _, o := range m.Graph.Outputs {
		if o.Name == "logits" || len(m.Graph.Outputs) == 1 {
			lm.logits = o.Name
		}
	}
	if lm.logits == "" {
		return nil, fmt.Errorf("%w: no output is named logits", ErrParts)
	}
	words := wordLookup(m.Graph)
	if words == nil {
		return nil, fmt.Errorf("%w: no Gather looks input_ids up in a table", ErrParts)
	}
	lm.embedded = words.Outputs[0]
	row := &Sentence{IDs: make([]int64, 3), Blanks: []int{0}}
	out, err := e.Run(lm.rows(row, []int{0}), lm.logits, words.Inputs[0], lm.embedded)
	if err != nil {
		return nil, err
	}
	logits, embedded := out[0].Shape, out[2].Shape
	lm.table = out[1]
	if len(logits) != 3 {
		return nil, fmt.Errorf("%w: logits of shape %v", ErrParts, logits)
	}
	lm.vocabulary = logits[2]
	if len(lm.table.F) == 0 || len(lm.table.Shape) != 2 || lm.table.Shape[0] < lm.vocabulary ||
		len(embedded) != 3 {
		return nil, fmt.Errorf("%w: word embeddings of shape %v from a table of %v for %d logits",
			ErrParts, embedded, lm.table.Shape, lm.vocabulary)
	}
	return lm, nil
}

// Vocabulary is the number of columns of the logits.
func (lm *MaskedLM) Vocabulary() int { return lm.vocabulary }

// rows feeds, for every listed blank, the sentence with that blank masked. No row is padded.
func (lm *MaskedLM) rows(s *Sentence, which []int) map[string]*onnxeval.Tensor {
	length := len(s.IDs)
	shape := []int{len(which), length}
	var ids, types, places, ones []int64
	for _, i := range which {
		first := len(ids)
		ids = append(ids, s.IDs...)
		ids[first+s.Blanks[i]] = s.Mask
		for k := range length {
			ones, places = append(ones, 1), append(places, s.First+int64(k))
		}
		if s.Types == nil {
			types = append(types, make([]int64, length)...)
		} else {
			types = append(types, s.Types...)
		}
	}
	all := map[string]*onnxeval.Tensor{
		"input_ids": onnxeval.NewInt(shape, ids), "attention_mask": onnxeval.NewInt(shape, ones),
		"token_type_ids": onnxeval.NewInt(shape, types), "position_ids": onnxeval.NewInt(shape,
			places),
	}
	in := map[string]*onnxeval.Tensor{}
	for _, v := range lm.eval.model.Graph.Inputs {
		if t := all[v.Name]; t != nil {
			in[v.Name] = t
		}
	}
	return in
}

// logSoftmax of the logits at one position of one row.
func (lm *MaskedLM) logSoftmax(logits *onnxeval.Tensor, row, position int) []float64 {
	at := (row*logits.Shape[1] + position) * lm.vocabulary
	x := logits.F[at : at+lm.vocabulary]
	top, sum := slices.Max(x), 0.0
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
	out, err := lm.eval.Run(lm.rows(s, which), lm.logits)
	if err != nil {
		return nil, err
	}
	res := make([][]float64, len(which))
	for i, b := range s.Blanks {
		res[i] = lm.logSoftmax(out[0], i, b)
	}
	return res, nil
}

// Slope is the derivative of Σ_{i≠j} log f(θ_i | sentence with i masked) as the embedding at blank
// j moves along row v of the embedding table, by five-point central differences.
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
	base, err := lm.eval.Run(in, lm.embedded)
	if err != nil {
		return 0, err
	}
	e := &onnxeval.Tensor{Type: base[0].Type, Shape: base[0].Shape,
		F: append([]float64{}, base[0].F...)}
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
	out, err := lm.eval.Run(in, lm.logits)
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
