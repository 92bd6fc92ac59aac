package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"infill/infill/jsonl"
)

// Bars are as long as probabilities are great, whiskers as long as their errors, and hostile words
// stay text.
func TestBars(t *testing.T) {
	t.Parallel()
	se, none := .05, 0.0
	m := &jsonl.Marginal{Likeliest: []jsonl.Estimate{
		{Text: `<b>&"`, Probability: .4, Error: &se}, {Text: "b", Probability: .2, Error: &none},
		{Text: "c", Probability: .01, Error: &se}, {Text: "d", Probability: .005},
	}}
	svg := string(bars(m, 1, "bars"))
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
		t.Fatal(err, svg)
	}
	var wide []float64
	for _, x := range regexp.MustCompile(`<rect [^>]*width="([\d.]+)"`).FindAllStringSubmatch(svg, -1) {
		v, _ := strconv.ParseFloat(x[1], 64)
		wide = append(wide, v)
	}
	if len(wide) != 4 || math.Abs(wide[0]-2*wide[1]) > .2 || math.Abs(wide[1]-20*wide[2]) > 2.5 {
		t.Errorf("bars of %v", wide)
	}
	whiskers := regexp.MustCompile(`class="error" d="M([\d.]+) [\d.]+H([\d.]+)M`).FindAllStringSubmatch(svg, -1)
	if len(whiskers) != 2 {
		t.Fatalf("%d whiskers: %s", len(whiskers), svg)
	}
	for i, from := range []float64{.35, 0} { // the axis ends at 0
		a, _ := strconv.ParseFloat(whiskers[i][1], 64)
		b, _ := strconv.ParseFloat(whiskers[i][2], 64)
		want := (m.Likeliest[2*i].Probability + se - from) / .4 * wide[0]
		if math.Abs(b-a-want) > .3 {
			t.Errorf("whisker %d is %v to %v, want a length of %v", i, a, b, want)
		}
	}
	if bars(&jsonl.Marginal{}, 0, "") != "" {
		t.Error("bars of nothing")
	}
}

// The report draws the probabilities of the first records that have any, and says how they came
// about and what is wrong with them.
func TestReportDrawsProbabilities(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	for i := range 5 {
		fmt.Fprintf(&in, `{"line":%d,"text":"the [MASK] %d","fillings":[{"text":"the dog %d","tokens":[],`+
			`"spans":[],"score":null,"score_per_token":null,"chain":0,"step":0,"count":0}],`+
			`"marginals":{"blanks":[{"likeliest":[{"text":"dog","probability":0.5,"standard_error":0.1}],`+
			`"distinct":3,"rest":0.5}],"fillings":{"likeliest":[],"distinct":3,"rest":1},"draws":%d,`+
			`"warning":"chains differ"}}`+"\n", i, i, i, 40*i)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(in.String())), nil }
	r, err := Eval([]Input{{Name: "a.jsonl", Open: open}}, nil, EvalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var html bytes.Buffer
	if err := r.WriteHTML(&html); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"blank 1 of “the [MASK] 0”", "Computed, not sampled.", "From 80 sampled",
		"Others have 50.0 %.", "probabilities of “the [MASK] 2”: chains differ"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(html.String(), "Probabilities of blank 1 of"); n != 2*drawnRecords {
		t.Errorf("%d titles and captions", n)
	}
}
