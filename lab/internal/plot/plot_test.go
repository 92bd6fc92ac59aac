package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/report/draw"
)

// TestPlot checks four things. A plot is well-formed, lines break at missing values, errors are
// drawn, and every panel has its place.
func TestPlot(t *testing.T) {
	t.Parallel()
	p := Plot{
		Title: "a < b",
		Panels: []Panel{
			{
				Title: "one", X: "x", Y: "y", LogX: true, LogY: true,
				Lines: []draw.Line{
					{
						Name: "broken", X: []float64{1, 2, 3, 4, 5},
						Y: []float64{1, 2, 0, 4, 5}, SE: []float64{.1, .1, .1, .1, .1},
					},
					{Name: "near", Series: 9, X: []float64{1, 5}, Y: []float64{1, 5.01}},
				},
			},
			{Lines: []draw.Line{{Name: "marks", X: []float64{1, 2}, Y: []float64{3, 4},
				SE: []float64{1, math.NaN()}, Marks: true}}},
			{Title: "empty", Lines: []draw.Line{{Name: "nothing", X: []float64{1}, Y: []float64{math.NaN()}}}},
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
	for panels, wide := range map[int]string{1: `width="640"`, 3: `width="960"`} {
		svg := Plot{Panels: p.Panels[:panels]}.SVG()
		if !strings.HasPrefix(svg, `<svg xmlns="http://www.w3.org/2000/svg" `+wide) {
			t.Errorf("%d panels are drawn as %.90s, want %s", panels, svg, wide)
		}
	}
}

func TestLogarithmic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lo, hi float64
		want   []string
	}{
		{0.01, 10, []string{"0.01", "0.1", "1", "10"}},
		{1e-9, 1e-1, []string{"10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01"}},
		{0.02, 0.5, []string{"0.02", "0.05", "0.1", "0.2", "0.5"}},
		{2e4, 6e4, []string{"2·10⁴", "3·10⁴", "5·10⁴"}},
		{10, 5000, []string{"10", "100", "1000"}},
		{0.1, 0.12, []string{"0.1", "0.11", "0.12"}},
		{3, 3, []string{"1.5", "2", "3", "5"}},
	} {
		a := Logarithmic(c.lo, c.hi, 5, "")
		var got []string
		for _, v := range a.Ticks {
			if !Shows(a, v) {
				t.Errorf("%v to %v: tick %v is outside %v to %v", c.lo, c.hi, v, a.Lo, a.Hi)
			}
			got = append(got, a.Tick(v))
		}
		if !slices.Equal(got, c.want) || a.Lo > c.lo || a.Hi < c.hi {
			t.Errorf("%v to %v: %q from %v to %v, want %q", c.lo, c.hi, got, a.Lo, a.Hi, c.want)
		}
	}
}
