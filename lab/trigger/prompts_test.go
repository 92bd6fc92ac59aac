package trigger

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/models"
)

// promptRows are rows of different lengths, with their prompts in different places, and the
// words of the prompt.
func promptRows(m *mlm.Model, rng *rand.Rand) (rows []PromptRow, words []int32) {
	tok := m.Tokenizer()
	ordinary := func() int32 {
		for {
			id := int32(rng.IntN(tok.VocabSize()))
			if !tok.IsSpecial(id) && !tok.IsUnused(id) {
				return id
			}
		}
	}
	for range 3 {
		words = append(words, ordinary())
	}
	for _, c := range []struct {
		length, ask int
		blanks      []int
	}{{9, 7, []int{1, 2, 3}}, {14, 2, []int{4, 6, 9}}, {9, 1, []int{2, 5, 7}}, {6, 4, []int{1, 2, 3}}} {
		row := PromptRow{Blanks: c.blanks, Ask: c.ask, Target: ordinary()}
		for i := range c.length {
			switch i {
			case 0:
				row.IDs = append(row.IDs, tok.CLSID())
			case c.length - 1:
				row.IDs = append(row.IDs, tok.SEPID())
			default:
				row.IDs = append(row.IDs, ordinary())
			}
		}
		rows = append(rows, row)
	}
	return rows, words
}

// A prompt of words gives the log-probabilities of these words, and for every word of the
// vocabulary the second term of mlm.Model.Gradient, which another graph computes.
func TestPrompts(t *testing.T) {
	t.Parallel()
	comparePrompts(t, tiny(t, 2), os.DirFS(tinyDir))
	orttest.Load(t)
	m, err := mlm.Open(context.Background(), models.Small(), mlm.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // end of the test
	comparePrompts(t, m, models.Small())
}

func tinyPrompts(t testing.TB) *Prompts {
	t.Helper()
	p, err := OpenPrompts(context.Background(), os.DirFS(tinyDir), tiny(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func comparePrompts(t *testing.T, m *mlm.Model, files fs.FS) {
	t.Helper()
	ctx := context.Background()
	p, err := OpenPrompts(ctx, files, m)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // end of the test
	rng := rand.New(rand.NewPCG(1, 2))
	rows, words := promptRows(m, rng)
	d, k := p.Dimension(), len(words)
	var prompt []float32
	for _, w := range words {
		prompt = append(prompt, p.Embedding(w)...)
	}
	logProb, grad := make([]float32, len(rows)), newRows(len(rows), k*d)
	if err := p.Gradient(ctx, rows, prompt, logProb, grad); err != nil {
		t.Fatal(err)
	}
	scale := 0.0
	for r, row := range rows {
		filled := append([]int32(nil), row.IDs...)
		for j, at := range row.Blanks {
			filled[at] = words[j]
		}
		for j, at := range row.Blanks {
			s := &mlm.Sentence{IDs: filled, Blanks: []int{min(at, row.Ask), max(at, row.Ask)}}
			state := []int32{words[j], row.Target}
			mine := 0
			if at > row.Ask {
				state[0], state[1], mine = state[1], state[0], 1
			}
			v := m.VocabSize()
			lp, full, first := newRows(1, 2), newRows(1, 2*v), newRows(1, 2*v)
			err := errors.Join(m.Gradient(ctx, s, [][]int32{state}, mlm.Full, lp, full),
				m.Gradient(ctx, s, [][]int32{state}, mlm.Forward, lp, first))
			if err != nil {
				t.Fatal(err)
			}
			if e := math.Abs(float64(lp[0][1-mine] - logProb[r])); !(e < 1e-5) {
				t.Errorf("row %d: log f is %g, LogProb says %g", r, logProb[r], lp[0][1-mine])
			}
			for id := range int32(v) {
				got := dot(p.Embedding(id), grad[r][j*d:(j+1)*d])
				want := float64(full[0][mine*v+int(id)]) - float64(first[0][mine*v+int(id)])
				scale = max(scale, math.Abs(want))
				// Both are sums of float32 products, whose kernels differ between processors.
				if !(math.Abs(got-want) < 1e-5*max(1, math.Abs(want))) {
					t.Fatalf("row %d, blank %d, word %d: derivative %g, want %g", r, j, id, got, want)
				}
			}
		}
	}
	if scale < 1e-3 {
		t.Errorf("the largest derivative is %g: nothing was compared", scale)
	}
	// What stands at the blanks does not matter, not even padding, by which exports tell positions.
	padded := make([]PromptRow, len(rows))
	for r, row := range rows {
		padded[r] = row
		padded[r].IDs = append([]int32(nil), row.IDs...)
		for _, at := range row.Blanks {
			padded[r].IDs[at] = max(0, m.Tokenizer().PadID())
		}
	}
	same := make([]float32, len(rows))
	if err := p.LogProb(ctx, padded, prompt, same); err != nil {
		t.Fatal(err)
	}
	for r := range rows {
		if e := math.Abs(float64(same[r] - logProb[r])); !(e < 1e-5) {
			t.Errorf("row %d: log f is %g with words at the blanks, %g with padding", r, logProb[r], same[r])
		}
	}
	// A prompt of no words: differences.
	soft, along := make([]float32, k*d), make([]float32, k*d)
	for i := range soft {
		soft[i], along[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
	}
	at := func(step float32) []float32 {
		x, lp := make([]float32, k*d), make([]float32, len(rows))
		for i := range x {
			x[i] = soft[i] + step*along[i]
		}
		if err := p.LogProb(ctx, rows, x, lp); err != nil {
			t.Fatal(err)
		}
		return lp
	}
	if err := p.Gradient(ctx, rows, soft, logProb, grad); err != nil {
		t.Fatal(err)
	}
	const h = 5e-3
	up, down := at(h), at(-h)
	for r := range rows {
		want := float64(up[r]-down[r]) / (2 * h)
		if got := dot(grad[r], along); !(math.Abs(got-want) < 2e-3*max(1, math.Abs(want))) {
			t.Errorf("row %d: slope %g, differences give %g", r, got, want)
		}
	}
}

func newRows(n, width int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, width)
	}
	return out
}

func dot(a, b []float32) float64 {
	s := 0.0
	for i, v := range a {
		s += float64(v) * float64(b[i])
	}
	return s
}
