package read

import (
	"math/rand/v2"
	"slices"
)

// reservoir draws a uniform sample without replacement from a stream of unknown
// length in one pass (Vitter's algorithm R) and returns it in stream order. The
// same size, seed and stream give the same sample.
type reservoir[T any] struct {
	size int // at least 1
	rng  *rand.Rand
	seen int
	kept []reserved[T]
}

type reserved[T any] struct {
	at   int
	item T
}

func newReservoir[T any](size int, seed uint64) *reservoir[T] {
	return &reservoir[T]{size: size, rng: rand.New(rand.NewPCG(seed, 0x5a3c1e0f96d2b487))}
}

// add offers the next item of the stream.
func (r *reservoir[T]) add(item T) {
	at := r.seen
	r.seen++
	if len(r.kept) < r.size {
		r.kept = append(r.kept, reserved[T]{at, item})
	} else if k := r.rng.IntN(r.seen); k < r.size {
		r.kept[k] = reserved[T]{at, item}
	}
}

// items are the sample in the order of the stream.
func (r *reservoir[T]) items() []T {
	slices.SortFunc(r.kept, func(a, b reserved[T]) int { return a.at - b.at })
	out := make([]T, len(r.kept))
	for i, k := range r.kept {
		out[i] = k.item
	}
	return out
}
