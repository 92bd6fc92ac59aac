package report

import (
	"math"
	"slices"
	"unicode/utf8"
)

// A box is a rectangle of a drawing: left, top, right, bottom.
type box struct{ x0, y0, x1, y1 float64 }

// common is the area that two boxes share.
func (b box) common(o box) float64 {
	w := math.Min(b.x1, o.x1) - math.Max(b.x0, o.x0)
	h := math.Min(b.y1, o.y1) - math.Max(b.y0, o.y0)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h
}

// obstacles are the boxes that no label may lie on.
type obstacles struct{ boxes []box }

func (o *obstacles) add(b box) { o.boxes = append(o.boxes, b) }

// covered is the area of a box that the obstacles cover.
func (o *obstacles) covered(b box) float64 {
	sum := 0.0
	for _, x := range o.boxes {
		sum += b.common(x)
	}
	return sum
}

// Size of a label, in units of the drawing: of a letter, which is generous for the
// style sheet's font, and of a line.
const (
	letterWidth = 7.4
	lineHeight  = 15
)

// beside writes a name near a point, with a thin line back from afar.
func (c *chart) beside(series int, x, y float64, name string, o *obstacles) {
	w := letterWidth * float64(utf8.RuneCountInString(name))
	at, ok := o.place(x, y, w, box{c.left + 2, c.top, c.width - 2, c.height - c.bottom})
	if !ok {
		return // wider than the drawing; the table has the name beside its colour
	}
	toX, toY := math.Min(math.Max(x, at.x0), at.x1), math.Min(math.Max(y, at.y0), at.y1)
	if math.Hypot(toX-x, toY-y) > 20 {
		c.f(`<path class="lead" d="M%.1f %.1fL%.1f %.1f"/>`, x, y, toX, toY)
	}
	c.f(`<text class="name s%d" x="%.1f" y="%.1f">%s</text>`,
		series%seriesClasses, at.x0, at.y1-3, svgText(name))
}

// place finds room for a label of width w near (x, y) and inside of a frame: to the
// right, to the left, above or below, as near as possible, where it lies on nothing.
// If there is no such place it is the one that covers least. The label becomes an
// obstacle. ok is false if the label does not fit into the frame.
func (o *obstacles) place(x, y, w float64, frame box) (best box, ok bool) {
	sides := [][2]float64{{1, 0}, {1, -1}, {1, 1}, {-1, 0}, {-1, -1}, {-1, 1}, {0, -1}, {0, 1}}
	least := math.Inf(1)
	for _, r := range []float64{11, 18, 26, 38, 52, 70, 90} {
		for _, d := range sides {
			b := box{x0: x + d[0]*r, y0: y + d[1]*r - lineHeight/2}
			switch {
			case d[0] < 0:
				b.x0 -= w
			case d[0] == 0:
				b.x0 -= w / 2
			}
			b.x1, b.y1 = b.x0+w, b.y0+lineHeight
			if b.x0 < frame.x0 || b.y0 < frame.y0 || b.x1 > frame.x1 || b.y1 > frame.y1 {
				continue
			}
			if cover := o.covered(b); cover < least {
				best, least = b, cover
			}
		}
		if least == 0 {
			break
		}
	}
	if math.IsInf(least, 1) {
		return box{}, false
	}
	o.add(best)
	return best, true
}

// tag is a name that wants to stand beside the end of a line, at (x, y).
type tag struct {
	series int
	x, y   float64
	text   string
}

// tags writes names to the right of their places, pushed apart where they would
// overlap, with a thin line back where that moved them.
func (c *chart) tags(list []tag) {
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b tag) int {
		switch {
		case a.y < b.y:
			return -1
		case a.y > b.y:
			return 1
		}
		return 0
	})
	at := make([]float64, len(order))
	for i := range order {
		at[i] = order[i].y
	}
	top, bottom := c.top+4, c.height-c.bottom-4
	for range 500 { // relax until nothing overlaps
		moved := false
		for i := range at {
			at[i] = math.Min(math.Max(at[i], top), bottom)
		}
		for i := 1; i < len(at); i++ {
			if d := at[i] - at[i-1]; d < lineHeight-0.01 {
				at[i-1] -= (lineHeight - d) / 2
				at[i] += (lineHeight - d) / 2
				moved = true
			}
		}
		if !moved {
			break
		}
	}
	for i, t := range order {
		if math.Abs(at[i]-t.y) > 3 {
			c.f(`<path class="lead" d="M%.1f %.1fL%.1f %.1f"/>`, t.x+4, t.y, t.x+10, at[i])
		}
		c.f(`<text class="name s%d" x="%.1f" y="%.1f" text-anchor="start">%s</text>`,
			t.series%seriesClasses, t.x+12, at[i]+4, svgText(shorten(t.text, labelLetters)))
	}
}
