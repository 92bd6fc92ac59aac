package torch

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"infill/lab/internal/runlog"
)

// realHead says how to read the tables of real models, realReading what they show.
//
//go:embed realhead.txt
var realHead string

//go:embed realreading.md
var realReading string

// The program that others are compared with, and the one that has the targets of the time before.
const (
	realDefault = "rows"
	realBefore  = "before"
)

// realNames are programs as the page calls them.
var realNames = map[string]string{
	"before":                 "DMALA, infill before",
	"dmala":                  "DMALA, memo, new step sizes",
	"dmala:gradient=forward": "the same, forward gradient",
	"dlmc":                   "DLMC",
	"gibbs-mh":               "`gibbs-mh`",
	"gibbs":                  "`gibbs` (not exact)",
	"rows":                   "`rows`",
}

func realName(program string) string {
	if name := realNames[program]; name != "" {
		return name
	}
	rest, ok := strings.CutPrefix(program, "torch")
	if !ok {
		return "`" + program + "`"
	}
	p, err := parseTorch(strings.TrimPrefix(rest, ":"))
	if err != nil {
		return "`" + program + "`"
	}
	name := "PyTorch, straightforward, float32"
	if p.bfloat16 {
		name = "PyTorch, straightforward, bfloat16 autocast"
	}
	if p.chains > 0 {
		name += fmt.Sprintf(", %d of the chains", p.chains)
	}
	if p.steps > 0 {
		name += fmt.Sprintf(", %d of the steps", p.steps)
	}
	return name
}

// cost is the run's seconds of the processor, for all that was asked for.
func (r *realRun) cost() float64 {
	return r.CPU * float64(r.Chains*r.Steps) / float64(r.Made)
}

// clock is the run's seconds of the clock, for all that was asked for.
func (r *realRun) clock() float64 { return r.Wall * r.cost() / r.CPU }

// perMinute are effective draws a minute of the processor, the burn-in paid for.
func (r *realRun) perMinute(ess float64) float64 { return ess / r.cost() * 60 }

// A realTable has the runs of a model with the same settings.
type realTable struct {
	runs     []realRun
	programs []string // in the order of the page
	again    bool     // whether the table before is of the same model and processor
}

// realTables groups the runs of a file: models in the order in which they came, the runs of most
// threads first, because the targets are of two. Those of a processor with more come behind.
func realTables(all []realRun) []*realTable {
	var out []*realTable
	at := map[realKey]*realTable{}
	for _, r := range all {
		k := r.realKey
		k.Program, k.Sentence, k.Seed = "", "", 0
		t := at[k]
		if t == nil {
			t = &realTable{}
			at[k], out = t, append(out, t)
		}
		t.runs = append(t.runs, r)
		if !slices.Contains(t.programs, r.Program) {
			t.programs = append(t.programs, r.Program)
		}
	}
	models := map[string]int{}
	for i, t := range out {
		slices.SortStableFunc(t.programs, func(a, b string) int { return realRank(a) - realRank(b) })
		if _, ok := models[t.runs[0].Model]; !ok {
			models[t.runs[0].Model] = i
		}
	}
	slices.SortStableFunc(out, func(a, b *realTable) int {
		x, y := a.runs[0], b.runs[0]
		return cmp.Or(models[x.Model]-models[y.Model], strings.Compare(x.Processor, y.Processor),
			y.Threads-x.Threads)
	})
	for i := 1; i < len(out); i++ {
		x, y := out[i-1].runs[0], out[i].runs[0]
		out[i].again = x.Model == y.Model && x.Processor == y.Processor
	}
	return out
}

// realRank orders programs: PyTorch, infill before, infill of now as in realPrograms.
func realRank(program string) int {
	switch i := slices.Index(strings.Fields(realPrograms), program); {
	case strings.HasPrefix(program, "torch"):
		return 0
	case program == realBefore:
		return 1
	case i < 0:
		return 100
	default:
		return 2 + i
	}
}

func (t *realTable) of(program string) (out []*realRun) {
	for i := range t.runs {
		if t.runs[i].Program == program {
			out = append(out, &t.runs[i])
		}
	}
	return out
}

// pairs calls f with the runs of two programs on the same sentence and seed, and returns what it
// returned.
func pairs(a, b []*realRun, f func(a, b *realRun) float64) (out []float64) {
	for _, x := range a {
		for _, y := range b {
			if x.Sentence == y.Sentence && x.Seed == y.Seed {
				out = append(out, f(x, y))
			}
		}
	}
	return out
}

// slower is how many times the processor time of b a takes, in pairs.
func slower(a, b []*realRun) []float64 {
	return pairs(a, b, func(x, y *realRun) float64 { return x.cost() / y.cost() })
}

// slowerByClock is the same by the clock, which says something where nothing else ran.
func slowerByClock(a, b []*realRun) []float64 {
	return pairs(a, b, func(x, y *realRun) float64 { return x.clock() / y.clock() })
}

// states are what f says of a program's runs that have states.
func (t *realTable) states(program string, f func(r *realRun) float64) (out []float64) {
	for _, r := range t.of(program) {
		if r.RealStates != nil {
			out = append(out, f(r))
		}
	}
	return out
}

// gains compares what f says of the states of two programs, in pairs.
func gains(a, b []*realRun, f func(a, b *realRun) float64) []float64 {
	return slices.DeleteFunc(pairs(a, b, func(x, y *realRun) float64 {
		if x.RealStates == nil || y.RealStates == nil {
			return math.NaN()
		}
		return f(x, y)
	}), math.IsNaN)
}

// realSection is the first thing on the page: what is recorded of real models.
func (b *book) realSection(p printer) error {
	if b.dir == "" {
		return nil
	}
	all, _, err := runlog.Read[realRun](filepath.Join(b.dir, "performance", realFile))
	if err != nil || len(all) == 0 {
		return err
	}
	p("## On real text\n")
	p("%s\n", strings.TrimSpace(realHead))
	for _, t := range realTables(all) {
		t.write(p)
	}
	p("%s\n", strings.TrimSpace(realReading))
	return nil
}

func (t *realTable) write(p printer) {
	k := t.runs[0]
	var sgemm []float64
	var versions []string
	for _, r := range t.runs {
		if r.Sgemm > 0 {
			sgemm = append(sgemm, r.Sgemm)
		}
		if !slices.Contains(versions, r.Version) {
			versions = append(versions, r.Version)
		}
	}
	title := k.Model
	if k.Processor != "" {
		title += ", a processor with " + k.Processor
	}
	if t.again {
		title += fmt.Sprintf(", %s", threads(k.Threads))
	}
	p("### %s\n", title)
	rate := ""
	if len(sgemm) > 0 {
		rate = fmt.Sprintf(" torch.mm made %.0f GFLOP a second of the processor.", median(sgemm))
	}
	p("%d chains, %d steps, %s, versions %s.%s\n", k.Chains, k.Steps, threads(k.Threads),
		strings.Join(versions, ", "), rate)
	clock, moves, rule := "", "", ""
	if k.Threads > 1 {
		clock, rule = "wall, times that of `rows` | ", "--:|"
	}
	if t.hasAcceptance() {
		moves, rule = "acceptance | ", rule+"--:|"
	}
	p("| program | runs | CPU s | wall s | CPU, times that of `rows` | " + clock +
		"mean probability | " + moves +
		"moves a chain | mean U | five best | distinct | ESS of U a CPU minute | of the tokens |")
	p("|---|--:|--:|--:|--:|--:|" + rule + "--:|--:|--:|--:|--:|--:|")
	for _, name := range t.programs {
		p("%s", t.line(name))
	}
	p("")
	if !t.again { // one table has them, that of most threads
		t.targets(p)
		t.equal(p)
	}
	t.path(p)
}

func (t *realTable) line(name string) string {
	var cpu, wall []float64
	for _, r := range t.of(name) {
		cpu = append(cpu, r.cost())
		wall = append(wall, r.clock())
	}
	cells := []string{realName(name), fmt.Sprint(len(cpu)), short(median(cpu)), short(median(wall)),
		paired(slower(t.of(name), t.of(realDefault)))}
	for _, c := range []struct {
		format string
		value  func(r *realRun) float64
	}{
		{"%.2f", func(r *realRun) float64 { return r.MeanProb }},
		{"%.1f", func(r *realRun) float64 { return r.Moves }},
		{"%.2f", func(r *realRun) float64 { return r.Last.Mean }},
		{"%.2f", func(r *realRun) float64 { return r.Last.Best }},
		{"%.1f", func(r *realRun) float64 { return float64(r.Last.Distinct) }},
		{"%.3g", func(r *realRun) float64 { return r.perMinute(r.EnergyESS) }},
		{"%.3g", func(r *realRun) float64 { return r.perMinute(r.TokenESS) }},
	} {
		cell := unknown
		if v := t.states(name, c.value); len(v) > 0 {
			cell = fmt.Sprintf(c.format, average(v))
		}
		cells = append(cells, cell)
	}
	if t.hasAcceptance() {
		cells = slices.Insert(cells, 6, t.acceptance(name))
	}
	if t.runs[0].Threads > 1 {
		cells = slices.Insert(cells, 5, paired(slowerByClock(t.of(name), t.of(realDefault))))
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// hasAcceptance reports whether a run of the table says what share of moves was accepted.
func (t *realTable) hasAcceptance() bool {
	return slices.ContainsFunc(t.runs, func(r realRun) bool { return r.Acceptance != nil })
}

// acceptance is the mean of a program's runs, with their number where some do not have it: those
// of earlier programs.
func (t *realTable) acceptance(name string) string {
	var v []float64
	for _, r := range t.of(name) {
		if r.Acceptance != nil {
			v = append(v, *r.Acceptance)
		}
	}
	switch len(v) {
	case 0:
		return unknown
	case len(t.of(name)):
		return fmt.Sprintf("%.2f", average(v))
	}
	return fmt.Sprintf("%.2f (%d)", average(v), len(v))
}

// threads is a number of them in words.
func threads(n int) string {
	if n == 1 {
		return "one thread"
	}
	return fmt.Sprintf("%d threads", n)
}

func average(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
