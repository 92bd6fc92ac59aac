package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"infill/infill"
	"infill/metrics/bleu"
	"infill/report/measure"
	"infill/report/read"
)

// demoSources are sentences with candidate words for each blank, the first being
// the original. The numbers made from them are invented; they have the size and the
// noise of real runs, so that the pictures can be judged.
var demoSources = []struct {
	text  string
	words [][]string
}{
	{"the old [MASK] stood at the edge of the [MASK] and waited for the [MASK] to arrive .",
		[][]string{{"man", "woman", "king", "soldier", "house", "captain", "priest", "horse", "farmer"},
			{"river", "road", "forest", "field", "village", "sea", "city", "water", "bridge"},
			{"others", "boat", "train", "rain", "army", "guests", "morning", "ferry", "news"}}},
	{"she [MASK] the letter twice before she [MASK] it into the [MASK] .",
		[][]string{{"read", "wrote", "studied", "opened", "folded", "held", "checked"},
			{"threw", "put", "dropped", "slipped", "tossed", "pushed", "pressed"},
			{"fire", "drawer", "box", "envelope", "flames", "trash", "bag", "river"}}},
	{"the album was [MASK] in the [MASK] of 1994 and received [MASK] reviews from critics .",
		[][]string{{"released", "recorded", "issued", "completed", "launched", "published"},
			{"spring", "summer", "autumn", "fall", "winter", "month", "middle"},
			{"mixed", "positive", "favorable", "good", "poor", "negative", "generally"}}},
	{"construction of the [MASK] began in 1911 , but it was not [MASK] until after the [MASK] .",
		[][]string{{"bridge", "church", "railway", "station", "building", "tower", "school", "line"},
			{"completed", "finished", "opened", "used", "built", "ready"},
			{"war", "fire", "strike", "revolution", "flood", "armistice"}}},
	{"he looked at his [MASK] and [MASK] that they would be [MASK] again .",
		[][]string{{"watch", "brother", "hands", "father", "phone", "men", "wife"},
			{"knew", "thought", "decided", "hoped", "saw", "feared", "said"},
			{"late", "together", "alone", "safe", "friends", "there", "fine"}}},
	{"the species is [MASK] in the [MASK] of southern Chile , where it [MASK] on small insects .",
		[][]string{{"common", "found", "rare", "endemic", "abundant", "native"},
			{"forests", "mountains", "rivers", "valleys", "lakes", "islands"},
			{"feeds", "lives", "preys", "hunts", "depends", "survives"}}},
}

// demoReferences are sentences that share single words, pairs and few longer runs
// with the sources, as unrelated text of the same style does.
func demoReferences() (fiction, encyclopedia []string) {
	rng := rand.New(rand.NewPCG(11, 12))
	filler := strings.Fields("and then with some other people from their small town there had " +
		"been nothing but old stories about it for years")
	for range 40 {
		for i, s := range demoSources {
			line := s.text
			for _, w := range s.words {
				line = strings.Replace(line, "[MASK]", w[rng.IntN(len(w))], 1)
			}
			f := strings.Fields(line)
			var out []string
			for len(out) < 12 {
				a := rng.IntN(len(f) - 1)
				out = append(out, f[a:min(a+1+rng.IntN(3), len(f)-1)]...)
				out = append(out, filler[rng.IntN(len(filler))])
			}
			part := strings.Join(append(out, "."), " ")
			if i == 0 || i == 1 || i == 4 {
				fiction = append(fiction, part)
			} else {
				encyclopedia = append(encyclopedia, part)
			}
		}
	}
	return fiction, encyclopedia
}

// demo is a comparison of five samplers with traces.
func demo() *measure.Comparison {
	rng := rand.New(rand.NewPCG(2022, 6))
	c := &measure.Comparison{
		Budget: infill.BudgetEvaluations,
		Command: "infill compare demo.jsonl --samplers gibbs,gwg,dula,dmala,dlmc --chains 25 " +
			"--steps 50 --top 5 --seed 1",
		Model:    "sha256:0f3a…c91e (invented)",
		Version:  "v0.0.0-demo",
		Date:     "2026-01-31",
		Seed:     1,
		Protocol: "25 % of words masked, 25 chains × 50 steps, last state, the best 5 of each sentence",
	}
	gold := func(i int) string {
		line := demoSources[i].text
		for _, w := range demoSources[i].words {
			line = strings.Replace(line, "[MASK]", w[0], 1)
		}
		return line
	}
	for i, s := range demoSources {
		c.Sources = append(c.Sources, read.Source{ID: fmt.Sprint(i + 1), Text: s.text, Gold: gold(i)})
	}
	for _, s := range []struct {
		name, params  string
		spread, speed float64 // how many candidates in use; rate of the climb
		accept        float64 // NaN: no acceptance step
		wall          time.Duration
	}{
		{"gibbs", "masked conditionals", 1.5, 9, math.NaN(), 41200 * time.Millisecond},
		{"gwg", "balance sqrt", 2.4, 14, 0.61, 73900 * time.Millisecond},
		{"dula", "α = 0.2, balance sqrt", 6.5, 5, math.NaN(), 58300 * time.Millisecond},
		{"dmala", "α = 0.2, balance sqrt", 5.5, 6, 0.53, 64100 * time.Millisecond},
		{"dlmc", "τ = 0.15, balance ratio", 4.2, 4, 0.57, 69700 * time.Millisecond},
	} {
		run := measure.SamplerRun{Name: s.name, Params: s.params, MoveShare: 0.81, Acceptance: s.accept,
			Wall:        s.wall,
			Evaluations: 30_000, Rows: 120_000, Steps: 6 * 25 * 50}
		if s.name == "gibbs" {
			run.Rows = run.Evaluations
		}
		for i, src := range demoSources {
			var sr measure.SentenceRun
			sr.Total = 25
			sr.Distinct = int(math.Min(25, 4+s.spread*3+float64(rng.IntN(3))))
			for k := range 5 {
				f := infill.Filling{Score: -6.2 - 0.7*float64(k) - 0.15*s.spread - rng.Float64()}
				parts := strings.Split(src.text, "[MASK]")
				f.Text = parts[0]
				for b, w := range src.words {
					pick := int(rng.ExpFloat64() * s.spread / 1.6)
					word := w[min(pick+1, len(w)-1)]
					f.Spans = append(f.Spans, [2]int{len(f.Text), len(f.Text) + len(word)})
					f.Text += word + parts[b+1]
				}
				sr.Fillings = append(sr.Fillings, f)
			}
			run.Sentences = append(run.Sentences, sr)
			level := -14 - 2*float64(i%3)
			for range 5 {
				var t measure.ChainTrace
				t.Sentence = i
				for step := range 50 {
					e := level + 0.3*s.spread - 16*math.Exp(-float64(step)/s.speed) +
						1.1*rng.NormFloat64() - 0.4*s.spread
					t.Energy = append(t.Energy, e)
					t.Evaluations = append(t.Evaluations, 20*float64(step+1))
					if !math.IsNaN(s.accept) {
						a := 0.0
						if rng.Float64() < s.accept-0.25*math.Exp(-float64(step)/6) {
							a = 1
						}
						t.Accepted = append(t.Accepted, a)
					}
				}
				run.Chains = append(run.Chains, t)
			}
		}
		c.Samplers = append(c.Samplers, run)
	}
	return c
}

func demoResult() (*measure.CompareResult, error) {
	fiction, encyclopedia := demoReferences()
	return compare(demo(), []read.Input{
		inMemory("wiki.txt", encyclopedia), inMemory("fiction.txt", fiction),
	}, measure.CompareOptions{Options: withIntervals(0, bleu.Confidence{Resamples: 500, Seed: 7}),
		Examples: 2})
}
