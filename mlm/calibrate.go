package mlm

import (
	"cmp"
	"context"
	_ "embed" // the text
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/tokenize"
)

// Products in 8 bits are nearly those of float32 if a few columns of what matrices are multiplied
// with stay in float32: those with the largest numbers over a text. Models of the program state
// theirs. Those of others are chosen here, and refused if the rounding still costs too much.

//go:embed calibration.txt
var calibrationText string

// mostDivergence is the most that the conditionals of the text may lose: KL(float32 ‖ 8 bits) of a
// masked piece, in nats.
const mostDivergence = .003

// exactColumns are how many columns stay in float32: the first number that costs little enough.
var exactColumns = []int{4, 16, 64}

// errRounding: in 8 bits the model would be another one.
var errRounding = errors.New("products in 8 bits change the model")

// A calibrator runs a model on the text.
type calibrator struct {
	from  source.Folder
	graph *onnx.Model
	tok   *tokenize.Tokenizer
	info  *facts
	o     options
}

// columns gives what [onnxgrad.Options].Exact takes.
func (c *calibrator) columns(ctx context.Context) ([][]int, error) {
	if stated := c.info.config.Exact; stated != nil {
		return stated, nil
	}
	batches, err := c.batches()
	if err != nil {
		return nil, err
	}
	exact := &conditionals{}
	largest, err := c.run(ctx, onnxgrad.Options{Whole: true}, batches, exact)
	if err != nil {
		return nil, err
	}
	lost := 0.0
	for _, n := range exactColumns {
		columns := make([][]int, len(largest))
		for k, sizes := range largest {
			columns[k] = mostOf(sizes, n)
		}
		rounded := &conditionals{beside: exact}
		if _, err := c.run(ctx, onnxgrad.Options{Whole: true, Int8: true, Exact: columns}, batches,
			rounded); err != nil {
			return nil, err
		}
		if lost = rounded.divergence / float64(rounded.rows); lost <= mostDivergence {
			return columns, nil
		}
	}
	return nil, fmt.Errorf("%w: a masked piece loses %.3g nats with %d columns in %s, and %.3g is "+
		"the most; open it in %s", errRounding, lost, exactColumns[len(exactColumns)-1], Float32,
		mostDivergence, Float32)
}

// WholeInt8 is the file of the model in fsys with its products in 8 bits: its inputs, and the
// logits of the model that [Int8] evaluates, by operators of ONNX alone. It is nil unless
// config.json states the columns that stay exact. [Open] has the same errors of files.
func WholeInt8(ctx context.Context, fsys fs.FS) (file []byte, err error) {
	c, err := source.Files{Beside: fsys}.Config()
	if err != nil || c.Exact == nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &opener{from: source.Folder{FS: fsys}}
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	defer func() { cancel(); _, _ = p.hashes() }()
	d, err := onnxgrad.Derive(p.graph.Freed(), onnxgrad.Options{Whole: true, Int8: true,
		Exact: c.Exact})
	if err != nil {
		return nil, p.named(err)
	}
	return d.Model.Marshal()
}

// mostOf are the places of the n largest numbers, ascending. Of equal ones the first count.
func mostOf(sizes []float32, n int) []int {
	out := make([]int, len(sizes))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	out = out[:min(n, len(out))]
	slices.Sort(out)
	return out
}

// mostTogether is how many rows of the text are evaluated together.
const mostTogether = 8

// batches are the lines of the text, each with one piece masked, by their lengths. A tokenizer that
// does not know their words gives rows of any of its pieces.
func (c *calibrator) batches() (out []*batch, err error) {
	type row struct {
		ids []int32
		at  int
	}
	byLength := map[int][]row{}
	number := 0
	for line := range strings.Lines(calibrationText) {
		enc, err := c.tok.Encode(strings.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		ids, special := enc.IDs, enc.Special
		if most := c.info.MaxLength; most > 0 && len(ids) > most { // what ends a text stays
			ids, special = append(ids[:most-1:most-1], ids[len(ids)-1]), special[:most]
			special[most-1] = true
		}
		var words []int
		unknown := 0
		for p := range ids {
			if !special[p] {
				words = append(words, p)
			}
			if ids[p] == c.tok.UNKID() {
				unknown++
			}
		}
		number++
		if len(words) == 0 {
			continue
		}
		if 2*unknown > len(words) {
			rng := rand.New(rand.NewPCG(uint64(number), 0)) //nolint:gosec // not for secrets
			for _, p := range words {
				ids[p] = c.tok.MaskID()
				for tries := 0; c.tok.IsSpecial(ids[p]) && tries < 1000; tries++ {
					ids[p] = int32(rng.IntN(c.tok.VocabSize()))
				}
			}
		}
		at := words[number*7919%len(words)]
		ids[at] = c.tok.MaskID()
		byLength[len(ids)] = append(byLength[len(ids)], row{ids, at})
	}
	for length, rows := range byLength {
		for part := range slices.Chunk(rows, mostTogether) {
			b := &batch{key: key{length: length, group: 1}, rows: len(part),
				mask: slices.Repeat([]int64{1}, len(part)*length), types: make([]int64, len(part)*length)}
			for _, r := range part {
				for _, id := range r.ids {
					b.ids = append(b.ids, int64(id))
				}
				b.positions = append(b.positions, int64(r.at))
			}
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no line of the text fits the model", errRounding)
	}
	slices.SortFunc(out, func(a, b *batch) int {
		return cmp.Or(cmp.Compare(a.length, b.length), slices.Compare(a.ids, b.ids))
	})
	return out, nil
}

// run evaluates a graph of the whole file. largest has, by the number of a matrix, the largest
// sizes of each column of what it is multiplied with, nil for a graph in 8 bits.
func (c *calibrator) run(ctx context.Context, o onnxgrad.Options, batches []*batch,
	to *conditionals) (largest [][]float32, err error) {
	d, err := onnxgrad.Derive(c.graph, o)
	if err != nil {
		return nil, err
	}
	own := c.o
	own.device, own.about, own.Precision, own.LowMemory = device.Processor{}, device.About{}, Float32,
		false
	s, err := openSession(c.from, d.Model, d.Inputs, d.Outputs, own)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, numbers := range d.Watched {
		largest = append(largest, make([][]float32, len(numbers))...)
	}
	for _, b := range batches {
		out := make([]*ort.Tensor, len(d.Outputs))
		var f feeds
		err := f.run(ctx, s, b.sequences(&f, d.Inputs, c.info.firstPosition), out)
		f.close()
		if err != nil {
			return nil, err
		}
		logits, _ := out[0].Floats()
		to.add(b, logits)
		for k, numbers := range d.Watched {
			sizes, _ := out[1+k].Floats()
			for _, n := range numbers {
				largest[n] = larger(largest[n], sizes)
			}
		}
		for _, t := range out {
			t.Close()
		}
	}
	return largest, nil
}

// larger has the larger of two numbers in each place.
func larger(a, b []float32) []float32 {
	if a == nil {
		return slices.Clone(b)
	}
	for i, v := range b {
		a[i] = max(a[i], v)
	}
	return a
}

// conditionals are log softmax at the masked pieces of rows, one after another.
type conditionals struct {
	logP       [][]float32
	rows       int
	beside     *conditionals // to compare with
	divergence float64       // KL(beside ‖ these), summed over the rows
}

// add takes logits [rows, length, V].
func (c *conditionals) add(b *batch, logits []float32) {
	v := len(logits) / (b.rows * b.length)
	for r, p := range b.positions {
		row := logits[(r*b.length+int(p))*v:][:v]
		norm, logP := logSum(row), make([]float32, v)
		for i, x := range row {
			logP[i] = float32(float64(x) - norm)
		}
		if c.beside == nil {
			c.logP = append(c.logP, logP)
		} else {
			for i, q := range c.beside.logP[c.rows] {
				c.divergence += math.Exp(float64(q)) * float64(q-logP[i])
			}
		}
		c.rows++
	}
}
