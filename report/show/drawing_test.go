package show

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"infill/infill"
	"infill/report/draw"
	"infill/report/measure"
	"infill/report/read"
)

// Labels of crowded points lie on no point, interval or other label.
func TestLabelsLieOnNothing(t *testing.T) {
	t.Parallel()
	var o obstacles
	frame := box{60, 40, 500, 400}
	at := [][2]float64{{200, 200}, {204, 207}, {190, 215}, {230, 205}, {490, 60}, {492, 66}, {64, 396}}
	for _, p := range at {
		o.add(box{p[0] - 8, p[1] - 8, p[0] + 8, p[1] + 8})
		o.add(box{p[0] - 60, p[1] - 4, p[0] + 60, p[1] + 4})
	}
	for _, p := range at {
		before := obstacles{append([]box(nil), o.boxes...)}
		b, ok := o.place(p[0], p[1], 70, frame)
		if !ok || before.covered(b) > 0 {
			t.Errorf("the label of %v lies at %v on %v", p, b, before.covered(b))
		}
		if b.x0 < frame.x0 || b.y0 < frame.y0 || b.x1 > frame.x1 || b.y1 > frame.y1 || b.x1-b.x0 != 70 {
			t.Errorf("the label of %v lies at %v", p, b)
		}
		if math.Abs(b.x0-p[0]) > 200 || math.Abs(b.y0-p[1]) > 110 {
			t.Errorf("the label of %v lies far away, at %v", p, b)
		}
	}
	if _, ok := o.place(200, 200, 600, frame); ok {
		t.Error("a label wider than the frame has a place")
	}
}

var tickText = regexp.MustCompile(`class="tick"[^>]*text-anchor="middle">([^<]*)<`)

func number(key, label string) measure.Metric {
	none := math.NaN()
	return measure.Metric{Key: key, Label: label, Value: none, Low: none, High: none, Decimals: 2}
}

// The axis fits the points; a reference far away has its name at that end.
func TestAxisFitsThePoints(t *testing.T) {
	t.Parallel()
	point := func(name string, x, y float64) planePoint {
		p := planePoint{name, number("bleu", "BLEU"), number("self_bleu", "self-BLEU")}
		p.x.Value, p.y.Value = x, y
		return p
	}
	points := []planePoint{point("a", 5, 40), point("b", 8, 50)}
	for value, name := range map[float64]string{60: "original sentences: 60.00 →",
		1: "← original sentences: 1.00"} {
		gold := number("gold", "gold")
		gold.Value = value
		svg := string(plane(points, &gold, "x"))
		if !strings.Contains(svg, name) || strings.Contains(svg, `class="gold"`) {
			t.Errorf("no %q, or a line: %s", name, svg)
		}
		for _, m := range tickText.FindAllStringSubmatch(svg, -1) {
			if v, err := strconv.ParseFloat(m[1], 64); err != nil || v < 4 || v > 9 {
				t.Errorf("tick %q of points from 5 to 8", m[1])
			}
		}
	}
	gold := number("gold", "gold")
	gold.Value = 6
	if svg := string(plane(points, &gold, "x")); strings.Count(svg, `class="gold"`) != 1 {
		t.Error("a reference among the points has no line")
	}
	if svg := plane([]planePoint{{name: "a", x: number("", ""), y: number("", "")}}, nil,
		"x"); svg != "" {
		t.Error("a plane without points")
	}
}

var svgHead = regexp.MustCompile(`<svg viewBox="0 0 (\d+) `)

// On a screen of 500 pixels, 455 of which are the page's, the text of the drawings has at least 10
// of its 12.5 pixels. All of them have one width, and two stand beside each other on a page of 1011.
func TestDrawingsFitTheScreen(t *testing.T) {
	t.Parallel()
	rows := []measure.Row{{Name: "a"}, {Name: "b"}}
	for i := range rows {
		for n := 1; n <= 4; n++ {
			m := number(fmt.Sprintf("unique.self.%d", n), "u")
			m.Value = float64(10*n + i)
			rows[i].Metrics = append(rows[i].Metrics, m)
		}
		for k, key := range []string{"bleu.all", "self_bleu"} {
			m := number(key, key)
			m.Value = float64(20*k + i)
			rows[i].Metrics = append(rows[i].Metrics, m)
		}
	}
	marginals := &infill.Marginals{Blanks: []infill.Marginal{{Likeliest: []infill.Estimate{
		{Text: "dog", Probability: .4}}}}}
	r := &measure.EvalResult{Rows: rows, Files: make([]read.File, 2),
		Command: "infill eval a b", Version: "v9", Date: "2026-01-31"}
	some := slices.Grow(r.Files[1].Probabilities, 1)[:1]
	some[0].Text, some[0].Marginals = "the [MASK]", marginals
	r.Files[1].Probabilities = some
	var page bytes.Buffer
	if err := Eval(r).HTML(&page); err != nil {
		t.Fatal(err)
	}
	heads := svgHead.FindAllStringSubmatch(page.String(), -1)
	if len(heads) != 3 {
		t.Errorf("%d drawings", len(heads))
	}
	for _, m := range heads {
		width, _ := strconv.ParseFloat(m[1], 64)
		if width != draw.Width || 12.5*455/width < 10 || 2*width > 1011 {
			t.Errorf("%s: text of %.1f pixels on a small screen", m[0], 12.5*455/width)
		}
	}
	css := page.String()
	for _, want := range []string{
		"minmax(min(26rem, 100%), 1fr)",
		"<dt>command</dt><dd>infill eval a b</dd>", "<dt>version</dt><dd>v9</dd>",
		"<dt>date</dt><dd>2026-01-31</dd>",
	} {
		if !strings.Contains(css, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
