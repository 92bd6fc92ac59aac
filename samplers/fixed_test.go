package samplers

import (
	"context"
	"math"
	"testing"
)

// Each sampler that adapts something keeps the values of Fixed, and adapts nothing any more.
func TestFixed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	some := 0
	for _, info := range List() {
		target := fixedTarget{}
		s, err := New(info.Name, automatic(info))
		if err != nil {
			t.Fatal(err)
		}
		x0 := [][]int32{make([]int32, 6)}
		r, err := Start(ctx, s, target, x0, Options{Seed: 4, Burnin: 120})
		if err != nil {
			continue // another kind of target
		}
		if err := r.Steps(ctx, 120, nil); err != nil {
			t.Fatal(err)
		}
		tuned := r.Tuning(0)
		if tuned == nil {
			continue
		}
		some++
		params, err := Fixed(info.Name, nil, tuned)
		if err != nil {
			t.Errorf("%s, %v: %v", info.Name, tuned, err)
			continue
		}
		if s, err = New(info.Name, params); err != nil {
			t.Fatal(err)
		}
		// A burn-in changes nothing either.
		if r, err = Start(ctx, s, target, x0, Options{Seed: 5, Burnin: 60}); err != nil {
			t.Fatal(err)
		}
		if err := r.Steps(ctx, 60, nil); err != nil {
			t.Fatal(err)
		}
		for name, v := range r.Tuning(0) {
			want := tuned[name]
			if info.Name == "gwg" {
				want = math.Round(want)
			}
			if math.Abs(v-want) > 1e-9*math.Abs(want) {
				t.Errorf("%s: %s is %v, want %v", info.Name, name, v, want)
			}
		}
	}
	if some < 9 {
		t.Errorf("%d samplers adapt something", some)
	}
}

// automatic makes everything adapted that can be.
func automatic(info Info) map[string]string {
	out := map[string]string{}
	for _, p := range info.Params {
		if p.Auto {
			out[p.Name] = "auto"
		}
	}
	return out
}

// fixedTarget has six coordinates of four categories, coupled along a line.
type fixedTarget struct{}

func (fixedTarget) Domain() *Domain {
	coords := make([]Coord, 6)
	for i := range coords {
		coords[i] = Coord{Kind: Nominal, K: 4}
	}
	d, err := NewDomain(coords...)
	if err != nil {
		panic(err)
	}
	return d
}

func (fixedTarget) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = 0
		for i, v := range x[k] {
			u[k] += .3 * float64(v)
			if i > 0 && v == x[k][i-1] {
				u[k]++
			}
		}
	}
	return nil
}

func (f fixedTarget) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		for i := range x[k] {
			for v := range 4 {
				e := .3 * float64(v)
				if i > 0 && int(x[k][i-1]) == v {
					e++
				}
				if i < 5 && int(x[k][i+1]) == v {
					e++
				}
				g[k][4*i+v] = e
			}
		}
	}
	return f.Energy(ctx, x, u)
}

func (f fixedTarget) Conditional(_ context.Context, x [][]int32, at []int, logp [][]float64) error {
	for k := range x {
		for v := range 4 {
			y := append([]int32(nil), x[k]...)
			y[at[k]] = int32(v)
			u := []float64{0}
			_ = f.Energy(context.Background(), [][]int32{y}, u)
			logp[k][v] = u[0]
		}
	}
	return nil
}

func TestFixedRefuses(t *testing.T) {
	t.Parallel()
	for name, tuned := range map[string]map[string]float64{
		"nosuch": {"rate": 1}, "rows": {"step-size": 1}, "dmala": {"step-size": -1},
		"acs": {"alpha-max": .1, "alpha-min": .2},
	} {
		if p, err := Fixed(name, nil, tuned); err == nil {
			t.Errorf("%s %v: %v", name, tuned, p)
		}
	}
	if _, err := Fixed("rows", nil, map[string]float64{"rate": math.NaN()}); err == nil {
		t.Error("NaN")
	}
	p, err := Fixed("dmala", map[string]string{"balance": "max"}, map[string]float64{"step-size": .25})
	if err != nil || p["balance"] != "max" || p["step-size"] != "0.25" {
		t.Errorf("%v %v", p, err)
	}
}
