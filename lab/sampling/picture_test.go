package sampling

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"infill/lab/internal/plot"
	"infill/report/draw"
)

var update = flag.Bool("update", false, "draw the picture of docs/guide/samplers.md again")

// The picture of the guide has the numbers of the notebook's tables “samplers after some of their
// steps”: the time as a share of DMALA's, and the five best that were visited, less DMALA's.
func TestPicture(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "..", "docs", "guide", "samplers.svg")
	page, err := os.ReadFile(filepath.Join("..", "notebook", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := picture(t, string(page))
	if *update {
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s has other numbers than the notebook; go test ./sampling -run Picture -update", docs)
	}
}

func picture(t *testing.T, page string) string {
	p := plot.Plot{Title: "How soon the best fillings are found", Notes: []string{
		"25 chains on twenty sentences. Marks are 3, 5, 10, 20 and 50 steps, and 50 of dmala."}}
	for _, s := range []struct{ title, heading string }{
		{"BERT-base", "bert-base-onnx, one thread"}, {"small", "small"},
	} {
		panel := plot.Panel{Title: s.title, X: "time in % of 50 steps of dmala", LogX: true,
			Y: "U of the five best, less dmala's (nats)"}
		_, section, _ := strings.Cut(page, "\n### "+s.heading+"\n")
		section, _, _ = strings.Cut(section, "\n### ")
		for i, name := range []string{"rows", "gibbs-mh"} {
			l := draw.Line{Name: name, Series: i, Marks: true, Shape: i}
			l.X, l.Y = after(t, section, name)
			if len(l.X) != 5 {
				t.Fatalf("%s, %s: %d rows in the notebook", s.heading, name, len(l.X))
			}
			panel.Lines = append(panel.Lines, l)
		}
		panel.Lines = append(panel.Lines, draw.Line{Name: "dmala", Series: 2, Marks: true, Shape: 2,
			X: []float64{100}, Y: []float64{0}})
		p.Panels = append(p.Panels, panel)
	}
	return p.SVG()
}

// after are the shares of the time and the differences of a sampler, by its steps.
func after(t *testing.T, section, name string) (x, y []float64) {
	row := regexp.MustCompile("(?m)^\\| `" + name + "` \\| \\d+ \\| \\d+ \\| ([\\d.]+) [^|]*\\|" +
		"[^|]*\\|[^|]*\\| ([-+][\\d.]+) ")
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		times, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		best, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		x, y = append(x, 100/times), append(y, best)
	}
	return x, y
}
