package mlm

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"infill/internal/ort"
)

// halving evaluates batches on a device with a memory of its own, which other programs use as well.
// A batch that does not fit is evaluated in halves, and so are those after it that are as large.
type halving struct {
	backend
	most atomic.Int64 // tokens that fit, 0 for any number
}

func (h *halving) run(ctx context.Context, b *batch) error {
	units := b.rows / b.group
	if most := h.most.Load(); most > 0 && units > 1 && int64(b.rows*b.length) > most {
		return h.halves(ctx, b)
	}
	err := h.backend.run(ctx, b)
	if !errors.Is(err, ort.ErrMemory) {
		return err
	}
	if units <= 1 || b.rows <= minRows {
		return fmt.Errorf("%d rows of %d tokens: %w", b.rows, b.length, err)
	}
	most := int64(units/2*b.group) * int64(b.length)
	for {
		now := h.most.Load()
		if now != 0 && now <= most || h.most.CompareAndSwap(now, most) {
			break
		}
	}
	return h.halves(ctx, b)
}

// halves evaluates the units of a batch in two parts.
func (h *halving) halves(ctx context.Context, b *batch) error {
	middle := b.rows / b.group / 2 * b.group
	for _, p := range [][2]int{{0, middle}, {middle, b.rows}} {
		part := b.part(p[0], p[1])
		if err := h.run(ctx, part); err != nil {
			return err
		}
		b.distinct += part.distinct
	}
	b.distinct -= b.rows * b.length // what fill began with
	return nil
}

// part is rows from to to of a batch, whole units, with the same memory.
func (b *batch) part(from, to int) *batch {
	width := 0
	if b.kind != energyRow {
		width = len(b.wide) / b.rows
	}
	n := b.length
	return &batch{key: b.key, rows: to - from, ids: b.ids[from*n : to*n], mask: b.mask[from*n : to*n],
		types: b.types[from*n : to*n], positions: b.positions[from:to], targets: b.targets[from:to],
		blanks: b.blanks[from:to], distinct: (to - from) * n, logProb: b.logProb[from:to],
		wide:  b.wide[from*width : to*width],
		state: b.state[from*len(b.state)/b.rows : to*len(b.state)/b.rows]}
}
