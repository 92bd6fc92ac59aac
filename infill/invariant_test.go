package infill

import (
	"context"
	"math"
	"slices"
	"sort"
	"testing"

	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/internal/testmode"
	"infill/samplers"
)

// allStates lists the states of a target that are valid, with the texts they spell.
func allStates(t *target.Target) (x [][]int32, texts []string) {
	at := make([]int32, len(t.Coords))
	for {
		if t.Valid(at) {
			f := t.Spell(at, false)
			x, texts = append(x, slices.Clone(at)), append(texts, f.Text)
		}
		i := 0
		for ; i < len(at); i++ {
			if at[i]++; int(at[i]) < t.Coords[i].K() {
				break
			}
			at[i] = 0
		}
		if i == len(at) {
			return x, texts
		}
	}
}

// At temperature 1, under every constraint: the states that the samplers work on
// are exactly the fillings that the constraint allows, each once; and chains that
// start from exp(U) over these, enumerated by other code, are distributed by it
// after any number of steps, however far the modes are apart. With more steps, which
// the long tests make, smaller deviations of a single step are seen.
func TestConstraintsInvariant(t *testing.T) {
	t.Parallel()
	if testmode.All() {
		constraintsInvariant(t, 40, 24)
	} else {
		constraintsInvariant(t, 24, 8)
	}
}

// constraintsInvariant makes 8 steps, and other numbers where there are fewer than 30
// states and fewer than 100. Few states are cheap: each is evaluated once for all chains.
func constraintsInvariant(t *testing.T, under30, under100 int) {
	ctx := context.Background()
	e := New(tiny(t))
	tok := e.model.Tokenizer()
	all := newScores(t)
	for _, c := range constraintCases(t, tok) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tm, err := text.Parse(tok, c.text)
			if err != nil {
				t.Fatal(err)
			}
			u := map[string]float64{}
			for _, s := range c.states {
				text, spans := tm.Splice(s)
				u[text], _ = oracle(t, e, text, spans)
			}
			c.opt.Sampling.Temperature, c.opt.Sampling.Chains = 1,
				2 // two chains have both lengths of an open count
			if err := c.opt.Prepare(); err != nil {
				t.Fatal(err)
			}
			pl, err := e.resolve(t.Context(), tm, &c.opt)
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, part := range pl.Choices {
				x, texts := allStates(part.Target)
				p := make([]float64, len(x))
				top, sum := math.Inf(-1), 0.0
				for i, text := range texts {
					v, ok := u[text]
					if !ok {
						t.Fatalf("%q is a state, and should not be", text)
					}
					delete(u, text) // each once
					p[i] = v
					top = max(top, v)
				}
				found += len(x)
				for i := range p {
					p[i] = math.Exp(p[i] - top)
					sum += p[i]
				}
				for i := range p {
					p[i] /= sum
				}
				if len(x) > 1 {
					if _, err := started(ctx, part.Target, 1, "", 1); err != nil { // what gradients of lists need
						t.Fatal(err)
					}
					steps := 8
					switch {
					case len(x) < 30:
						steps = under30
					case len(x) < 100:
						steps = under100
					}
					invariant(t, ctx, all, newTabled(part.Target), x, p, steps)
				}
			}
			for text := range u {
				t.Errorf("%q is allowed, and is no state", text)
			}
			if found < 2 || found != len(c.states) {
				t.Errorf("%d states, want %d", found, len(c.states))
			}
		})
	}
}

// invariant starts chains from p over the states x and tests whether samplers
// leave p as it is, and that they move. It adds their scores to those of other cases.
func invariant(t *testing.T, ctx context.Context, all *scores, tgt samplers.Target, x [][]int32,
	p []float64, steps int) {
	t.Helper()
	most := 0
	// A time of DLMC has to be given: one found from the start would depend on it.
	for _, s := range []samplers.Sampler{
		&samplers.DMALA{}, &samplers.GibbsMH{}, &samplers.Rows{}, &samplers.GWG{},
		&samplers.DLMC{Time: 0.5},
	} {
		z, moved := leave(t, ctx, s, tgt, x, p, steps)
		t.Logf(
			"%s: %d states, score %.2f, %d of %d chains elsewhere", s.Info().Name, len(p), z, moved, leaving,
		)
		all.add(s.Info().Name, z)
		if !(z < threshold) {
			t.Errorf("%s: leaves the enumerated distribution of %d states (score %.1f)", s.Info().Name, len(p), z)
		}
		most = max(most, moved)
	}
	if most < leaving/20 {
		t.Errorf("with no sampler more than %d of %d chains moved: the test says nothing", most, leaving)
	}
}

// leaving is the number of chains that leave starts.
const leaving = 4000

// leave starts chains from p over the states x, makes the steps, and returns the
// chi-square score of where they are then, and how many are elsewhere.
func leave(
	t *testing.T, ctx context.Context, s samplers.Sampler, tgt samplers.Target, x [][]int32, p []float64,
	steps int,
) (z float64, moved int) {
	t.Helper()
	index := map[string]int{}
	cum := make([]float64, len(p))
	sum := 0.0
	for i := range x {
		index[text.IDsKey(x[i])] = i
		sum += p[i]
		cum[i] = sum
	}
	id := t.Name() + "\x00" + s.Info().Name // draws of its own for every case
	rng := samplers.NewStream(7, id, 0)
	x0 := make([][]int32, leaving)
	from := make([]int, leaving)
	for k := range x0 {
		from[k] = min(sort.SearchFloat64s(cum, rng.Float64()*sum), len(x)-1)
		x0[k] = x[from[k]]
	}
	run, err := samplers.Start(ctx, s, tgt, x0, samplers.Options{Seed: 9, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Steps(ctx, steps, nil); err != nil {
		t.Fatal(err)
	}
	counts := make([]int, len(p))
	for k, y := range run.X {
		i, ok := index[text.IDsKey(y)]
		if !ok {
			t.Fatalf("%s: %v is no state", s.Info().Name, y)
		}
		counts[i]++
		if i != from[k] {
			moved++
		}
	}
	return chiSquare(counts, p), moved
}
