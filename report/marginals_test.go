package report_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

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
	r, err := measure.Eval([]read.Input{{Name: "a.jsonl", Open: open}}, nil, measure.EvalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var html bytes.Buffer
	if err := show.Eval(r).HTML(&html); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"blank 1 of “the [MASK] 0”", "Computed, not sampled.", "From 80 sampled",
		"Others have 50.0 %.", "probabilities of “the [MASK] 2”: chains differ"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(html.String(), "Probabilities of blank 1 of"); n != 2*3 {
		t.Errorf("%d titles and captions", n)
	}
}
