package infill

import (
	"context"
	"math"
	"testing"

	"infill/internal/testmode"
	"infill/samplers"
)

// A text of two blanks with twenty words each is enumerated with the model small. Chains begin with
// draws from its joint distribution. Those of exact samplers stay there, within the noise of the
// count. Gibbs and DULA go elsewhere. docs/guide/samplers.md has these distances.
func TestDistanceOfSamplersFromEnumeratedModel(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"put": "He put the [MASK|" + things + "] on the [MASK|" + places + "] and left.",
	}
	if testmode.All() {
		texts["sleeps"] = "The [MASK|" + dozing + "] sleeps in the [MASK|" + dozing + "]."
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			en, _, _ := enumerateWith(t, openSmall(t), text)
			for _, sampler := range []string{"gibbs", "gibbs-mh", "rows", "dula", "dmala"} {
				info, err := samplers.Lookup(sampler)
				if err != nil {
					t.Fatal(err)
				}
				d, err := en.distance(sampler)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: total variation %.3f", sampler, d)
				if info.Exact && d > .03 || !info.Exact && d < .1 {
					t.Errorf("%s: total variation %.3f, exact: %v", sampler, d, info.Exact)
				}
			}
		})
	}
}

const (
	dozing = "man|woman|dog|cat|child|boy|girl|house|garden|kitchen|car|street|bed|chair|room|" +
		"forest|river|sun|school|church"
	things = "book|hat|cup|gun|paper|letter|bag|phone|money|card|key|glass|box|plate|coat|knife|" +
		"lamp|dog|baby|coin"
	places = "table|desk|floor|bed|shelf|counter|wall|chair|ground|bench|roof|stove|couch|seat|" +
		"tray|grass|stone|door|plate|box"
)

// distance is the total variation between π and the states of chains that begin with draws from
// π, after the burn-in in which the sampler adapts.
func (e *enumerated) distance(sampler string) (float64, error) {
	const chains, burnin, steps, thin = 4000, 100, 400, 10
	ctx := context.Background()
	s, err := samplers.New(sampler, nil)
	if err != nil {
		return 0, err
	}
	p := e.probabilities()
	x := e.draw(p, chains, samplers.NewStream(3, sampler, 0))
	run, err := samplers.Start(ctx, s, e, x, samplers.Options{Seed: 2, ID: sampler, Burnin: burnin})
	if err != nil {
		return 0, err
	}
	if err := run.Steps(ctx, burnin, nil); err != nil {
		return 0, err
	}
	counts := make([]int, len(p))
	for range (steps - burnin) / thin {
		if err := run.Steps(ctx, thin, nil); err != nil {
			return 0, err
		}
		for i, c := range e.count(run.X) {
			counts[i] += c
		}
	}
	const n = chains * (steps - burnin) / thin
	sum := 0.0
	for i, c := range counts {
		sum += math.Abs(float64(c)/n-p[i]) / 2
	}
	return sum, nil
}
