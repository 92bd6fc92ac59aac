package torch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An event is an entry of ONNX Runtime's profile.
type event struct {
	Cat  string  `json:"cat"`
	Name string  `json:"name"`
	TS   float64 `json:"ts"`  // begin, µs
	Dur  float64 `json:"dur"` // µs
	Args struct {
		Op  string               `json:"op_name"`
		In  []map[string][]int64 `json:"input_type_shape"`
		Out []map[string][]int64 `json:"output_type_shape"`
	} `json:"args"`
}

// An opTime is the share of something in a profile: an operator, a kind of work,
// a product of a size.
type opTime struct {
	Op      string  `json:"op"`
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`
	FLOPs   float64 `json:"flops,omitempty"` // of matrix products
}

// readProfile reads the operators' entries of the last few runs of a profile, 0
// for all; If is left out, being the sum of what its branches hold.
func readProfile(file string, runs int) ([]event, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []event
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	from := 0.0
	if runs > 0 {
		var begins []float64
		for _, e := range all {
			if e.Cat == "Session" && e.Name == "model_run" {
				begins = append(begins, e.TS)
			}
		}
		if len(begins) < runs {
			return nil, fmt.Errorf("%s: %d runs, want %d", file, len(begins), runs)
		}
		slices.Sort(begins)
		from = begins[len(begins)-runs]
	}
	return slices.DeleteFunc(all, func(e event) bool {
		return e.TS < from || e.Cat != "Node" || !strings.HasSuffix(e.Name, "_kernel_time") ||
			e.Args.Op == "If"
	}), nil
}

// sumBy adds up time and operations of events of the same name, those with ""
// left out, most time first.
func sumBy(events []event, name func(e *event) string) []opTime {
	by := map[string]*opTime{}
	for i := range events {
		e := &events[i]
		n := name(e)
		if n == "" {
			continue
		}
		o := by[n]
		if o == nil {
			o = &opTime{Op: n}
			by[n] = o
		}
		o.Calls++
		o.Seconds += e.Dur / 1e6
		o.FLOPs += productFLOPs(e)
	}
	var out []opTime
	for _, o := range by {
		out = append(out, *o)
	}
	slices.SortFunc(out, func(a, b opTime) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.Op, b.Op))
	})
	return out
}

// productFLOPs is 2·b·M·N·K of a matrix product C = A·B, from the shapes of A
// (b·M·K elements) and C (b·M·N). Those of B may be missing, the runtime having
// packed it.
func productFLOPs(e *event) float64 {
	if !e.isProduct() {
		return 0
	}
	a, _ := elements(e.Args.In[0])
	_, n := elements(e.Args.Out[0])
	return 2 * a * n
}

// dims are the dimensions of a profile's tensor.
func dims(t map[string][]int64) []int64 {
	for _, d := range t {
		return d
	}
	return nil
}

// elements counts those of a tensor, and those of its last dimension.
func elements(t map[string][]int64) (all, last float64) {
	all, last = 1, 1
	for _, dims := range t {
		for _, d := range dims {
			all, last = all*float64(d), float64(d)
		}
	}
	return all, last
}

// flops finds out how many operations of matrix products a PyTorch sampler
// makes in a step, and infill for a token: PyTorch counts them itself, infill's
// are counted from every product in the runtime's own profile.
func (m *meter) flops() error {
	m.perStep = map[string][]float64{}
	for _, name := range []string{straightforward, saving} {
		for n := range m.job.Sentences {
			var a struct{ FLOPs float64 }
			if err := m.workers[name].ask(command{Do: "flops", Sentence: n}, &a); err != nil {
				return err
			}
			m.perStep[name] = append(m.perStep[name], a.FLOPs)
		}
	}
	for n := range m.job.Sentences {
		events, tokens, _, err := m.profile(n, 1, 0)
		if err != nil {
			return err
		}
		sum := 0.0
		for i := range events {
			sum += productFLOPs(&events[i])
		}
		m.perToken = append(m.perToken, sum/tokens)
	}
	return nil
}

// profile evaluates the gradient at the start states of a sentence that many
// times under the runtime's profiler, one thread, after doing so a few times
// that do not count: the first time, the kernels wait for memory.
func (m *meter) profile(n, times, warm int) (events []event, tokens, wall float64, err error) {
	prefix := filepath.Join(m.tmp, fmt.Sprintf("profile%d", n))
	w, err := m.infill("profile", 1, "-prefix", prefix)
	if err != nil {
		return nil, 0, 0, err
	}
	var a struct {
		Wall, Tokens float64
		Runs         int
	}
	err = w.ask(command{Do: "gradients", File: m.file + ".json", Sentence: n, Steps: times,
		Warm: warm}, &a)
	if err := errors.Join(err, w.close()); err != nil {
		return nil, 0, 0, err
	}
	found, _ := filepath.Glob(prefix + "*.json")
	if len(found) != 1 {
		return nil, 0, 0, fmt.Errorf("the runtime wrote %d profiles, want 1", len(found))
	}
	events, err = readProfile(found[0], a.Runs)
	return events, a.Tokens, a.Wall, err
}
