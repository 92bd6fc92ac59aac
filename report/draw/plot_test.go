package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// TestPlot checks four things. A plot is well-formed, lines break at missing values, errors are
// drawn, and names do not overlap.
func TestPlot(t *testing.T) {
	t.Parallel()
	p := Plot{
		Title: "a < b",
		Panels: []Panel{
			{
				Title: "one", X: "x", Y: "y", LogX: true, LogY: true,
				Lines: []Line{
					{
						Name: "broken", X: []float64{1, 2, 3, 4, 5},
						Y: []float64{1, 2, 0, 4, 5}, SE: []float64{.1, .1, .1, .1, .1},
					},
					{Name: "near", Series: 9, X: []float64{1, 5}, Y: []float64{1, 5.01}},
				},
			},
			{Lines: []Line{{Name: "marks", X: []float64{1, 2}, Y: []float64{3, 4},
				SE: []float64{1, math.NaN()}, Marks: true}}},
			{Title: "empty", Lines: []Line{{Name: "nothing", X: []float64{1}, Y: []float64{math.NaN()}}}},
		},
		Notes: []string{"a note"},
	}
	var b bytes.Buffer
	if err := p.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	svg := b.String()
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for part, want := range map[string]int{`class="band"`: 1, `class="whisker"`: 1, "<circle": 2,
		"line dash1": 1, ">broken</text>": 1, ">nothing</text>": 0, "a &lt; b</text>": 1,
		"NaN": 0, "Inf": 0} {
		if n := strings.Count(svg, part); n != want {
			t.Errorf("%s is %d times in the drawing, want %d", part, n, want)
		}
	}
	_, path, _ := strings.Cut(svg, `class="line dash0" d="`)
	path, _, _ = strings.Cut(path, `"`)
	if strings.Count(path, "M") != 2 || strings.Count(path, "L") != 2 {
		t.Errorf("the broken line is %s, want two pieces of two points", path)
	}
	x, y := p.Panels[0].axes()
	y.From, y.To = 300, 0
	at := (&Chart{X: x, Y: y}).names(p.Panels[0].Lines)
	if d := at[0] - at[1]; d < LineHeight-.1 || d > LineHeight+.1 {
		t.Errorf("names at %v, want %v apart with the higher value above", at, LineHeight)
	}

	// A crowd at either end of the axis stays within it.
	for end, want := range map[float64]float64{0: 300 - 5*LineHeight, 1: 0} {
		var crowd []Line
		for range 6 {
			crowd = append(crowd, Line{X: []float64{1}, Y: []float64{end}})
		}
		c := &Chart{Y: Axis{Lo: 0, Hi: 1, From: 300, To: 0}}
		for i, v := range c.names(crowd) {
			if math.Abs(v-want-LineHeight*float64(i)) > .1 {
				t.Errorf("name %d of lines that end at %v at %v, want %v", i, end, v,
					want+LineHeight*float64(i))
			}
		}
	}
	for panels, wide := range map[int]string{1: `width="640"`, 3: `width="960"`} {
		svg := Plot{Panels: p.Panels[:panels]}.SVG()
		if !strings.HasPrefix(svg, `<svg xmlns="http://www.w3.org/2000/svg" `+wide) {
			t.Errorf("%d panels are drawn as %.90s, want %s", panels, svg, wide)
		}
	}
}
