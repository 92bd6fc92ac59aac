package browser

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"

	"github.com/chromedp/chromedp"
)

// readmePicture is the picture in README.
const readmePicture = root + "/docs/page.png"

// readme writes the picture in README: what the tab shows, in the 256 colours that it has most.
func (p *tab) readme() {
	p.t.Helper()
	b, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	shot, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		p.t.Fatal(err)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, reduced(shot)); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.FromSlash(readmePicture), out.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// reduced is a picture in its most frequent colours.
func reduced(src image.Image) *image.Paletted {
	counts := map[color.Color]int{}
	bounds := src.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[src.At(x, y)]++
		}
	}
	var palette color.Palette
	for c := range counts {
		palette = append(palette, c)
	}
	slices.SortFunc(palette, func(a, b color.Color) int { return counts[b] - counts[a] })
	out := image.NewPaletted(bounds, palette[:min(256, len(palette))])
	nearest := map[color.Color]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := src.At(x, y)
			i, ok := nearest[c]
			if !ok {
				i = uint8(out.Palette.Index(c))
				nearest[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}
