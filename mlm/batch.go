package mlm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"infill/mlm/onnxgrad"
)

// kind is what a batch computes; batches are of one kind.
type kind uint8

const (
	energyRow      kind = iota // log f of one token at one blank
	conditionalRow             // log f of the vocabulary at one blank
	gradientGroup              // log f and ∇U of one state: m consecutive rows
)

// key is what units must have in common to share a batch. Nothing is padded: a
// pad costs as much as a piece, small batches cost hardly more than large ones,
// and the last bits of a result then depend on the sentence alone.
type key struct {
	kind   kind
	length int // of the sentence, special tokens included
	group  int // rows of a unit
	// foreign units come from a caller that gave up no place of this model to wait for them. It may
	// keep one, so they never wait for a place.
	foreign bool
}

func (k key) tokens() int { return k.group * k.length }

// batchOf is the size of a batch of n units, in tokens.
func (s *scheduler) batchOf(k key, n int) int { return max(n*k.group, s.bounds.rows(k)) * k.length }

// unit is the least piece of work: a row, or the rows of one state's gradient.
type unit struct {
	key   key
	call  *call
	state []int32 // nil: every blank masked
	blank int     // masked and asked for; -1 for a group, which has them all
	// deliver takes what was computed: logProb per row and, depending on the
	// kind, V or m·V values. Both are only valid during the call.
	deliver func(logProb, wide []float32)
	reads   []float32 // takes what the head reads in the unit's first row; may be nil
}

// call is one caller's request.
type call struct {
	ctx     context.Context
	number  uint64 // in the order of arrival
	s       *Sentence
	pending atomic.Int64
	done    chan struct{}
	mu      sync.Mutex
	err     error
}

func (c *call) finish(n int) {
	if n > 0 && c.pending.Add(int64(-n)) == 0 {
		close(c.done)
	}
}

func (c *call) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

func (c *call) error() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// batch is what a backend evaluates: rows × length ids and, per row, the
// position that is asked about and the token there. The result slices are as
// long as the kind needs and empty otherwise.
type batch struct {
	key
	rows      int
	ids, mask []int64 // [rows, length]
	types     []int64 // [rows, length], all zero
	positions []int64 // [rows]
	targets   []int64 // [rows]
	blanks    []int64 // [rows/group, group]
	call      onnxgrad.Call
	distinct  int // positions that the backend computes before the first attention
	logProb   []float32
	wide      []float32 // [rows, V] or [rows/group, group, V]
	state     []float32 // [rows, H], what the head reads; empty where that is not known
}

// A backend evaluates batches. Several goroutines call run at once.
type backend interface {
	// run fills in the results of b. The end of ctx may stop it.
	run(ctx context.Context, b *batch) error
	// bounds are those that the memory of this backend asks for.
	bounds() bounds
	// close frees the backend when no run is under way any more.
	close() error
}

// counter counts what was evaluated of a kind.
type counter struct{ runs, rows, tokens, distinct, took atomic.Int64 }

func (c *counter) add(b *batch, took time.Duration) {
	c.runs.Add(1)
	c.took.Add(int64(took))
	c.rows.Add(int64(b.rows))
	c.tokens.Add(int64(b.rows * b.length))
	c.distinct.Add(int64(b.distinct))
}

// minRows is the least number of rows of a batch that is not fixed; a single one is evaluated
// twice. Products with one row are computed by another routine than those with
// several (matrix times vector), which adds in another order: without this a
// result would depend on whether its row had company.
const minRows = 2

// fill writes the rows of the units into b.
func (s *scheduler) fill(b *batch, units []*unit) {
	b.key = units[0].key
	for least := s.bounds.rows(b.key); len(units)*b.group < least; {
		units = append(units[:len(units):len(units)], units[0])
	}
	b.rows = len(units) * b.group
	n := b.rows * b.length
	b.distinct = n
	b.ids, b.mask, b.types = grow(b.ids, n), grow(b.mask, n), grow(b.types, n)
	b.positions, b.targets, b.blanks = grow(b.positions, b.rows), grow(b.targets, b.rows),
		grow(b.blanks, b.rows)
	b.logProb = grow(b.logProb, b.rows)
	b.state = grow(b.state, b.rows*s.facts.state)
	if b.kind == energyRow {
		b.wide = b.wide[:0]
	} else {
		b.wide = grow(b.wide, b.rows*s.facts.Vocab)
	}
	r := 0
	for _, u := range units {
		for j := range b.group {
			blank := u.blank
			if blank < 0 {
				blank = j
			}
			s.fillRow(b, r, u, blank)
			r++
		}
	}
}

func (s *scheduler) fillRow(b *batch, r int, u *unit, blank int) {
	row, mask := b.ids[r*b.length:(r+1)*b.length], b.mask[r*b.length:(r+1)*b.length]
	src := u.call.s
	for p, id := range src.IDs {
		row[p], mask[p] = int64(id), 1
	}
	for j, p := range src.Blanks {
		if u.state == nil || j == blank {
			row[p] = int64(s.facts.MaskID)
		} else {
			row[p] = int64(u.state[j])
		}
	}
	at := int64(src.Blanks[blank])
	b.positions[r], b.blanks[r], b.targets[r] = at, at, 0
	if u.state != nil {
		b.targets[r] = max(0, int64(u.state[blank])) // a masked blank may hold anything
		if b.targets[r] >= int64(s.facts.Vocab) {
			b.targets[r] = 0
		}
	}
}

// grow returns a slice of n elements, s itself if it has the room. What it
// holds is left over from before.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
