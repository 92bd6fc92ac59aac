package target

import (
	"context"
	"math"

	"infill/infill/internal/recall"
	"infill/infill/request"
)

// Scores returns the score of every state of the one coordinate, in nats, its parts, and the number
// of rows that they take.
func (t *Target) Scores(ctx context.Context, m *recall.Recall, by request.Scoring) (u []float64,
	parts []request.Parts, rows int, err error) {
	c := &t.Coords[0]
	x := make([][]int32, c.K())
	u, parts = make([]float64, c.K()), make([]request.Parts, c.K())
	for v := range x {
		x[v] = []int32{int32(v)}
	}
	if c.Slot >= 0 && len(t.Groups[0].Blanks) == 1 {
		// All parts are what the model says of the blank.
		if err := t.masked(ctx, m, [][]int32{{0}}, []int{0}, [][]float64{u}, nil); err != nil {
			return nil, nil, 0, err
		}
		for v := range u {
			u[v] *= t.Temp // which is in what masked says
			parts[v] = request.Parts{PLL: u[v], Left: u[v], Right: u[v]}
		}
		t.Forbid([]int32{0}, 0, u)
		rows, err := t.finish(ctx, m, x, u, parts, by)
		if err != nil {
			return nil, nil, 0, err
		}
		return u, parts, 1 + rows, t.AddTerms(ctx, x, u, 1)
	}
	var valid []int
	var some [][]int32
	for v := range x {
		if u[v] = math.Inf(-1); t.Valid(x[v]) {
			valid, some = append(valid, v), append(some, x[v])
		}
	}
	ps, rows, err := t.Parts(ctx, m, some, by)
	if err != nil {
		return nil, nil, 0, err
	}
	for j, v := range valid {
		u[v], parts[v] = by.Of(ps[j]), ps[j]
	}
	more, err := t.finish(ctx, m, x, u, parts, by)
	if err != nil {
		return nil, nil, 0, err
	}
	return u, parts, rows + more, t.AddTerms(ctx, x, u, 1)
}

// finish replaces scores by those of the finished texts, where fillings decide how the letters
// around them are cut.
func (t *Target) finish(ctx context.Context, m *recall.Recall, x [][]int32, u []float64,
	parts []request.Parts, by request.Scoring) (rows int, err error) {
	if !t.Touches() {
		return 0, nil
	}
	var spelt []*request.Filling
	var of []int
	for v := range x {
		if !math.IsInf(u[v], -1) && (t.Coords[0].Slot < 0 || IsMark(t.Word(x[v], 0))) {
			f := t.Spell(x[v], t.asModel)
			spelt, of = append(spelt, &f), append(of, v)
		}
	}
	return t.FinishedParts(ctx, m, spelt, by, func(i int, p request.Parts) {
		u[of[i]], parts[of[i]] = by.Of(p), p
	})
}
