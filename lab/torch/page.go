package torch

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

// reading is what the numbers mean, written by hand: what was gained where,
// and what explains the distance from targets that are not met.
//
//go:embed reading.md
var reading string

// head is what the page begins with: how it is made and what is compared.
//
//go:embed head.txt
var head string

// A target is one of the project's own.
type target struct {
	what  string
	want  string
	value func(b *book) (got string, met, known bool)
}

// ratioTarget wants infill to be this many times as fast in every cell of a model.
func ratioTarget(model, than string, want float64, numeral string) target {
	return target{
		what: fmt.Sprintf("%s against %s %s", modelName(model), numeral, than),
		want: fmt.Sprintf("≥ %g×", want),
		value: func(b *book) (string, bool, bool) {
			var all []float64
			for _, r := range b.Cells {
				if r.Cell.Model == model {
					all = append(all, r.ratio(ours, than).Median)
				}
			}
			if len(all) == 0 {
				return "", false, false
			}
			got := fmt.Sprintf("%.2f× (median of %d cells; %.2f–%.2f)", median(all), len(all),
				slices.Min(all), slices.Max(all))
			return got, median(all) >= want, true
		},
	}
}

func cellTarget(what, want string, c cell, f func(r *Result) (string, bool)) target {
	return target{what: what, want: want, value: func(b *book) (string, bool, bool) {
		r := b.result(c)
		if r == nil {
			return "", false, false
		}
		got, met := f(r)
		return got, met, got != unknown
	}}
}

func targets() []target {
	base := cell{"base", 25, 4}
	var out []target
	for k, than := range []string{straightforward, saving} {
		for _, m := range recordedModels {
			out = append(out, ratioTarget(m, than, wanted(m)[k], fmt.Sprintf("(%d)", k+1)))
		}
	}
	out = append(out,
		cellTarget("BERT-base size, fp32: share of the sgemm rate, 25 words, 4 blanks", "≥ 90 %", base,
			func(r *Result) (string, bool) {
				x := r.gflops(ours) / r.Peak.Best()
				return fmt.Sprintf("%.0f %%", 100*x), x >= 0.9
			}),
	)
	for _, m := range recordedModels {
		out = append(out, cellTarget("two threads against one, "+modelName(m)+", 25 words, 4 blanks",
			"≥ 1.9", cell{m, 25, 4}, threadRatio))
	}
	return out
}

// wanted is how many times as fast as (1) and (2) infill is to be on a model.
func wanted(model string) [2]float64 {
	if model == "base" {
		return [2]float64{4, 1.2}
	}
	return [2]float64{12, 1.5}
}

func threadRatio(r *Result) (string, bool) {
	x := r.ratio(ours, single)
	return x.String(), x.Median >= 1.9
}

// page writes lab/notebook/performance.md.
func (b *book) page() (string, error) {
	var w strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	m := b.Machine
	p("# Performance\n")
	if err := b.realSection(p); err != nil {
		return "", err
	}
	b.waitTable(p)
	fmt.Fprintf(&w, head, tolerance)
	if m.CPU != "" {
		p("Machine: %s, %d cores, %s. %s, ONNX Runtime %s, PyTorch %s (%s), transformers %s.\n"+
			"Float32 throughout.\n",
			m.CPU, m.Cores, m.OS, m.Go, m.ORT, m.Torch, strings.ToUpper(m.BLAS), m.Transformers)
	}
	b.targetTable(p)
	if len(b.Cells) > 0 {
		p("![Chain-steps per second of infill over those of PyTorch](performance/ratios.svg)\n")
	}
	for _, model := range recordedModels {
		b.cellTables(p, model)
	}
	b.agreement(p)
	b.profileTables(p)
	w.WriteString(reading)
	return w.String(), nil
}

type printer func(format string, args ...any)

func (b *book) targetTable(p printer) {
	p("## Targets\n")
	p("| | target | measured | met |")
	p("|---|---|---|---|")
	for _, t := range targets() {
		got, met, known := t.value(b)
		if !known {
			continue
		}
		yes := "no"
		if met {
			yes = "yes"
		}
		p("| %s | %s | %s | %s |", t.what, t.want, got, yes)
	}
	p("")
}

// columns explains the first table of a model, rates the second.
const (
	columns = `The first columns are chain-steps per second, medians. “Moved” is the share of
proposals that differ from the state. “Evaluated” is the number of states that infill evaluated
per chain-step. Unmoved proposals and states that several chains share are not evaluated again.
`
	rates = `
GFLOP/s are the multiplications and additions of matrix products that were made, over the wall
time. sgemm is the rate of the median call at the best of the sizes
%s, with all threads.
`
)

func (b *book) cellTables(p printer, model string) {
	var cells []*Result
	for _, r := range b.Cells {
		if r.Cell.Model == model {
			cells = append(cells, r)
		}
	}
	if len(cells) == 0 {
		return
	}
	first := cells[0]
	title := "The " + modelName(model)
	if model == "base" {
		title = "BERT-base size, random weights"
	}
	p("## %s\n", title)
	if what := b.Models[model]; what != "" {
		p("%s.", what)
	}
	bias := ""
	if model == "base" {
		bias = " The output bias follows Zipf's law, so that the model prefers\n" +
			"some words as text does. The other weights are as before training."
	}
	p("%d chains, %d threads, %d sentence(s) a length.%s\n", first.Chains, first.Threads,
		len(first.Alpha), bias)
	p("| words | blanks | (1) | (2) | infill | infill / (1) | infill / (2) | moved | evaluated |")
	p("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, r := range cells {
		p("| %d | %d | %s | %s | %s | %s | %s | %.2f | %.2f |", r.Cell.Words, r.Cell.Blanks,
			short(median(r.rates(straightforward))), short(median(r.rates(saving))),
			short(median(r.rates(ours))),
			r.ratio(ours, straightforward), r.ratio(ours, saving), r.moved(), r.evaluated())
	}
	p("\n%s", columns)
	p("| words | blanks | CPU ms a chain-step (1) / (2) / infill | peak memory, MB | GFLOP/s | " +
		"share of sgemm | sgemm: torch.mm / ONNX Runtime | measured at |")
	p("|---:|---:|---|---|---|---|---|---|")
	for _, r := range cells {
		each := func(f func(name string) float64, format string) string {
			return fmt.Sprintf(format+" / "+format+" / "+format, f(straightforward), f(saving), f(ours))
		}
		cpu := func(n string) string { return short(1e3 * r.cpu(n)) }
		p("| %d | %d | %s | %s | %s | %s | %.0f / %.0f | %s |", r.Cell.Words, r.Cell.Blanks,
			cpu(straightforward)+" / "+cpu(saving)+" / "+cpu(ours),
			each(func(n string) float64 { return float64(r.Samplers[n].Memory) / 1e6 }, "%.0f"),
			each(r.gflops, "%.0f"),
			each(func(n string) float64 { return 100 * r.gflops(n) / r.Peak.Best() }, "%.0f %%"),
			largest(r.Peak.Torch), largest(r.Peak.ORT), r.Commit)
	}
	p(rates, sizes())
	for _, r := range cells {
		if r.Samplers[single] != nil {
			p("With one thread infill makes %.3g chain-steps per second at %d words and %d blanks; with "+
				"%d threads %s times that.\n",
				median(r.rates(single)), r.Cell.Words, r.Cell.Blanks, r.Threads, r.ratio(ours, single))
		}
	}
}

func sizes() string {
	var out []string
	for _, p := range products {
		out = append(out, fmt.Sprintf("%d×%d×%d", p[0], p[1], p[2]))
	}
	return strings.Join(out, ", ")
}

// short writes a positive number in three digits, or all before the point.
func short(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// unknown stands for what was not measured.
const unknown = "–"

// String prints the median and the range.
func (r Ratio) String() string {
	if math.IsNaN(r.Median) {
		return unknown
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", r.Median, r.Low, r.High)
}

func (b *book) agreement(p printer) {
	if b.Agree == nil {
		return
	}
	a := b.Agree
	p("## The three sample the same\n")
	p("%d chains, %d steps after %d that are left out, %d words, %d blanks, %s (%s).",
		a.Chains, a.Steps,
		a.Warm, a.Cell.Words, a.Cell.Blanks, modelName(a.Cell.Model), a.Commit)
	p("± is one standard error, from the spread between chains. The mean probability is the " +
		"probability of accepting a proposal, where one that is the state itself counts 1.\n")
	p("| | mean probability | mean U, nats | largest difference of U, of ∇U from infill's |")
	p("|---|---|---|---|")
	for _, name := range []string{straightforward, saving, ours} {
		s := a.Samplers[name]
		d := "–"
		if s.Check != nil {
			d = fmt.Sprintf("%.1e, %.1e (largest entry %.1f)", s.Check.Energy, s.Check.Gradient,
				s.Check.Largest)
		}
		p("| %s | %.3f ± %.3f | %.2f ± %.2f | %s |", name, s.Prob.Value, s.Prob.Error, s.Energy.Value,
			s.Energy.Error, d)
	}
	p("")
}

func (b *book) profileTables(p printer) {
	if len(b.Profiles) == 0 {
		return
	}
	p("## Where infill's time goes\n")
	p("ONNX Runtime's own profile of gradient calls (energy, log-probabilities and gradient of " +
		"every chain's state), with")
	p("one thread. Rows of at least 1 %%. GFLOP/s are the operations of products over all of the " +
		"row's time.\n")
	for _, c := range recorded() {
		f := b.Profiles[c.String()]
		if f == nil {
			continue
		}
		sum, flops := f.sums()
		p("### %s, %d words and %d blanks\n", modelName(c.Model), c.Words, c.Blanks)
		p("%.0f GFLOP/s of the wall time, %.3g operations a token, %.1f %% of the wall time in "+
			"operators (%s).\n", flops/f.Wall/1e9, flops/f.Tokens, 100*sum/f.Wall, f.Commit)
		for _, t := range []struct {
			title string
			list  []opTime
		}{{"kind of work", f.Kinds}, {"operator", f.Ops},
			{"product, rows × inner × columns", f.Products}} {
			timeTable(p, t.title, t.list, sum)
		}
	}
}

// timeTable shows what takes at least a hundredth of the time.
func timeTable(p printer, title string, list []opTime, sum float64) {
	if len(list) == 0 {
		return
	}
	p("| %s | calls | share of the time | GFLOP/s |", title)
	p("|---|---:|---:|---:|")
	for _, o := range list {
		if o.Seconds < 0.01*sum {
			break
		}
		rate := ""
		if o.FLOPs > 0 {
			rate = fmt.Sprintf("%.0f", o.FLOPs/o.Seconds/1e9)
		}
		p("| %s | %d | %.1f %% | %s |", o.Op, o.Calls, 100*o.Seconds/sum, rate)
	}
	p("")
}
