package compare

import (
	"bytes"
	"context"
	"encoding/xml"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The standard errors are about the spread of the figures over seeds. They are estimates
// from eight chains, so a factor of two is allowed. With one coordinate of two values the
// distance has the same effective sample size whatever state it is taken from.
func TestStandardErrors(t *testing.T) {
	t.Parallel()
	p, err := ParseProblem("bernoulli:d=1,sd=1.5")
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 24
	var at, se [4][]float64
	for seed := range uint64(seeds) {
		r, err := Compare(context.Background(), p, entries(t, "dmala"),
			Config{Chains: 8, Steps: 300, Burnin: 50, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		x := r.Rows[0]
		for i, v := range []float64{x.Error, x.ESS, x.MeanProb, x.Jump} {
			at[i] = append(at[i], v)
		}
		for i, v := range []float64{x.SE.Error, x.SE.ESS, x.SE.MeanProb, x.SE.Jump} {
			se[i] = append(se[i], v)
		}
	}
	for i, name := range []string{"error", "ESS", "mean probability", "jump"} {
		mean, square, said := 0.0, 0.0, 0.0
		for k := range at[i] {
			mean += at[i][k] / seeds
			said += se[i][k] * se[i][k] / seeds
		}
		for _, v := range at[i] {
			square += (v - mean) * (v - mean) / (seeds - 1)
		}
		if ratio := math.Sqrt(said / square); !(ratio > 0.5 && ratio < 2) {
			t.Errorf("%s: standard errors are %.2f of the spread over seeds", name, ratio)
		} else {
			t.Logf("%s: %.2f", name, ratio)
		}
	}
}

var (
	circle  = regexp.MustCompile(`<circle class="(m|open)" cx="([0-9.]+)" cy="([0-9.]+)"`)
	whisker = regexp.MustCompile(`<path class="whisker" d="M([0-9.]+) ([0-9.]+)H([0-9.]+)M`)
	viewBox = regexp.MustCompile(`viewBox="0 0 ([0-9]+) ([0-9]+)"`)
	ticks   = regexp.MustCompile(`class="tick" x="([0-9.]+)"`)
)

// The chart has axes with ticks, lines around its points, and text that can be read on a
// screen of 500 pixels, in light and dark.
func TestChart(t *testing.T) {
	t.Parallel()
	r := marked(t)
	var b bytes.Buffer
	if err := r.WriteSVG(&b, true); err != nil {
		t.Fatal(err)
	}
	svg := b.String()
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	size := viewBox.FindStringSubmatch(svg)
	if size == nil || 12.5*455/number(size[1]) < 10 {
		t.Fatalf("%q: text of less than 10 pixels on a page of 455", size)
	}
	points := map[string]float64{}
	for _, c := range circle.FindAllStringSubmatch(svg, -1) {
		if x := number(c[2]); x < 0 || x > number(size[1]) || number(c[3]) > number(size[2]) {
			t.Errorf("a point outside the chart: %q", c)
		}
		points[c[3]+" "+strconv.FormatBool(number(c[2]) > number(size[1])/2+30)] = number(c[2])
	}
	lines := whisker.FindAllStringSubmatch(svg, -1)
	if len(lines) < len(points)/2 || len(points) < 10 {
		t.Errorf("%d points, %d of them with a line", len(points), len(lines))
	}
	for _, l := range lines {
		if from, to := number(l[1]), number(l[3]); !(from < to) {
			t.Errorf("a line from %v to %v", from, to)
		}
	}
	if n := len(ticks.FindAllString(svg, -1)); n < 10 {
		t.Errorf("%d ticks in five panels", n)
	}
	for _, want := range []string{"prefers-color-scheme: dark", "RMS error", ", logarithmic",
		"one standard error"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the chart has no %q", want)
		}
	}
	// A chart without an estimate has no lines.
	for i := range r.Rows {
		nan := math.NaN()
		r.Rows[i].SE = SE{nan, nan, nan, nan}
	}
	b.Reset()
	if err := r.WriteSVG(&b, true); err != nil || strings.Contains(b.String(), `class="whisker"`) {
		t.Errorf("%v: a line without an estimate", err)
	}
}

// A long name is cut, and its letters cannot break the chart.
func TestChartOfLongNames(t *testing.T) {
	t.Parallel()
	r := marked(t)
	r.Rows[0].Label = "dmala:<&>" + strings.Repeat("x", 60)
	var b bytes.Buffer
	if err := r.WriteSVG(&b, false); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(b.Bytes(), new(struct{})); err != nil {
		t.Error(err)
	}
	if want := "dmala:&lt;&amp;&gt;" + strings.Repeat("x", 14) + "…</text>"; !strings.Contains(b.String(),
		want) {
		t.Errorf("no %q", want)
	}
}
