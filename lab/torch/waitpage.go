package torch

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// waitReading is what the times of lab/speed say, written by hand.
//
//go:embed waitreading.txt
var waitReading string

// A wait is a benchmark of lab/speed as the page calls it.
type wait struct {
	name, what string
	most       float64 // seconds of the clock that it is to take, 0: any
	least      float64 // sentences a second, at least
}

// waits are in the order of the page.
var waits = []wait{
	{name: "Command/default/start",
		what: "`infill fill`, one blank, one chain, no step, from process start to the printed filling"},
	{name: "Command/small/start", what: onSmall, most: 0.5},
	{name: "Command/default/start-and-one-blank",
		what: "`infill fill`, one blank, from process start"},
	{name: "Command/small/start-and-one-blank", what: onSmall},
	{name: "Command/default/start-and-four-blanks", most: 2.5,
		what: "`infill fill`, 4 blanks of 20 words, 25 chains of 20 steps, from process start"},
	{name: "Command/small/start-and-four-blanks", what: onSmall},
	{name: "Fill/rows/threads=1",
		what: "that fill with 50 steps, on `small`, without the start, one thread"},
	{name: "Fill/rows/threads=2", what: "the same, two threads", most: 2},
	{name: "Fill/dmala/threads=1", what: "the same with `--sampler dmala`, one thread"},
	{name: "Fill/dmala/threads=2", what: "the same, two threads"},
	{name: "Batch/sentences=12/threads=1", what: "`infill batch --model small`, 12 sentences of " +
		"12 words with 2 blanks, 10 chains of 10 steps, from process start, one thread"},
	{name: "Batch/sentences=12/threads=2", what: "the same, two threads"},
	{name: "Batch/sentences=300/threads=1", what: "300 such sentences, one thread"},
	{name: "Batch/sentences=300/threads=2", what: "the same, two threads", least: 20},
	{name: "Batch/default/sentences=12/threads=1", least: 20,
		what: "`infill batch --model default`, 12 such sentences, one thread"},
	{name: "Batch/default/sentences=12/threads=2", least: 20,
		what: "`infill batch --model default`, 12 such sentences, two threads"},
	{name: "Score/threads=1", what: "score of 50 sentences of 17 words on `small`, one thread"},
	{name: "Score/threads=2", what: "the same, two threads"},
}

const onSmall = "the same with `--model small`"

// The metrics of the benchmarks that the page has.
const (
	cpuMetric      = "cpu-s/op"
	sentenceMetric = "sentences/s"
)

// waitTable says how long users wait.
func (b *book) waitTable(p printer) {
	if len(b.Latency) == 0 {
		return
	}
	p("## How long it takes\n")
	p("Benchmarks of `lab/speed` on the models of the program, made by `bin/lab torch " +
		"-latency -write lab/notebook`: median")
	p("(lowest–highest) of %d runs. Measured at %s on: %s.\n", b.waitRuns(), b.waitCommits(),
		b.LatencyOn)
	p("| | seconds of the clock | of the processor | sentences a second of the clock | " +
		"of the processor | target | met |")
	p("|---|--:|--:|--:|--:|--:|---|")
	for _, w := range waits {
		l, ok := b.Latency[w.name]
		if !ok {
			continue
		}
		cpu, each, eachCPU := l.Metrics[cpuMetric], "", ""
		if rate := l.Metrics[sentenceMetric]; rate > 0 {
			each, eachCPU = fmt.Sprintf("%.3g", rate), fmt.Sprintf("%.3g", rate*l.Seconds/cpu)
		}
		target, met := w.target(l)
		p("| %s | %.2f (%.2f–%.2f) | %.2f | %s | %s | %s | %s |", w.what, l.Seconds, l.Low, l.High, cpu,
			each, eachCPU, target, met)
	}
	p("")
	for _, w := range waits {
		if l, ok := b.Latency[w.name]; ok && l.On != "" {
			p("By itself, with `-bench`: %s, %d run(s), measured at %s on: %s.\n", w.what, l.Runs, l.Commit,
				l.On)
		}
	}
	p("%s", waitReading)
}

// target is what a wait is to be, and whether it is.
func (w wait) target(l Benchmark) (want, met string) {
	ok := false
	switch {
	case w.most > 0:
		want, ok = fmt.Sprintf("≤ %g s", w.most), l.Seconds <= w.most
	case w.least > 0:
		want, ok = fmt.Sprintf("≥ %g a second", w.least), l.Metrics[sentenceMetric] >= w.least
	default:
		return "", ""
	}
	if ok {
		return want, "yes"
	}
	return want, "no"
}

// waitRuns is how often each benchmark ran, at least, of those that ran together.
func (b *book) waitRuns() int {
	least := 0
	for _, l := range b.Latency {
		if l.On == "" && (least == 0 || l.Runs < least) {
			least = l.Runs
		}
	}
	return least
}

// waitCommits lists the versions that were measured together.
func (b *book) waitCommits() string {
	at := map[string]bool{}
	for _, l := range b.Latency {
		if l.On == "" {
			at[l.Commit] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(at)), ", ")
}
