package drafts

import (
	"context"
	"math/rand/v2"
	"sync"

	"infill/infill/text"
	"infill/lab/internal/domain"
	"infill/mlm"
	"infill/samplers"
)

// A conditioner is what a text needs of an mlm.Model.
type conditioner interface {
	Conditional(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
		out [][]float32) error
	VocabSize() int
}

// A sentence is one under a language model, as a model of this program and as a target of
// samplers. Values are indices of words, the whole words of the vocabulary.
//
// Rows are remembered by their context: row i does not depend on what blank i holds. All runs
// share the memo, which spares time. A run is charged as if it had one of its own.
type sentence struct {
	model conditioner
	in    *mlm.Sentence
	words []int32

	mu    sync.Mutex
	known map[string][]float32
	asked map[string]bool // by the present run
	count int             // rows that this run had evaluated
}

func newText(m *mlm.Model, t *text.Template) *sentence {
	return &sentence{model: m, in: &mlm.Sentence{IDs: t.IDs, Blanks: t.Positions()},
		words: m.Tokenizer().WholeWords(), known: map[string][]float32{}}
}

// begin starts the count of a run, in which the rows at its first states are known.
func (t *sentence) begin(ctx context.Context, starts [][]int32) error {
	t.asked = map[string]bool{}
	_, _, err := t.all(ctx, starts)
	t.count = 0
	return err
}

func (t *sentence) rows(ctx context.Context, x []int32) (float64, [][]float32, error) {
	u, rows, err := t.all(ctx, [][]int32{x})
	if err != nil {
		return 0, nil, err
	}
	return u[0], rows[0], nil
}

// all gives U and the rows of several states, and asks the model about all of them at once.
func (t *sentence) all(ctx context.Context, xs [][]int32) ([]float64, [][][]float32, error) {
	m := len(t.in.Blanks)
	var at []int
	var want [][]int32
	var keys []string
	keyOf := func(x []int32, i int) string {
		b := []byte{byte(i)}
		for j, v := range x {
			if j != i {
				b = append(b, byte(v), byte(v>>8), byte(v>>16))
			}
		}
		return string(b)
	}
	t.mu.Lock()
	missing := map[string]bool{}
	for _, x := range xs {
		ids := make([]int32, m)
		for i, v := range x {
			ids[i] = t.words[v]
		}
		for i := range m {
			key := keyOf(x, i)
			if !t.asked[key] {
				t.asked[key] = true
				t.count++
			}
			if t.known[key] == nil && !missing[key] {
				missing[key] = true
				at, want, keys = append(at, i), append(want, ids), append(keys, key)
			}
		}
	}
	t.mu.Unlock()
	if len(at) > 0 {
		out := make([][]float32, len(at))
		for c := range out {
			out[c] = make([]float32, t.model.VocabSize())
		}
		if err := t.model.Conditional(ctx, t.in, want, at, out); err != nil {
			return nil, nil, err
		}
		t.mu.Lock()
		for c, key := range keys {
			t.known[key] = t.pick(out[c])
		}
		t.mu.Unlock()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	u, rows := make([]float64, len(xs)), make([][][]float32, len(xs))
	for k, x := range xs {
		for i, v := range x {
			row := t.known[keyOf(x, i)]
			rows[k] = append(rows[k], row)
			u[k] += float64(row[v])
		}
	}
	return u, rows, nil
}

// pick takes the words from a row over the vocabulary.
func (t *sentence) pick(row []float32) []float32 {
	out := make([]float32, len(t.words))
	for v, id := range t.words {
		out[v] = row[id]
	}
	return out
}

// Domain implements samplers.Target.
func (t *sentence) Domain() *samplers.Domain {
	return domain.Categories(len(t.in.Blanks), len(t.words))
}

// Energy implements samplers.Target.
func (t *sentence) Energy(ctx context.Context, x [][]int32, u []float64) error {
	got, _, err := t.all(ctx, x)
	copy(u, got)
	return err
}

// ExactConditionals implements samplers.Conditioner.
func (t *sentence) ExactConditionals() bool { return false }

// Conditional implements samplers.Conditioner. States of samplers have their energies,
// and so their rows, already.
func (t *sentence) Conditional(ctx context.Context, x [][]int32, i []int, logp [][]float64) error {
	_, rows, err := t.all(ctx, x)
	for k := range rows {
		widen(logp[k], rows[k][i[k]])
	}
	return err
}

// EnergyRows implements samplers.RowConditioner.
func (t *sentence) EnergyRows(ctx context.Context, x [][]int32, u []float64,
	rows, _ [][]float64) error {
	got, all, err := t.all(ctx, x)
	copy(u, got)
	for k := range all {
		for i, row := range all[k] {
			widen(rows[k][i*len(t.words):], row)
		}
	}
	return err
}

func widen(to []float64, from []float32) {
	for v, l := range from {
		to[v] = float64(l)
	}
}

// drawer picks by a generator.
func drawer(rng *rand.Rand) pick {
	return func(w []float64) int {
		sum := 0.0
		for _, v := range w {
			sum += v
		}
		r, last := rng.Float64()*sum, 0
		for v, p := range w {
			if p > 0 {
				if last = v; r < p {
					break
				}
				r -= p
			}
		}
		return last
	}
}
