package torch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"infill/lab/internal/chains"
)

// A realPoint says how far chains had come after a step. Step 0 is the start.
type realPoint struct {
	Step    int            `json:"step"`
	CPU     float64        `json:"cpu_seconds"` // since the call began
	Last    chains.Quality `json:"last"`        // of the states after this step
	Visited chains.Quality `json:"visited"`     // of all states up to it
}

// pathSteps are those that a run keeps points of, beside its last.
var pathSteps = []int{0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 40}

// pathOf is the path of a run, with the seconds of the processor after every step.
func pathOf(t *chains.Trace, cpu []time.Duration) (out []realPoint) {
	for s := range t.Steps() + 1 {
		if s == t.Steps() || slices.Contains(pathSteps, s) {
			out = append(out, realPoint{s, cpu[s].Seconds(), t.At(s), t.Until(s)})
		}
	}
	return out
}

// after are the runs of a program as they stood after a step. Nothing is known of their
// effective draws.
func (t *realTable) after(program string, step int) (out []*realRun) {
	for _, r := range t.of(program) {
		i := slices.IndexFunc(r.Path, func(p realPoint) bool { return p.Step == step })
		if i < 0 {
			continue
		}
		part := *r
		part.CPU, part.Path = r.Path[i].CPU, nil
		part.Wall = r.Wall * part.CPU / r.CPU // the path has no clock
		part.RealStates = &RealStates{Last: r.Path[i].Last, Visited: r.Path[i].Visited}
		out = append(out, &part)
	}
	return out
}

// The programs and steps that are held against all steps of DMALA.
var (
	pathPrograms = []string{realDefault, "gibbs-mh", "gibbs"}
	pathShown    = []int{3, 5, 10, 20, 50}
)

// path writes how far samplers are after some of their steps, beside DMALA after all of them.
func (t *realTable) path(p printer) {
	all := t.of("dmala")
	if len(all) == 0 {
		return
	}
	var lines []string
	for _, name := range pathPrograms {
		for _, step := range pathShown {
			part := t.after(name, step)
			ratio := slower(all, part)
			if len(ratio) == 0 {
				continue
			}
			cells := []string{realName(name), fmt.Sprint(step), fmt.Sprint(len(ratio)), paired(ratio)}
			for _, of := range []func(q *RealStates) float64{
				func(q *RealStates) float64 { return q.Last.Mean },
				func(q *RealStates) float64 { return q.Last.Best },
				func(q *RealStates) float64 { return q.Visited.Best },
				func(q *RealStates) float64 { return float64(q.Last.Distinct) },
			} {
				v := gains(part, all, func(a, b *realRun) float64 {
					return of(a.RealStates) - of(b.RealStates)
				})
				cells = append(cells, fmt.Sprintf("%+.2f (%+.1f to %+.1f)", average(v), slices.Min(v),
					slices.Max(v)))
			}
			lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
		}
	}
	if len(lines) == 0 {
		return
	}
	p("Samplers after some of their steps, beside DMALA (memo, new step sizes) after all %d. Times "+
		"are medians, differences are means (lowest to highest).\n", all[0].Steps)
	p("“Visited” is of all states that the chains came to, as `infill fill` ranks them:\n")
	p("| sampler | steps | sentences | times as fast | mean U, less DMALA's | five best | " +
		"five best visited | distinct |")
	p("|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, l := range lines {
		p("%s", l)
	}
	p("")
}
