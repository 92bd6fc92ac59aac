package torch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A book is what was recorded: performance/results.json in the folder of the
// page. Cells are measured one by one and replaced one by one.
type book struct {
	Machine machine `json:"machine"`
	// by name: layers, width, pieces of what was measured last
	Models   map[string]string    `json:"models,omitempty"`
	Cells    []*Result            `json:"cells"`
	Agree    *Agreement           `json:"agree,omitempty"`
	Profiles map[string]*Profile  `json:"profiles,omitempty"` // by cell
	Latency  map[string]Benchmark `json:"latency,omitempty"`  // by name of the benchmark
	// the machine that the latencies are of, and how busy it was
	LatencyOn string `json:"latency_on,omitempty"`

	dir string // "" for a book that is not kept
}

// A machine is where the last cell was measured.
type machine struct {
	CPU          string `json:"cpu"`
	Cores        int    `json:"cores"`
	OS           string `json:"os"`
	Go           string `json:"go"`
	ORT          string `json:"onnxruntime"`
	Torch        string `json:"torch"`
	Transformers string `json:"transformers"`
	BLAS         string `json:"blas"`
}

// An Agreement is a longer run of all three samplers on one cell.
type Agreement struct {
	Cell     cell                `json:"cell"`
	Steps    int                 `json:"steps"` // after Warm
	Warm     int                 `json:"warm"`
	Chains   int                 `json:"chains"`
	Samplers map[string]*Sampler `json:"samplers"`
	Commit   string              `json:"commit"`
}

// A Profile is where infill's time goes in a cell: gradients of different
// states, one thread.
type Profile struct {
	Wall     float64  `json:"wall"` // seconds
	Tokens   float64  `json:"tokens"`
	Kinds    []opTime `json:"kinds"`
	Ops      []opTime `json:"ops"`
	Products []opTime `json:"products"` // matrix products, by size
	Commit   string   `json:"commit"`
}

// A Benchmark is a line of the Go benchmarks in lab/speed.
type Benchmark struct {
	Seconds float64            `json:"seconds"` // an operation, median of the counts
	Low     float64            `json:"low"`
	High    float64            `json:"high"`
	Metrics map[string]float64 `json:"metrics,omitempty"` // others, by unit, medians
	Runs    int                `json:"runs"`
	Commit  string             `json:"commit"`
	// On is the machine and how busy it was, of a benchmark that ran by itself; "" for those that
	// ran together, which the book's LatencyOn is of.
	On string `json:"on,omitempty"`
}

func openBook(dir string) (*book, error) {
	b := &book{dir: dir, Models: map[string]string{}, Profiles: map[string]*Profile{},
		Latency: map[string]Benchmark{}}
	if dir == "" {
		return b, nil
	}
	file := filepath.Join(dir, "performance", "results.json")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

func (b *book) result(c cell) *Result {
	for _, r := range b.Cells {
		if r.Cell == c {
			return r
		}
	}
	return nil
}

func (b *book) put(r *Result) {
	order := recorded()
	b.Cells = append(slices.DeleteFunc(b.Cells, func(o *Result) bool { return o.Cell == r.Cell }), r)
	slices.SortFunc(b.Cells, func(x, y *Result) int {
		return slices.Index(order,
			x.Cell) - slices.Index(order, y.Cell)
	})
}

// save writes the record, the page and its chart.
func (b *book) save() error {
	if b.dir == "" {
		return nil
	}
	folder := filepath.Join(b.dir, "performance")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return err
	}
	page, err := b.page()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		filepath.Join(folder, "results.json"):  append(data, '\n'),
		filepath.Join(folder, "ratios.svg"):    []byte(b.chart()),
		filepath.Join(b.dir, "performance.md"): []byte(page),
	} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
