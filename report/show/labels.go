package show

import (
	"math"

	"infill/report/draw"
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

// place finds room for a label of width w near (x, y) and inside of a frame: to the
// right, to the left, above or below, as near as possible, where it lies on nothing.
// If there is no such place it is the one that covers least. The label becomes an
// obstacle. ok is false if the label does not fit into the frame.
func (o *obstacles) place(x, y, w float64, frame box) (best box, ok bool) {
	sides := [][2]float64{{1, 0}, {1, -1}, {1, 1}, {-1, 0}, {-1, -1}, {-1, 1}, {0, -1}, {0, 1}}
	least := math.Inf(1)
	for _, r := range []float64{11, 18, 26, 38, 52, 70, 90} {
		for _, d := range sides {
			b := box{x0: x + d[0]*r, y0: y + d[1]*r - draw.LineHeight/2}
			switch {
			case d[0] < 0:
				b.x0 -= w
			case d[0] == 0:
				b.x0 -= w / 2
			}
			b.x1, b.y1 = b.x0+w, b.y0+draw.LineHeight
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
