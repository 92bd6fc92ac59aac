package infill

import (
	"context"
	"sync"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/models"
	"infill/samplers"
)

// repeatsIf is the rule that no word is filled in twice, or none.
var repeatsIf = map[bool]text.Repeats{true: text.RepeatText}

const tinyFolder = "../mlm/testdata/tiny-bert"

// smallModel is shared by the tests that only ask it.
var smallModel = sync.OnceValues(func() (*mlm.Model, error) {
	return mlm.Open(context.Background(), models.Small(), mlm.Options{Threads: 2})
})

func openSmall(t testing.TB) *mlm.Model {
	t.Helper()
	m, err := smallModel()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// zeros has n rows of a width.
func zeros[T any](n, width int) [][]T {
	out := make([][]T, n)
	for k := range out {
		out[k] = make([]T, width)
	}
	return out
}

// hamming is the number of coordinates that all chains changed.
func hamming(chains []samplers.Stats) (n int) {
	for _, s := range chains {
		n += s.Hamming
	}
	return n
}
