package papers

import "sync"

// Lists to work in, so that a step of a sampler allocates nothing. Who takes one puts it back.
var listsOfInts, listsOfFloats sync.Pool

// takeInts takes an empty list with room for n numbers.
func takeInts(n int) *[]int { return take[int](&listsOfInts, n) }

// takeFloats takes an empty list with room for n numbers.
func takeFloats(n int) *[]float64 { return take[float64](&listsOfFloats, n) }

func take[T any](pool *sync.Pool, n int) *[]T {
	if list, ok := pool.Get().(*[]T); ok && cap(*list) >= n {
		return list
	}
	list := make([]T, 0, n)
	return &list
}
