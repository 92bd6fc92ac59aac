package draw

import (
	"encoding/xml"
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
	if top != marginTop || bottom != Height-marginBottom {
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

func TestShorten(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"äöü": "äöü", "äöüß": "äö…", "": ""} {
		if got := Shorten(s, 3); got != want {
			t.Errorf("%q is shortened to %q, want %q", s, got, want)
		}
	}
}
