package mlm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"infill/internal/ort"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
)

// plain runs the model file as it is. It computes logits at every position and
// uses those of one position of each row. It serves models whose gradient cannot
// be derived, such as quantised ones: slower, without full gradients, with the
// same energies.
type plain struct {
	s     *ort.Session
	facts *facts
	limit bounds
	alone bool // a row's result depends on what shares its run
}

// maxPlainLogits bounds the logits of one run, in values (64 MB).
const maxPlainLogits = 16 << 20

func newPlain(ctx context.Context, from source.Folder, m *export.Masked, info *facts,
	o options) (*plain, error) {
	exact, err := o.exact(m.Model)
	if err != nil {
		return nil, err
	}
	o, limit := o.sized(export.Of(exact).WeightBytes(), 0)
	s, err := openSession(from, exact, info.Inputs, []string{m.Logits}, o)
	if err != nil {
		return nil, err
	}
	info.newHead = m.NewHead()
	p := &plain{s: s, facts: info, limit: limit, alone: m.Alone()}
	if info.Vocab == 0 {
		if info.Vocab, err = p.probe(ctx); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	return p, nil
}

// probeLength is the length of the row that probe runs, if the file does not fix it.
const probeLength = 8

// probe finds V by running one row, for files that do not state it.
func (p *plain) probe(ctx context.Context) (int, error) {
	rows, length := max(1, p.facts.fixed.Rows), probeLength
	if p.facts.fixed.Length > 0 {
		length = p.facts.fixed.Length
	}
	n := rows * length
	b := batch{key: key{length: length, group: 1}, rows: rows, ids: make([]int64, n),
		mask: slices.Repeat([]int64{1}, n), types: make([]int64, n)}
	var f feeds
	defer f.close()
	out := []*ort.Tensor{nil}
	if err := f.run(ctx, p.s, b.sequences(&f, p.facts.Inputs, p.facts.firstPosition),
		out); err != nil {
		return 0, err
	}
	defer out[0].Close()
	shape := out[0].Shape()
	if len(shape) != 3 || shape[0] != int64(rows) || shape[1] != int64(length) || shape[2] < 1 ||
		shape[2] > 1<<24 {
		return 0, fmt.Errorf("%w: logits of shape %v, expected [%d %d vocabulary]", errNotMasked, shape,
			rows, length)
	}
	return int(shape[2]), nil
}

func (p *plain) bounds() bounds { return p.limit }

func (p *plain) close() error { return p.s.Close() }

func (p *plain) run(ctx context.Context, b *batch) error {
	// Rows are independent, so a batch may be cut at any row. Where activations
	// are rounded by the range of all that is in the batch, it must be cut at
	// every row, or a result would depend on its neighbours.
	sizes := p.facts.fixed
	length := max(b.length, sizes.Length)
	most := max(1, maxPlainLogits/(length*p.facts.Vocab))
	if p.alone {
		most = 1
	}
	if sizes.Rows > 0 {
		most = min(most, sizes.Rows)
	}
	buf := make([]float32, max(min(b.rows, most), sizes.Rows)*length*p.facts.Vocab)
	for from := 0; from < b.rows; from += most {
		if err := p.some(ctx, b, from, min(from+most, b.rows), buf); err != nil {
			return err
		}
	}
	return nil
}

func (p *plain) some(ctx context.Context, b *batch, from, to int, buf []float32) error {
	l, v := b.length, p.facts.Vocab
	part := b.part(from, to)
	if p.facts.fixed != (export.Sizes{}) {
		part = sizedBatch(p.facts.fixed, b, from, to, p.facts.pad)
		l = part.length
	}
	buf = buf[:part.rows*l*v]
	var f feeds
	defer f.close()
	out := []*ort.Tensor{feed(&f, buf, int64(part.rows), int64(l), int64(v))}
	if err := f.run(ctx, p.s, part.sequences(&f, p.facts.Inputs, p.facts.firstPosition),
		out); err != nil {
		return err
	}
	for r := from; r < to; r++ {
		at := (r-from)*l + int(b.positions[r])
		row := buf[at*v : (at+1)*v]
		norm := logSum(row)
		b.logProb[r] = float32(float64(row[b.targets[r]]) - norm)
		if b.kind == conditionalRow {
			dst := b.wide[r*v : (r+1)*v]
			for i, x := range row {
				dst[i] = float32(float64(x) - norm)
			}
		}
	}
	return nil
}

// logSum is log Σ exp of a row of logits.
func logSum(row []float32) float64 {
	top := float64(slices.Max(row))
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range row {
		sum += math.Exp(float64(x) - top)
	}
	return top + math.Log(sum)
}

// exact gives a model of products of integers, with unsigned weights where the processor
// needs them.
// The runtime must be loaded.
func (o options) exact(m *onnx.Model) (*onnx.Model, error) {
	if !export.Of(m).MultipliesIntegers() {
		return m, nil
	}
	if !o.unsigned {
		if wrong, err := saturates(); err != nil || !wrong {
			return m, err
		}
	}
	return export.Of(m).UnsignedWeights()
}

// sizedBatch is rows from to to of a batch in the sizes of the file: short rows are filled up with
// the token for it, which the mask hides, and missing ones repeat the first.
func sizedBatch(f export.Sizes, b *batch, from, to int, pad int64) *batch {
	part := &batch{key: b.key, rows: to - from}
	if f.Length > 0 {
		part.length = f.Length
	}
	if f.Rows > 0 {
		part.rows = f.Rows
	}
	n := part.rows * part.length
	part.ids, part.mask = slices.Repeat([]int64{pad}, n), make([]int64, n)
	part.types = make([]int64, n)
	for r := range part.rows {
		row := from
		if r < to-from {
			row += r
		}
		copy(part.ids[r*part.length:], b.ids[row*b.length:(row+1)*b.length])
		copy(part.mask[r*part.length:], b.mask[row*b.length:(row+1)*b.length])
	}
	return part
}
