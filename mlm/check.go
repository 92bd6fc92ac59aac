package mlm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxref"
)

// CheckOptions steer [Model.Check]; the zero value is a quick check.
type CheckOptions struct {
	// Text is a sentence whose pieces are used; "" makes one of random tokens.
	Text string
	// Blanks is m; 0 means 3. At most the number of pieces.
	Blanks int
	// Directions is how many tokens v are tried per blank; 0 means 3.
	Directions int
	// Seed picks blanks, tokens and directions.
	Seed uint64
}

// CheckReport compares the running model with a float64 evaluation of its
// file, in which derivatives are central differences.
type CheckReport struct {
	Blanks     int `json:"blanks"`
	Directions int `json:"directions"` // derivatives compared
	// LogProbError is the largest |difference| of log f over the vocabulary
	// at every blank, in nats.
	LogProbError float64 `json:"log_prob_error"`
	// FirstTermError is the same for the first term of the gradient, where it
	// can be had by itself (the forward mode).
	FirstTermError float64 `json:"first_term_error"`
	// GradientError is the largest difference of the backward term
	// E_v·Σ ∂log f/∂e_j, divided by GradientScale, the largest such term.
	GradientError float64 `json:"gradient_error"`
	GradientScale float64 `json:"gradient_scale"`
	// GradientRMS is the root of the mean square of those differences, divided
	// by that of the terms.
	GradientRMS float64 `json:"gradient_rms"`
	// Tolerance bounds LogProbError, and GradientError unless the backward pass
	// is in integers.
	Tolerance float64 `json:"tolerance"`
	// RMSTolerance bounds GradientRMS of a backward pass in integers. It is 0 for
	// one in float32.
	RMSTolerance float64 `json:"rms_tolerance,omitempty"`
	OK           bool    `json:"ok"`
}

// checkTolerance is what float32 arithmetic may cost: the backward term is
// read off a sum with log f, which is some ten times larger.
const checkTolerance = 1e-4

// int8Tolerance is what rounding to 8 bits may cost. The backward term of correct
// weights is off by .01 to .07, .11 at most in 500 checks of small random models.
// With one matrix in the place of another it is off by .65 or more. The largest
// difference says less: it depends on how large the few terms tried happen to be.
const int8Tolerance = 0.15

// Check compares log-probabilities and gradients with a float64 evaluation of
// the model file that shares no code with the runtime or with the derivation:
// ∂/∂e_j along E_v by central differences,
//
//	E_v · Σ_{i≠j} ∂log f_i/∂e_j ≈ (S(e_j + h·E_v) − S(e_j − h·E_v)) / 2h,  S = Σ_{i≠j} log f_i.
//
// Errors: ErrNoGradient, with the reason and the remedy, if the model has no
// gradient to check; onnxref.ErrOp if the float64 reference does not know an
// operator.
func (m *Model) Check(ctx context.Context, o CheckOptions) (*CheckReport, error) {
	if o.Blanks == 0 {
		o.Blanks = 3
	}
	if o.Directions == 0 {
		o.Directions = 3
	}
	if o.Blanks < 2 || o.Blanks > 64 || o.Directions < 1 || o.Directions > 1000 {
		return nil, fmt.Errorf("%w: %d blanks (2 to 64), %d directions (1 to 1000)", ErrOption, o.Blanks, o.Directions)
	}
	if !m.info.Gradients {
		return nil, fmt.Errorf("%w: %s", ErrNoGradient, m.info.NoGradients)
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x636865636b))
	s, state, err := m.checkSentence(o, rng)
	if err != nil {
		return nil, err
	}
	ref, err := m.reference(s, state)
	if err != nil {
		return nil, err
	}
	n, v := len(s.Blanks), m.info.Vocab
	lp, lpf := [][]float32{make([]float32, n)}, [][]float32{make([]float32, n)}
	full, first := [][]float32{make([]float32, n*v)}, [][]float32{make([]float32, n*v)}
	states := [][]int32{state}
	if err := errors.Join(m.Gradient(ctx, s, states, Full, lp, full), m.Gradient(ctx, s, states, Forward, lpf, first)); err != nil {
		return nil, err
	}
	r := &CheckReport{Blanks: n, Tolerance: checkTolerance}
	base, err := ref.conditionals(nil)
	if err != nil {
		return nil, err
	}
	for i := range n {
		r.LogProbError = worse(r.LogProbError, float64(lp[0][i])-base[i][state[i]])
		for t := range v {
			r.FirstTermError = worse(r.FirstTermError, float64(first[0][i*v+t])-base[i][t])
		}
	}
	worst, wrong, right := 0.0, 0.0, 0.0
	for j := range n {
		for range o.Directions {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			t := m.ordinary(rng)
			want, err := ref.derivative(j, t)
			if err != nil {
				return nil, err
			}
			at := j*v + int(t)
			off := float64(full[0][at]) - float64(first[0][at]) - want
			worst = worse(worst, off)
			wrong, right = wrong+off*off, right+want*want
			r.GradientScale = worse(r.GradientScale, want)
			r.Directions++
		}
	}
	r.GradientError = worst
	if r.GradientScale > 0 {
		r.GradientError, r.GradientRMS = worst/r.GradientScale, math.Sqrt(wrong/right)
	}
	within := r.GradientError <= r.Tolerance
	if m.info.precision == Int8 {
		r.RMSTolerance = int8Tolerance
		within = r.GradientRMS <= int8Tolerance
	}
	r.OK = within && r.LogProbError <= r.Tolerance && r.FirstTermError <= 10*r.Tolerance && r.GradientScale > 0
	return r, nil
}

// worse is the larger of a and |d|; NaN is the worst of all.
func worse(a, d float64) float64 {
	if math.IsNaN(d) || math.IsNaN(a) {
		return math.NaN()
	}
	return max(a, math.Abs(d))
}

// ordinary picks a token that text can hold.
func (m *Model) ordinary(rng *rand.Rand) int32 {
	for {
		id := int32(rng.IntN(m.tok.VocabSize()))
		if !m.tok.IsSpecial(id) && !m.tok.IsUnused(id) {
			return id
		}
	}
}

// checkSentence is the text of the options, or random tokens, with random
// blanks and a random state.
func (m *Model) checkSentence(o CheckOptions, rng *rand.Rand) (*Sentence, []int32, error) {
	s := &Sentence{}
	var places []int
	if o.Text != "" {
		enc, err := m.tok.Encode(o.Text)
		if err != nil {
			return nil, nil, err
		}
		s.IDs = slices.Clone(enc.IDs)
		for p, special := range enc.Special {
			if !special {
				places = append(places, p)
			}
		}
	} else {
		s.IDs = append(s.IDs, m.tok.CLSID())
		for range max(8, 2*o.Blanks) {
			places = append(places, len(s.IDs))
			s.IDs = append(s.IDs, m.ordinary(rng))
		}
		s.IDs = append(s.IDs, m.tok.SEPID())
	}
	if len(places) < o.Blanks {
		return nil, nil, fmt.Errorf("%w: %d pieces, %d blanks are wanted", ErrOption, len(places), o.Blanks)
	}
	for _, k := range rng.Perm(len(places))[:o.Blanks] {
		s.Blanks = append(s.Blanks, places[k])
	}
	slices.Sort(s.Blanks)
	var state []int32
	for _, p := range s.Blanks {
		state = append(state, s.IDs[p])
	}
	return s, state, m.check(s, [][]int32{state}, nil)
}

// reference evaluates the m rows of one state in float64.
type reference struct {
	eval      *onnxref.Evaluator
	inputs    map[string]*onnxref.Tensor
	logits    string
	embedding string          // what the word embeddings come out as, [m, L, H]
	embedded  *onnxref.Tensor // its value
	table     *onnxref.Tensor // E, [V, H]
	blanks    []int
	state     []int32
}

func (m *Model) reference(s *Sentence, state []int32) (*reference, error) {
	parsed, done, err := m.from.parse(m.info.File)
	defer done()
	if err != nil {
		return nil, err
	}
	parsed = onnxref.Separate(parsed)
	gather := onnxref.WordLookup(parsed.Graph)
	if gather == nil {
		return nil, fmt.Errorf("%w: no Gather looks input_ids up in a table", ErrNotMasked)
	}
	ref := &reference{logits: logits(parsed).Name, embedding: gather.Outputs[0], blanks: s.Blanks, state: state}
	if ref.eval, err = onnxref.New(parsed); err != nil {
		return nil, err
	}
	n, l := len(s.Blanks), len(s.IDs)
	ids, mask, types := make([]int64, n*l), make([]int64, n*l), make([]int64, n*l)
	for i := range n {
		for p, id := range s.IDs {
			ids[i*l+p], mask[i*l+p] = int64(id), 1
		}
		for j, p := range s.Blanks {
			ids[i*l+p] = int64(state[j])
		}
		ids[i*l+s.Blanks[i]] = int64(m.info.MaskID)
	}
	shape := []int{n, l}
	feeds := map[string]*onnxref.Tensor{
		"input_ids": onnxref.NewInt(shape, ids), "attention_mask": onnxref.NewInt(shape, mask),
		"token_type_ids": onnxref.NewInt(shape, types), "position_ids": onnxref.NewInt(shape, counting(n, l, m.info.firstPosition)),
	}
	ref.inputs = map[string]*onnxref.Tensor{}
	for _, name := range m.info.Inputs {
		ref.inputs[name] = feeds[name]
	}
	got, err := ref.eval.Run(ref.inputs, ref.embedding, gather.Inputs[0])
	if err != nil {
		return nil, err
	}
	ref.embedded, ref.table = got[0], got[1]
	if len(ref.table.Shape) != 2 || len(ref.embedded.Shape) != 3 {
		return nil, fmt.Errorf("%w: word embeddings of shape %v from a table of %v", ErrNotMasked, ref.embedded.Shape, ref.table.Shape)
	}
	return ref, nil
}

// parse reads and checks the model file again; it is not kept in memory. done
// ends access to the weights that were left in the folder's files.
func (f folder) parse(name string) (m *onnx.Model, done func(), err error) {
	done = func() {}
	fsys := f.fs
	if f.dir != "" {
		root, err := os.OpenRoot(f.dir)
		if err != nil {
			return nil, done, fmt.Errorf("%w: %w", ErrNoModel, err)
		}
		fsys, done = root.FS(), func() { _ = root.Close() }
	}
	m, err = onnx.Load(fsys, name)
	return m, done, err
}

// conditionals are log f(· | …) at the blank of every row, in float64, with
// the word embeddings replaced if given.
func (r *reference) conditionals(embedded *onnxref.Tensor) ([][]float64, error) {
	in := map[string]*onnxref.Tensor{}
	for k, t := range r.inputs {
		in[k] = t
	}
	if embedded != nil {
		in[r.embedding] = embedded
	}
	got, err := r.eval.Run(in, r.logits)
	if err != nil {
		return nil, err
	}
	l, v := got[0].Shape[1], got[0].Shape[2]
	out := make([][]float64, len(r.blanks))
	for i, p := range r.blanks {
		row := slices.Clone(got[0].F[(i*l+p)*v : (i*l+p+1)*v])
		top, sum := slices.Max(row), 0.0
		for _, x := range row {
			sum += math.Exp(x - top)
		}
		for t := range row {
			row[t] -= top + math.Log(sum)
		}
		out[i] = row
	}
	return out, nil
}

// derivative is E_v · Σ_{i≠j} ∂log f(θ_i | …)/∂e_j by central differences.
func (r *reference) derivative(j int, v int32) (float64, error) {
	l, h := r.embedded.Shape[1], r.embedded.Shape[2]
	direction := r.table.F[int(v)*h : (int(v)+1)*h]
	at := func(i int) []float64 { return r.embedded.F[(i*l+r.blanks[j])*h : (i*l+r.blanks[j]+1)*h] }
	other := 0
	if j == 0 {
		other = 1
	}
	length := norm(direction)
	if length == 0 {
		return 0, nil
	}
	// Small against the embedding, so that the cubic term is; large against
	// the rounding of float64.
	step := 1e-4 * max(norm(at(other)), 1e-3) / length
	var sums [2]float64
	for side, sign := range []float64{1, -1} {
		moved := onnxref.NewFloat(r.embedded.Shape, slices.Clone(r.embedded.F))
		for i := range r.blanks {
			row := moved.F[(i*l+r.blanks[j])*h : (i*l+r.blanks[j]+1)*h]
			for k, d := range direction {
				row[k] += sign * step * d
			}
		}
		cond, err := r.conditionals(moved)
		if err != nil {
			return 0, err
		}
		for i, row := range cond {
			if i != j {
				sums[side] += row[r.state[i]]
			}
		}
	}
	return (sums[0] - sums[1]) / (2 * step), nil
}

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}
