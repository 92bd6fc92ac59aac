package baselines

import (
	"context"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"infill/mlm"
)

const maskID, vocab = 9, 10

// A fake says of every blank something else for each filling of the others.
type fake struct{}

func (fake) VocabSize() int { return vocab }

func (fake) Conditional(_ context.Context, _ *mlm.Sentence, states [][]int32, i []int,
	out [][]float32) error {
	for k, s := range states {
		sum := 0.0
		for v := range out[k] {
			h := fnv.New32()
			for j, id := range s {
				if j == i[k] {
					id = int32(v)
				}
				_, _ = h.Write([]byte{byte(j), byte(id), byte(i[k])})
			}
			p := 1 + float64(h.Sum32()%1000)
			out[k][v], sum = float32(p), sum+p
		}
		for v := range out[k] {
			out[k][v] = float32(math.Log(float64(out[k][v]) / sum))
		}
	}
	return nil
}

func made() *sentence {
	return &sentence{fake{}, &mlm.Sentence{IDs: make([]int32, 5), Blanks: []int{1, 2, 3}},
		[]int32{1, 2, 3, 4, 5, 6}, maskID, map[string][]float32{},
		func(id int32) string { return string(rune('a' + id)) }}
}

// The fillings of blanks that are filled alone are the best of all by the product.
func TestAlone(t *testing.T) {
	m := made()
	got, err := m.fill(t.Context(), alone)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(words []int32) float64 {
		s := 0.0
		for i, id := range words {
			row, err := m.row(t.Context(), []int32{maskID, maskID, maskID}, i)
			if err != nil {
				t.Fatal(err)
			}
			s += float64(row[id])
		}
		return s
	}
	var all [][]int32
	for _, a := range m.may {
		for _, b := range m.may {
			for _, c := range m.may {
				all = append(all, []int32{a, b, c})
			}
		}
	}
	slices.SortFunc(all, func(a, b []int32) int {
		if sum(a) > sum(b) {
			return -1
		}
		return 1
	})
	if len(m.known) != 3 || len(got) != top {
		t.Fatalf("%d rows, %d fillings", len(m.known), len(got))
	}
	for k, words := range got {
		for i, w := range words {
			if w != m.token(all[k][i]) {
				t.Errorf("filling %d is %v, want %v", k, words, all[k])
			}
		}
	}
}

// The first filling is made of single choices, each the likeliest given those before.
func TestFirstChoices(t *testing.T) {
	for _, by := range []way{greedy, confident} {
		m := made()
		got, err := m.fill(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		ids := []int32{maskID, maskID, maskID}
		for step := range ids {
			at, id, best := -1, int32(0), math.Inf(-1)
			for i := range ids {
				if ids[i] != maskID || by == greedy && i != step {
					continue
				}
				row, err := m.row(t.Context(), ids, i)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range m.may {
					if float64(row[v]) > best {
						at, id, best = i, v, float64(row[v])
					}
				}
			}
			ids[at] = id
		}
		for i, w := range got[0] {
			if w != m.token(ids[i]) {
				t.Errorf("%s: %v, want %v", by, got[0], ids)
			}
		}
	}
}

// What is masked again is the least probable word, it gets the likeliest one, and nothing else
// changes: held against the model's rows, without a memory. A filling whose least probable word is
// the likeliest at its place stays.
func TestRemask(t *testing.T) {
	m := made()
	row := func(ids []int32, i int) []float32 {
		out := [][]float32{make([]float32, vocab)}
		if err := (fake{}).Conditional(t.Context(), m.in, [][]int32{ids}, []int{i}, out); err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	changed, stayed := 0, 0
	for n := range int32(216) {
		start := []int32{1 + n%6, 1 + n/6%6, 1 + n/36}
		want := slices.Clone(start)
		for range 3 {
			at, best := 0, int32(1)
			for i := range want {
				if row(want, i)[want[i]] < row(want, at)[want[at]] {
					at = i
				}
			}
			for _, v := range m.may {
				if row(want, at)[v] > row(want, at)[best] {
					best = v
				}
			}
			want[at] = best
		}
		got := slices.Clone(start)
		if err := m.remask(t.Context(), got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("from %v to %v, want %v", start, got, want)
		}
		if slices.Equal(got, start) {
			stayed++
		} else {
			changed++
		}
	}
	if changed < 100 || stayed == 0 {
		t.Errorf("%d of 216 fillings changed", changed)
	}
	got, err := m.fill(t.Context(), remasked)
	if err != nil || len(got) == 0 {
		t.Fatal(got, err)
	}
	for k := range got {
		if slices.ContainsFunc(got[:k], func(w []string) bool { return slices.Equal(w, got[k]) }) {
			t.Errorf("%v twice", got[k])
		}
	}
}
