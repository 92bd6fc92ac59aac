package drafts

import (
	"context"
	"math"
	"testing"

	"infill/mlm"
)

// A fake says of a blank what its context, by a formula, makes of it.
type fake struct{ evaluated int }

func (f *fake) VocabSize() int { return 5 }

func (f *fake) Conditional(_ context.Context, _ *mlm.Sentence, states [][]int32, i []int,
	out [][]float32) error {
	f.evaluated += len(i)
	for c, x := range states {
		for v := range out[c] {
			out[c][v] = f.value(x, i[c], int32(v))
		}
	}
	return nil
}

func (f *fake) value(x []int32, i int, v int32) float32 {
	context := 0.0
	for j, w := range x {
		if j != i {
			context += float64(w) * float64(j+2)
		}
	}
	return float32(math.Sin(context + float64(10*i) + float64(v)))
}

// A run is charged for the rows whose context it has not had, and the model evaluates none twice.
func TestRowsAreCounted(t *testing.T) {
	t.Parallel()
	ctx, f := context.Background(), &fake{}
	in := &sentence{model: f, in: &mlm.Sentence{Blanks: []int{1, 3, 4}}, words: []int32{1, 3, 4},
		known: map[string][]float32{}}
	start := []int32{0, 1, 2}
	if err := in.begin(ctx, [][]int32{start, start}); err != nil {
		t.Fatal(err)
	}
	for n, c := range []struct {
		x                  []int32
		charged, evaluated int
	}{
		{start, 0, 3},
		{[]int32{0, 2, 2}, 2, 5}, // blank 1 keeps its row
		{start, 2, 5},
		{[]int32{1, 2, 2}, 4, 7},
		{[]int32{2, 0, 0}, 7, 10},
	} {
		u, rows, err := in.rows(ctx, c.x)
		if err != nil {
			t.Fatal(err)
		}
		if in.count != c.charged || f.evaluated != c.evaluated {
			t.Errorf("state %d: %d rows charged and %d evaluated, want %d and %d", n, in.count,
				f.evaluated, c.charged, c.evaluated)
		}
		ids, want := make([]int32, 3), 0.0
		for i, v := range c.x {
			ids[i] = in.words[v]
		}
		for i, id := range ids {
			want += float64(f.value(ids, i, id))
			for v, l := range rows[i] {
				if l != f.value(ids, i, in.words[v]) {
					t.Errorf("state %d: row %d is of another context", n, i)
				}
			}
		}
		if math.Abs(u-want) > 1e-6 {
			t.Errorf("state %d: U = %v, want %v", n, u, want)
		}
	}
	// Another run has the rows of its starts for nothing, and pays for all others again.
	if err := in.begin(ctx, [][]int32{start}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := in.rows(ctx, []int32{0, 2, 2}); err != nil {
		t.Fatal(err)
	}
	if in.count != 2 || f.evaluated != 10 {
		t.Errorf("%d rows charged and %d evaluated, want 2 and 10", in.count, f.evaluated)
	}
	// What samplers get is the same.
	u, wide := make([]float64, 1), [][]float64{make([]float64, 9)}
	if err := in.EnergyRows(ctx, [][]int32{start}, u, wide, nil); err != nil {
		t.Fatal(err)
	}
	v, rows, err := in.rows(ctx, start)
	if err != nil {
		t.Fatal(err)
	}
	for c, l := range wide[0] {
		if l != float64(rows[c/3][c%3]) {
			t.Errorf("entry %d of the rows is %v, want %v", c, l, rows[c/3][c%3])
		}
	}
	if u[0] != v {
		t.Errorf("U = %v, want %v", u[0], v)
	}
}
