package cuda

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"infill/mlm"
)

// timing is how fast rows are evaluated.
type timing struct {
	What      string  `json:"what"` // "rows": whole rows, which are copied; "scores": one number each
	Device    string  `json:"device"`
	Precision string  `json:"precision"`
	Rows      int     `json:"rows_a_call"`
	Length    int     `json:"tokens"`
	PerSecond float64 `json:"rows_a_second"`
}

// sentence is one of random words with two blanks.
func (o *options) sentence(m *mlm.Model) *mlm.Sentence {
	rng := rand.New(rand.NewPCG(o.seed, 7))
	ids := make([]int32, o.length)
	for i := range ids {
		ids[i] = 2000 + int32(rng.IntN(20000))
	}
	ids[0], ids[o.length-1] = 101, 102
	return &mlm.Sentence{IDs: ids, Blanks: []int{3, o.length - 4}}
}

// states are n states that differ in their second blank. The first is masked.
func states(n int, rng *rand.Rand) ([][]int32, []int) {
	out, at := make([][]int32, n), make([]int, n)
	for i, id := range rng.Perm(20000)[:n] {
		out[i] = []int32{int32(3000 + id%1000), int32(2000 + id)}
	}
	return out, at
}

// speed has several callers ask for calls of n rows at the same time, as texts in work do.
func (o *options) speed(ctx context.Context, m *mlm.Model, n int, what string) (*timing, error) {
	const callers = 6
	s := o.sentence(m)
	var rows atomic.Int64
	var mu sync.Mutex
	var failed error
	each := func(until time.Time, k int) {
		rng := rand.New(rand.NewPCG(o.seed, uint64(k)))
		wide, lp := make([][]float32, n), make([]float32, n)
		for i := range wide {
			wide[i] = make([]float32, m.VocabSize())
		}
		for time.Now().Before(until) {
			x, at := states(n, rng)
			var err error
			if what == "rows" {
				err = m.Conditional(ctx, s, x, at, wide)
			} else {
				for i := range x {
					x[i][0] = int32(2000 + rng.IntN(20000))
				}
				err = m.TokenLogProb(ctx, s, x, at, lp)
			}
			if err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
				return
			}
			rows.Add(int64(n))
		}
	}
	for _, seconds := range []float64{o.seconds / 3, o.seconds} { // the first warms up
		rows.Store(0)
		start := time.Now()
		until := start.Add(time.Duration(seconds * float64(time.Second)))
		var all sync.WaitGroup
		for k := range callers {
			all.Go(func() { each(until, k) })
		}
		all.Wait()
		if failed != nil {
			return nil, failed
		}
		if seconds == o.seconds {
			return &timing{What: what, Rows: n, Length: o.length,
				PerSecond: math.Round(float64(rows.Load()) / time.Since(start).Seconds())}, nil
		}
	}
	return nil, nil
}

// neighbours is how far rows differ that are evaluated in calls of other sizes.
type neighbours struct {
	What      string `json:"what"`
	Device    string `json:"device"`
	Precision string `json:"precision"`
	// Again counts numbers that a second call with the same rows gives otherwise, Others those that
	// calls of 1, 7 and 32 rows do, of Of, and Crowded those of six callers at the same time, whose
	// rows are mixed, of CrowdedOf.
	Again     int     `json:"again"`
	Others    int     `json:"others"`
	Of        int     `json:"of"`
	Crowded   int     `json:"crowded"`
	CrowdedOf int     `json:"crowded_of"`
	Most      float64 `json:"most_nats"` // of the differences
}

func (o *options) neighbours(ctx context.Context, m *mlm.Model) (*neighbours, error) {
	s := o.sentence(m)
	n := min(500, slices.Max(o.rows))
	x, at := states(n, rand.New(rand.NewPCG(o.seed, 9)))
	get := func(from, to int) ([][]float32, error) {
		out := make([][]float32, to-from)
		for i := range out {
			out[i] = make([]float32, m.VocabSize())
		}
		return out, m.Conditional(ctx, s, x[from:to], at[from:to], out)
	}
	all, err := get(0, n)
	if err != nil {
		return nil, err
	}
	r := &neighbours{What: "neighbours"}
	count := func(from int, rows [][]float32, to *int) {
		for i, row := range rows {
			for j, v := range row {
				if v != all[from+i][j] {
					*to++
					r.Most = max(r.Most, math.Abs(float64(v-all[from+i][j])))
				}
			}
		}
	}
	again, err := get(0, n)
	if err != nil {
		return nil, err
	}
	count(0, again, &r.Again)
	for _, size := range []int{1, 7, 32} {
		size = min(size, n)
		rows, err := get(0, size)
		if err != nil {
			return nil, err
		}
		count(0, rows, &r.Others)
		r.Of += len(rows) * m.VocabSize()
	}
	const callers = 6
	r.CrowdedOf = callers * n * m.VocabSize()
	r.Crowded, err = o.crowded(callers, n, all, func(rows []int, out [][]float32) error {
		var y [][]int32
		for _, i := range rows {
			y = append(y, x[i])
		}
		return m.Conditional(ctx, s, y, at[:len(y)], out)
	})
	return r, err
}

// crowded has several callers ask for parts of the rows in an order of their own, and counts
// numbers that differ.
func (o *options) crowded(callers, n int, all [][]float32,
	get func(rows []int, out [][]float32) error) (int, error) {
	var differ atomic.Int64
	var each errgroup.Group
	for k := range callers {
		each.Go(func() error {
			rng := rand.New(rand.NewPCG(o.seed, uint64(100+k)))
			order := rng.Perm(n)
			for len(order) > 0 {
				rows := order[:min(len(order), 1+rng.IntN(40))]
				order = order[len(rows):]
				out := make([][]float32, len(rows))
				for i := range out {
					out[i] = make([]float32, len(all[0]))
				}
				if err := get(rows, out); err != nil {
					return err
				}
				for i, row := range rows {
					for j, v := range out[i] {
						if v != all[row][j] {
							differ.Add(1)
						}
					}
				}
			}
			return nil
		})
	}
	err := each.Wait()
	return int(differ.Load()), err
}
