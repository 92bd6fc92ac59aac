package torch

import (
	"fmt"
	"math"
	"strings"
)

// style serves light and dark pages. The colours are told apart by shape too.
const style = `<style>
text{font:12px sans-serif;fill:#24292f}.t{font-size:14px}.n{fill:#57606a}
.g{stroke:#d0d7de}.w{stroke:#8c6d1f;stroke-dasharray:4 3}.l{fill:#8c6d1f}
.a{fill:#0969da;stroke:#0969da}.b{fill:#bc4c00;stroke:#bc4c00}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#9198a1}.g{stroke:#3d444d}
.w{stroke:#d4a72c}.l{fill:#d4a72c}.a{fill:#4493f8;stroke:#4493f8}.b{fill:#f0883e;stroke:#f0883e}}
</style>`

// chart draws, for every cell, infill's rate over each of PyTorch's two, on a
// logarithmic axis, with the spread of the rounds and the targets.
func (b *book) chart() string {
	const width, left, right, top, row, gap = 760.0, 150.0, 24.0, 56.0, 22.0, 30.0
	lo, hi := 0.5, 16.0
	for _, r := range b.Cells {
		for _, than := range []string{straightforward, saving} {
			x := r.ratio(ours, than)
			lo, hi = math.Min(lo, x.Low/1.1), math.Max(hi, x.High*1.1)
		}
	}
	at := func(v float64) float64 {
		return left + (math.Log(v)-math.Log(lo))/(math.Log(hi)-math.Log(lo))*(width-left-right)
	}
	models := map[string]bool{}
	for _, r := range b.Cells {
		models[r.Cell.Model] = true
	}
	height := top + row*float64(len(b.Cells)) + float64(len(models))*gap + 26
	var w strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	f(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" `+
		`aria-label="infill over PyTorch, chain-steps per second">`, width, height)
	f("%s", style)
	f(`<text class="t" x="8" y="18">infill over PyTorch, chain-steps per second; ` +
		`line: lowest to highest round</text>`)
	f(`<circle class="a" cx="14" cy="36" r="5"/><text x="24" y="40">over (1) straightforward</text>`)
	f(`<rect class="b" x="200" y="31" width="10" height="10"/>` +
		`<text x="216" y="40">over (2) saving</text>`)
	f(`<path class="w" d="M330 36h24"/><text class="n" x="360" y="40">target</text>`)
	bottom := height - 22
	for _, v := range []float64{0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64} {
		if v >= lo && v <= hi {
			f(`<line class="g" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, at(v), top, at(v), bottom)
			f(`<text class="n" x="%.1f" y="%.1f" text-anchor="middle">%g×</text>`, at(v), bottom+16, v)
		}
	}
	y := top + row/2
	var model string
	for i, r := range b.Cells {
		if r.Cell.Model != model {
			model = r.Cell.Model
			n := 0
			for _, o := range b.Cells[i:] {
				if o.Cell.Model == model {
					n++
				}
			}
			y += gap / 2
			f(`<text class="n" x="8" y="%.1f">%s</text>`, y, modelName(model))
			y += gap/2 + 2
			for _, t := range wanted(model) {
				f(`<line class="w" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"><title>target: %g×</title></line>`,
					at(t), y-row/2, at(t), y-row/2+row*float64(n), t)
			}
		}
		f(`<text x="%.1f" y="%.1f" text-anchor="end">%d words, %d blanks</text>`, left-10, y+4,
			r.Cell.Words, r.Cell.Blanks)
		for k, than := range []string{straightforward, saving} {
			x := r.ratio(ours, than)
			class := "ab"[k : k+1]
			f(`<g class="%s"><title>%s, over %s: %s</title>`+
				`<line stroke-width="2" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`,
				class, r.Cell, than, x, at(x.Low), y, at(x.High), y)
			if k == 0 {
				f(`<circle cx="%.1f" cy="%.1f" r="5"/></g>`, at(x.Median), y)
			} else {
				f(`<rect x="%.1f" y="%.1f" width="10" height="10"/></g>`, at(x.Median)-5, y-5)
			}
		}
		y += row
	}
	f(`</svg>`)
	return w.String()
}
