package mlm

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/tokenize"
)

// mutate spoils a copy of data in one of the ways in which files go wrong or
// are made to.
func mutate(data []byte, rng *rand.Rand) []byte {
	b := append([]byte(nil), data...)
	// Weights are most of a file and say little; half of the damage goes to
	// the graph, which comes first and last.
	place := func() int {
		if rng.IntN(2) == 0 {
			return rng.IntN(min(len(b), 30_000))
		}
		return rng.IntN(len(b))
	}
	switch rng.IntN(6) {
	case 0: // bit flips
		for range 1 + rng.IntN(8) {
			b[place()] ^= 1 << rng.IntN(8)
		}
	case 1: // truncation
		b = b[:place()]
	case 2: // a length or a value inflated
		b[place()] = 0xff
	case 3: // a piece of the file repeated elsewhere
		from, to, n := place(), place(), 1+rng.IntN(200)
		piece := append([]byte(nil), b[from:min(from+n, len(b))]...)
		b = append(b[:to:to], append(piece, b[to:]...)...)
	case 4: // a piece cut out
		from, n := place(), 1+rng.IntN(200)
		b = append(b[:from:from], b[min(from+n, len(b)):]...)
	case 5: // bytes overwritten
		at := place()
		for i := at; i < min(at+1+rng.IntN(16), len(b)); i++ {
			b[i] = byte(rng.IntN(256))
		}
	}
	return b
}

// known are the errors that a bad model may give.
func known(err error) bool {
	for _, e := range []error{ErrNoModel, ErrNotMasked, ErrVocabulary, ErrNotFinite, ErrSentence, ErrTooLong, onnx.ErrFormat, onnx.ErrLimit, onnx.ErrExternal, onnx.ErrGraph,
		onnx.ErrUnsupported, onnxgrad.ErrInputs, onnxgrad.ErrOutputs, onnxgrad.ErrShape, onnxgrad.ErrUnsupportedOp, onnxgrad.ErrEmbedding,
		ort.ErrModel, ort.ErrRun, tokenize.ErrFormat} {
		if errors.Is(err, e) {
			return true
		}
	}
	var p *fs.PathError
	return errors.As(err, &p)
}

// TestHostileModels opens mutated copies of the tiny model and, where that
// works, evaluates a sentence: an error of a known kind or a result, never a
// panic, never the end of the process. INFILL_MUTANTS sets their number.
func TestHostileModels(t *testing.T) {
	orttest.Load(t)
	n := 150
	if s := os.Getenv("INFILL_MUTANTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	files := tinyFiles(t)
	good := files["model.onnx"].Data
	opened, slow := 0, time.Duration(0)
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 99))
		files["model.onnx"] = &fstest.MapFile{Data: mutate(good, rng)}
		begin := time.Now()
		m, err := Open(context.Background(), files, Options{})
		if err == nil {
			opened++
			err = use(m)
			if cerr := m.Close(); cerr != nil {
				t.Errorf("mutant %d: closing: %v", i, cerr)
			}
		}
		slow = max(slow, time.Since(begin))
		if err != nil && !known(err) {
			t.Errorf("mutant %d: an error of no known kind: %v", i, err)
		}
	}
	t.Logf("%d mutants, %d could be opened, the slowest took %v", n, opened, slow)
}

func use(m *Model) error {
	s, states := &Sentence{IDs: []int32{2, 7, 26, 50, 10, 3}, Blanks: []int{2, 4}}, [][]int32{{26, 10}, {30, 11}}
	v := m.VocabSize()
	if v < 60 || v > 10_000 {
		return ErrVocabulary
	}
	ctx := context.Background()
	if err := m.LogProb(ctx, s, states, table(2, 2)); err != nil {
		return err
	}
	err := m.Gradient(ctx, s, states, Full, table(2, 2), table(2, 2*v))
	if errors.Is(err, ErrNoGradient) {
		return nil
	}
	return err
}
