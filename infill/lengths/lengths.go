// Package lengths says how long a gap of a text is, in pieces of a model's vocabulary.
//
// P(n | text) is a multinomial regression from three states of the model (see [mlm.Model.States]):
// the one at the gap filled with one mask, and those at the first and the last of three masks.
// [Learn] fits it to gaps of a text. Its numbers stand in a small file beside the model.
package lengths

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/internal/binary16"
	"infill/mlm"
	"infill/models/weights"
)

// File is the name of the file beside a model.
const File = weights.Lengths

// MaxBytes bounds the size of the file.
const MaxBytes = 4 << 20

// classes are the lengths that are told apart. The last stands for itself and all above.
const classes = 8

// tail is by how much each length from the last class on is rarer than the one before.
const tail = 0.5

// reads are the states that the regression reads: how many masks fill the gap, and which of them it
// is.
var reads = [...]struct{ masks, at int }{{1, 0}, {3, 0}, {3, 2}}

// ErrFile is a file that cannot be read. What is wrong comes with it.
var ErrFile = errors.New(File + " cannot be used")

// Shares says how likely each length of a gap is.
type Shares struct {
	width  int       // H of a state; 0: the text has no part in it
	weight []float32 // [classes, reads·H]
	bias   []float32 // [classes]
	// prior is P(n) of gaps of any text.
	prior []float32
	// words is P(w | n) of w words, from one, in n pieces: [mostWords, classes].
	words []float32
}

// mostWords is the most words of the gaps that shares are learned from.
const mostWords = 4

// Constant are the shares of lengths in English text, for models that were taught nothing better.
// 40,000 gaps of one to four words have them, in the vocabulary of BERT.
func Constant() *Shares {
	return &Shares{prior: []float32{.316, .314, .168, .157, .026, .012, .004, .003},
		words: []float32{
			.9997, .036, .037, .015, .014, .012, .01, .01,
			.0001, .9638, .105, .064, .148, .072, .09, .09,
			.0001, .0001, .857, .07, .272, .24, .25, .25,
			.0001, .0001, .001, .851, .566, .676, .65, .65}}
}

// Source is "learned", or "constant" where the text has no part in the shares.
func (s *Shares) Source() string {
	if s.width > 0 {
		return "learned"
	}
	return "constant"
}

// A GapFunc is a gap of a text with a number of masks in it: the sentence, and which of its blanks
// is the first of the gap.
type GapFunc func(masks int) (s *mlm.Sentence, first int)

// A Range are the lengths that a gap can have.
type Range struct {
	Least, Most           int // pieces
	LeastWords, MostWords int // words, both 0 for any number
}

// Of is log P(n | text) of a gap for the lengths n of a range, in nats. rows is how many rows of
// the model that takes. The error comes from [mlm.Model.States].
func (s *Shares) Of(ctx context.Context, m *mlm.Model, gap GapFunc, r Range) (logP []float64,
	rows int, err error) {
	all := make([]float64, classes)
	for c := range all {
		all[c] = math.Log(float64(s.prior[c]))
	}
	if s.width > 0 {
		var x []float32
		if x, rows, err = states(ctx, m, gap); err != nil {
			return nil, 0, err
		}
		if len(x) != len(reads)*s.width {
			return nil, 0, fmt.Errorf("%w: it is for states of %d values, and the model has %d", ErrFile,
				s.width, len(x)/len(reads))
		}
		all = s.regress(x)
	}
	for c := range all {
		all[c] += s.ofWords(c, r)
	}
	return within(all, r.Least, r.Most), rows, nil
}

// ofWords is log P of the words of a range given a class of lengths. It is 0 where any number
// counts, or more than was learned. The text says nothing of the words but what it says of the
// length.
func (s *Shares) ofWords(class int, r Range) float64 {
	if r.MostWords == 0 || r.MostWords > mostWords {
		return 0
	}
	sum := 0.0
	for w := r.LeastWords; w <= r.MostWords; w++ {
		sum += float64(s.words[(w-1)*classes+class])
	}
	return math.Log(sum)
}

// states are what the regression reads of a gap.
func states(ctx context.Context, m *mlm.Model, gap GapFunc) (x []float32, rows int, err error) {
	h := m.StateWidth()
	for masks := 1; masks <= 3; masks += 2 {
		s, first := gap(masks)
		var at []int
		for _, r := range reads {
			if r.masks == masks {
				at = append(at, first+r.at)
			}
		}
		out := make([][]float32, len(at))
		for i := range out {
			out[i] = make([]float32, h)
		}
		if err := m.States(ctx, s, at, out); err != nil {
			return nil, 0, err
		}
		for _, v := range out {
			x = append(x, v...)
		}
		rows += len(at)
	}
	return x, rows, nil
}

// regress is log P of all classes.
func (s *Shares) regress(x []float32) []float64 {
	out := make([]float64, classes)
	for c := range out {
		sum := float64(s.bias[c])
		for i, w := range s.weight[c*len(x) : (c+1)*len(x)] {
			sum += float64(w) * float64(x[i])
		}
		out[c] = sum
	}
	norm := logSum(out)
	for c := range out {
		out[c] -= norm
	}
	return out
}

// within are the shares of the lengths from least to most, given that the length is one of these.
func within(all []float64, least, most int) []float64 {
	out := make([]float64, most-least+1)
	for i := range out {
		switch n := least + i; {
		case n < classes:
			out[i] = all[n-1]
		default: // a geometric series that sums to 1
			out[i] = all[classes-1] + math.Log(1-tail) + float64(n-classes)*math.Log(tail)
		}
	}
	norm := logSum(out)
	for i := range out {
		out[i] -= norm
	}
	return out
}

// logSum is log Σ exp.
func logSum(x []float64) float64 {
	top, sum := slices.Max(x), 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// Parse reads a file that Bytes wrote. Errors wrap ErrFile.
func Parse(data []byte) (*Shares, error) {
	all, err := weights.Floats(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	s := &Shares{prior: all["prior"], bias: all["bias"], weight: all["weight"],
		words: all["words"]}
	s.width = len(s.weight) / (classes * len(reads))
	switch {
	case len(s.words) != mostWords*classes:
		return nil, fmt.Errorf("%w: %d shares of words, want %d", ErrFile, len(s.words),
			mostWords*classes)
	case len(s.prior) != classes || len(s.bias) != classes || s.width == 0 ||
		len(s.weight) != classes*len(reads)*s.width:
		return nil, fmt.Errorf("%w: %d shares, %d biases and %d weights, want %d, %d and %d for each "+
			"value of three states", ErrFile, len(s.prior), len(s.bias), len(s.weight), classes, classes,
			classes)
	}
	for _, list := range [][]float32{s.prior, s.words, s.bias, s.weight} {
		for _, v := range list {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("%w: a number is %v", ErrFile, v)
			}
		}
	}
	for _, p := range slices.Concat(s.prior, s.words) {
		if p <= 0 {
			return nil, fmt.Errorf("%w: a share is %v, want all above 0", ErrFile, p)
		}
	}
	return s, nil
}

// Bytes is the file of learned shares.
func (s *Shares) Bytes() []byte {
	half := make([]byte, 0, 2*len(s.weight))
	for _, w := range s.weight {
		half = binary.LittleEndian.AppendUint16(half, binary16.Round(w))
	}
	wide := func(x []float32) (b []byte) {
		for _, v := range x {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return b
	}
	var head, body strings.Builder
	add := func(name, kind, shape string, data []byte) {
		fmt.Fprintf(&head, `,"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}`, name, kind, shape,
			body.Len(), body.Len()+len(data))
		body.Write(data)
	}
	add("bias", "F32", fmt.Sprint(classes), wide(s.bias))
	add("prior", "F32", fmt.Sprint(classes), wide(s.prior))
	add("words", "F32", fmt.Sprintf("%d,%d", mostWords, classes), wide(s.words))
	add("weight", "F16", fmt.Sprintf("%d,%d", classes, len(reads)*s.width), half)
	text := "{" + head.String()[1:] + "}"
	text += strings.Repeat(" ", -len(text)&7)
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return append(append(out, text...), body.String()...)
}
