package corpus

import (
	"math/rand/v2"
	"slices"
)

// Reservoir draws a uniform sample without replacement from a stream of unknown
// length in one pass (Vitter's algorithm R) and returns it in stream order. The
// same size, seed and stream give the same sample.
type Reservoir[T any] struct {
	size  int
	rng   *rand.Rand
	seen  int
	items []reserved[T]
}

type reserved[T any] struct {
	at   int
	item T
}

// NewReservoir returns a sampler of size items. Size 0 or less keeps everything.
func NewReservoir[T any](size int, seed uint64) *Reservoir[T] {
	return &Reservoir[T]{size: size, rng: rand.New(rand.NewPCG(seed, 0x5a3c1e0f96d2b487))}
}

// Add offers the next item of the stream.
func (r *Reservoir[T]) Add(item T) {
	at := r.seen
	r.seen++
	if r.size <= 0 || len(r.items) < r.size {
		r.items = append(r.items, reserved[T]{at, item})
		return
	}
	if k := r.rng.IntN(r.seen); k < r.size {
		r.items[k] = reserved[T]{at, item}
	}
}

// Seen returns how many items were offered.
func (r *Reservoir[T]) Seen() int { return r.seen }

// Items returns the sample in the order of the stream.
func (r *Reservoir[T]) Items() []T {
	kept := slices.Clone(r.items)
	slices.SortFunc(kept, func(a, b reserved[T]) int { return a.at - b.at })
	out := make([]T, len(kept))
	for i, k := range kept {
		out[i] = k.item
	}
	return out
}
