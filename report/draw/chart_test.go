package draw

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"
)

// A chart of any reversed axis is well-formed, its lines differ without colours too, and its frame
// is where it was asked for.
func TestChart(t *testing.T) {
	t.Parallel()
	c := NewChart(Nice(0, 4, 4, "x < 4"), Nice(0, 1, 4, "y"))
	c.X.To = Width - 20
	c.Y.From, c.Y.To = c.Y.To, c.Y.From
	top, bottom := c.Frame()
	if top != marginTop || bottom != height-marginBottom {
		t.Errorf("the frame is from %v to %v", top, bottom)
	}
	c.Axes()
	var lines []Line
	for i := range 9 {
		lines = append(lines, Line{Name: "l", Series: i, Dashes: i, Shape: i, Marks: true,
			X: []float64{1, 2}, Y: []float64{.1, .2}})
	}
	c.Lines(lines)
	svg := c.SVG("a & b")
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
		t.Fatal(err, svg)
	}
	for part, want := range map[string]int{`class="line dash0"`: 2, `class="line dash1"`: 3,
		"<circle": 4, "<rect": 4, `<path class="x"`: 2, `<g class="s0">`: 2, "x &lt; 4": 1,
		`aria-label="a &amp; b"`: 1, `viewBox="0 0 480 330"`: 1, "H460.0": 1} {
		if n := strings.Count(svg, part); n != want {
			t.Errorf("%s is %d times in the drawing, want %d", part, n, want)
		}
	}
}

// Names do not overlap, and stay within the axis.
func TestNames(t *testing.T) {
	t.Parallel()
	c := &Chart{X: logarithmic(.9, 5.5), Y: logarithmic(.9, 5.5)}
	c.X.To, c.Y.From = 1, 300
	at := c.names([]Line{{X: []float64{1, 2, 3, 4, 5}, Y: []float64{1, 2, 0, 4, 5}},
		{X: []float64{1, 5}, Y: []float64{1, 5.01}}})
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
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"äöü": "äöü", "äöüß": "äö…", "": ""} {
		if got := Shorten(s, 3); got != want {
			t.Errorf("%q is shortened to %q, want %q", s, got, want)
		}
	}
}
