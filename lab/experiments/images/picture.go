package images

import (
	"fmt"
	"strings"

	"infill/report/draw"
)

// A Strip is a row of pictures with a title.
type Strip struct {
	Title string
	X     [][]int32
}

// Pictures draws rows of images of side × side pixels, whose pixels are 0 to levels−1. The highest
// level has the colour of ink.
func Pictures(side, levels int, strips []Strip) string {
	const cell, gap, left = 3, 6, 130
	most := 0
	for _, s := range strips {
		most = max(most, len(s.X))
	}
	step := side*cell + gap
	width, height := left+most*step+gap, len(strips)*step+gap
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	f(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" viewBox="0 0 %d %d" role="img" `+
		`aria-label="pictures">`+"\n", width, width, height)
	f("<style>%s .px { fill: var(--ink); } .frame { fill: var(--grid); }</style>\n", draw.Style)
	f(`<rect width="100%%" height="100%%" fill="var(--page)"/>` + "\n")
	for r, s := range strips {
		top := gap + r*step
		f(`<text x="8" y="%d">%s</text>`+"\n", top+side*cell/2+4, draw.Text(s.Title))
		for k, x := range s.X {
			f(`<g transform="translate(%d %d) scale(%d)"><path class="frame" d="M0 0h%dv%dH0z"/>`,
				left+k*step, top, cell, side, side)
			for v := int32(1); v < int32(levels); v++ {
				if path := pixels(x, side, v); path != "" {
					f(`<path class="px" opacity="%.2f" d="%s"/>`, float64(v)/float64(levels-1), path)
				}
			}
			f("</g>\n")
		}
	}
	f("</svg>\n")
	return b.String()
}

// pixels is the path of all pixels of a level, as runs of each row.
func pixels(x []int32, side int, level int32) string {
	var b strings.Builder
	for y := range side {
		row := x[y*side : (y+1)*side]
		for from := 0; from < side; from++ {
			n := 0
			for from+n < side && row[from+n] == level {
				n++
			}
			if n > 0 {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", from, y, n, n)
				from += n
			}
		}
	}
	return b.String()
}
