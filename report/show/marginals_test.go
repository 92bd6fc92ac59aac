package show

import (
	"encoding/xml"
	"math"
	"regexp"
	"strconv"
	"testing"

	"infill/infill"
)

// Bars are as long as probabilities are great, whiskers as long as their errors, and hostile words
// stay text.
func TestBars(t *testing.T) {
	t.Parallel()
	se, none := .05, 0.0
	m := &infill.Marginal{Likeliest: []infill.Estimate{
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
	if bars(&infill.Marginal{}, 0, "") != "" {
		t.Error("bars of nothing")
	}
}
