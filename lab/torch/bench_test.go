package torch

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/models"
)

func TestSentences(t *testing.T) {
	for words, texts := range sentences {
		for _, text := range texts {
			for _, blanks := range []int{0, 2, 4, 8} {
				got := strings.Fields(blanked(text, blanks))
				n := 0
				for _, w := range got {
					if unicode.IsLetter(rune(w[0])) || w == "[MASK]" {
						n++
					}
				}
				if n != words {
					t.Errorf("%d words, want %d: %s", n, words, text)
				}
				if m := strings.Count(strings.Join(got, " "), "[MASK]"); m != blanks {
					t.Errorf("%d blanks, want %d: %s", m, blanks, text)
				}
				if strings.ContainsAny(strings.Join(got, " "), "{}") {
					t.Errorf("braces left: %v", got)
				}
			}
		}
	}
}

func TestSelection(t *testing.T) {
	if all, err := selection("", false); err != nil || len(all) != 18 {
		t.Errorf("%d cells, want 18; %v", len(all), err)
	}
	if two, err := selection("small/10/2,base/60/8", true); err != nil || len(two) != 2 ||
		two[1] != (cell{"base", 60, 8}) {
		t.Errorf("%v %v", two, err)
	}
	for _, bad := range []string{"base", "base/10/3", "small/10/2,", "large/10/2", "2x256/10/2"} {
		if _, err := selection(bad, false); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

// Products of known shapes. The runtime leaves out the shapes of packed weights.
func TestReadProfile(t *testing.T) {
	node := func(op, in, out string, us int) string {
		return `{"cat":"Node","name":"n_kernel_time","dur":` + string(rune('0'+us)) +
			`,"args":{"op_name":"` + op + `","input_type_shape":[` + in + `],"output_type_shape":[` + out +
			`]}}`
	}
	file := filepath.Join(t.TempDir(), "p.json")
	events := []string{
		`{"cat":"Session","name":"session_initialization","dur":9}`,
		node("Gemm", `{"float":[10,4]}`, `{"float":[10,6]}`, 3),
		node("FusedMatMul", `{"float":[2,3,5,4]},{"float":[2,3,7,4]}`, `{"float":[2,3,5,7]}`, 2),
		node("Mul", `{"float":[2]}`, `{"float":[2]}`, 1),
		node("If", `{"bool":[1]}`, `{"float":[2]}`, 9),
	}
	if err := os.WriteFile(file, []byte("["+strings.Join(events, ",")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := readProfile(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	ops := sumBy(all, func(e *event) string { return e.Args.Op })
	if len(ops) != 3 {
		t.Fatalf("%v", ops)
	}
	want := map[string]float64{"Gemm": 2 * 10 * 4 * 6, "FusedMatMul": 2 * 2 * 3 * 5 * 4 * 7, "Mul": 0}
	for _, o := range ops {
		if o.FLOPs != want[o.Op] || o.Calls != 1 {
			t.Errorf("%+v, want %g operations", o, want[o.Op])
		}
	}
	if ops[0].Op != "Gemm" || math.Abs(ops[0].Seconds-3e-6) > 1e-12 {
		t.Errorf("first is %+v", ops[0])
	}
	// Of the last run only. There is no third.
	runs := `[{"cat":"Session","name":"model_run","ts":10,"dur":5},{"cat":"Node","name":"a_kernel_time","ts":11,"dur":4,"args":{"op_name":"Exp"}},` +
		`{"cat":"Session","name":"model_run","ts":20,"dur":5},{"cat":"Node","name":"b_kernel_time","ts":21,"dur":3,"args":{"op_name":"Erf"}}]`
	if err := os.WriteFile(file, []byte(runs), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := readProfile(file, 1); err != nil || len(e) != 1 || e[0].origin() != "b" {
		t.Errorf("%v %v", e, err)
	}
	if _, err := readProfile(file, 3); err == nil {
		t.Error("three of two runs pass")
	}
	if sizes := sumBy(all, productSize); len(sizes) != 2 || sizes[0].Op != "10×4×6" ||
		sizes[1].Op != "6 of 5×4×7" {
		t.Errorf("%v", sizes)
	}
	if _, err := readProfile(filepath.Join(t.TempDir(), "none"), 0); err == nil {
		t.Error("a missing file passes")
	}
}

// A gradient call in miniature: 2 sentences of 3 pieces, width 4, 8 inside, 20
// pieces in the vocabulary, 2 heads.
func TestKinds(t *testing.T) {
	var events []event
	add := func(op string, in, out []int64) {
		var e event
		e.Args.Op, e.Args.In, e.Args.Out = op, []map[string][]int64{{"float": in}},
			[]map[string][]int64{{"float": out}}
		events = append(events, e)
	}
	want := map[string][]int{}
	for i, c := range []struct {
		kind, op string
		in, out  []int64
	}{
		{kindProducts, "Gemm", []int64{6, 4}, []int64{6, 8}},
		{kindProducts, "FusedMatMul", []int64{2, 3, 8}, []int64{2, 3, 4}},
		{kindGelu, "Erf", []int64{2, 3, 8}, []int64{2, 3, 8}},
		{kindGelu, "Mul", []int64{2, 3, 8}, []int64{2, 3, 8}},
		{kindGelu, "Sub", nil, []int64{2, 3, 8}},
		{kindHead, "Gemm", []int64{2, 4}, []int64{2, 20}},
		{kindHead, "MatMul", []int64{2, 20}, []int64{2, 4}},
		{kindHead, "LogSoftmax", []int64{2, 20}, []int64{2, 20}},
		{kindAttention, "FusedMatMul", []int64{2, 2, 3, 2}, []int64{2, 2, 3, 3}},
		{kindAttention, "Softmax", []int64{2, 2, 3, 3}, []int64{2, 2, 3, 3}},
		{kindAttention, "Mul", []int64{2, 2, 3, 3}, []int64{2, 2, 3, 3}},
		{kindMoves, "Transpose", []int64{2, 3, 2, 2}, []int64{2, 2, 3, 2}},
		{kindNorms, "ReduceMean", []int64{2, 3, 4}, []int64{2, 3, 1}},
		{kindNorms, "Add", []int64{2, 3, 4}, []int64{2, 3, 4}},
	} {
		add(c.op, c.in, c.out)
		want[c.kind] = append(want[c.kind], i)
	}
	check := func() {
		t.Helper()
		kind := kindsOf(events)
		for k, list := range want {
			for _, i := range list {
				if got := kind(&events[i]); got != k {
					t.Errorf("%s %v → %v is %q, want %q", events[i].Args.Op, events[i].in(), events[i].out(), got,
						k)
				}
			}
		}
	}
	check()
	// As wide inside as outside: what is Gelu can only be told by names.
	events = nil
	clear(want)
	for i, c := range []struct{ kind, op, name string }{{kindGelu, "Erf", "act/Mul_1"},
		{kindGelu, "Mul", "act/Mul_1#2"}, {kindNorms, "Mul", "norm"}, {kindNorms, "Add", "norm#12"}} {
		add(c.op, []int64{2, 3, 4}, []int64{2, 3, 4})
		events[i].Name = c.name + "_kernel_time"
		want[c.kind] = append(want[c.kind], i)
	}
	add("Gemm", []int64{2, 4}, []int64{2, 20})
	check()
}

func TestDescribeModel(t *testing.T) {
	got, err := describeModel(filepath.Join("..", "..", "mlm", "testdata", "tiny-bert"))
	if err != nil || !strings.Contains(got, "layers of width") || strings.Contains(got, " 0 ") {
		t.Errorf("%q %v", got, err)
	}
	if _, err := describeModel(t.TempDir()); err == nil {
		t.Error("a folder without config.json passes")
	}
}

func TestStatistics(t *testing.T) {
	if got := median([]float64{5, 1, 3}); got != 3 {
		t.Error(got)
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Error(got)
	}
	// Two sentences of two chains. Slots of different lengths weigh by steps.
	a := newAccumulated(2, 2)
	a.add(0, &slot{Steps: 1, Prob: []float64{0, 1}, Energy: []float64{-1, -1}})
	a.add(0, &slot{Steps: 3, Prob: []float64{1, 1}, Energy: []float64{-1, -1}})
	a.add(1, &slot{Steps: 2, Prob: []float64{0.5, 0.5}, Energy: []float64{-3, -3}})
	p, e := a.prob.mean(), a.energy.mean()
	// Chain means .75 and 1 (mean .875, squared error .25²/2/2), and .5 twice.
	if math.Abs(p.Value-(0.875+0.5)/2) > 1e-12 || math.Abs(p.Error-math.Sqrt(0.0625/4)/2) > 1e-12 {
		t.Errorf("%+v", p)
	}
	if e.Value != -2 || e.Error != 0 {
		t.Errorf("%+v", e)
	}
}

// result makes a cell whose rates are known: with 10 chains and one step a round.
func result(c cell, infill float64) *Result {
	round := func(rate float64) slot {
		return slot{Steps: 1, Wall: 10 / rate, CPU: 20 / rate, Moved: 5,
			States: 4}
	}
	s := func(rates ...float64) *Sampler {
		x := &Sampler{Memory: 5e8, FLOPs: 3e9}
		for _, r := range rates {
			x.Rounds = append(x.Rounds, round(r))
		}
		return x
	}
	return &Result{Cell: c, Chains: 10, Threads: 2, Alpha: []float64{1}, Commit: "c0ffee",
		Peak: Peak{Torch: map[string]float64{"a": 300}, ORT: map[string]float64{"a": 200}},
		Samplers: map[string]*Sampler{straightforward: s(1, 2, 4), saving: s(10, 10, 10),
			ours: s(infill, infill, infill)}}
}

func TestRatios(t *testing.T) {
	r := result(cell{"small", 25, 4}, 20)
	if x := r.ratio(ours, straightforward); math.Abs(x.Median-10) > 1e-9 || math.Abs(x.Low-5) > 1e-9 ||
		math.Abs(x.High-20) > 1e-9 {
		t.Errorf("%+v", x)
	}
	if x := r.ratio(ours, single); !math.IsNaN(x.Median) {
		t.Errorf("a sampler that did not run: %+v", x)
	}
	if r.moved() != 0.5 || math.Abs(r.evaluated()-0.4) > 1e-12 || math.Abs(r.cpu(ours)-0.1) > 1e-12 {
		t.Errorf("moved %g, evaluated %g, CPU %g", r.moved(), r.evaluated(), r.cpu(ours))
	}
	if s := r.slowerThan(result(r.Cell, 20)); len(s) != 0 {
		t.Errorf("as fast as recorded, but: %v", s)
	}
	if s := result(r.Cell, 18).slowerThan(r); len(s) != 1 ||
		!strings.Contains(s[0], "1.80 times saving, recorded was 2.00") {
		t.Errorf("a tenth slower: %v", s)
	}
	if s := r.slowerThan(nil); s != nil {
		t.Errorf("nothing recorded, but: %v", s)
	}
}

func TestBook(t *testing.T) {
	dir := t.TempDir()
	b, err := openBook(dir)
	if err != nil {
		t.Fatal(err)
	}
	b.put(result(cell{"base", 25, 4}, 50))
	b.put(result(cell{"small", 10, 2}, 30))
	b.put(result(cell{"2x256", 10, 4}, 10)) // from before, first on the page
	b.put(result(cell{"2x256", 10, 2}, 20))
	b.put(result(cell{"base", 25, 4}, 40)) // takes the other's place
	b.Latency["Command/small/start"] = Benchmark{Seconds: 0.4, Low: 0.3, High: 0.6, Runs: 4,
		Metrics: map[string]float64{cpuMetric: 0.25}}
	b.Latency["Batch/sentences=300/threads=2"] = Benchmark{Seconds: 20, Low: 18, High: 21, Runs: 3,
		Metrics: map[string]float64{cpuMetric: 30, sentenceMetric: 15}}
	b.Profiles["base/25/4"] = &Profile{Wall: 1, Tokens: 10,
		Kinds:    []opTime{{Op: kindProducts, Calls: 4, Seconds: 0.9}},
		Ops:      []opTime{{Op: "Gemm", Calls: 3, Seconds: 0.9, FLOPs: 9e10}},
		Products: []opTime{{Op: "10×4×6", Calls: 3, Seconds: 0.9, FLOPs: 9e10}}}
	if err := b.save(); err != nil {
		t.Fatal(err)
	}
	again, err := openBook(dir)
	if err != nil || len(again.Cells) != 4 || again.Cells[0].Cell != (cell{"2x256", 10, 2}) ||
		again.Cells[2].Cell.Model != "small" || median(again.Cells[3].rates(ours)) != 40 {
		t.Fatalf("%+v %v", again, err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| BERT-base size, fp32 against (1) straightforward | ≥ 4× | 20.00× (median of 1 cells; " +
			"20.00–20.00) | yes |",
		"| 2×256 model against (1) straightforward | ≥ 12× | 7.50×", "| no |",
		"| model small against (2) saving | ≥ 1.5× | 3.00×", "## The 2×256 model", "## The model small",
		"`lab/speed` on the models of the program, made",
		"| 0.40 (0.30–0.60) | 0.25 |  |  | ≤ 0.5 s | yes |", "(lowest–highest) of 3 runs",
		"| the same, two threads | 20.00 (18.00–21.00) | 30.00 | 15 | 10 | ≥ 20 a second | no |",
		"| 10 | 2 | 2 | 10 | 20 | 10.00 (5.00–20.00) | 2.00 (2.00–2.00) | 0.50 | 0.40 |",
		"| Gemm | 3 | 100.0 % | 100 |", "| 10×4×6 | 3 | 100.0 % | 100 |", "| " + kindProducts +
			" | 4 | 100.0 % |  |", "### BERT-base size, fp32, 25 words and 4 blanks",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, "performance", "ratios.svg"))
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(string(svg), "NaN") || !strings.Contains(string(svg),
		"base/25/4, over saving: 4.00") {
		t.Errorf("chart:\n%s", svg)
	}
	if err := os.WriteFile(filepath.Join(dir, "performance", "results.json"), []byte("{"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openBook(dir); err == nil {
		t.Error("a broken record passes")
	}
}

// The page and the chart of the notebook are those that -render makes.
func TestNotebookIsRendered(t *testing.T) {
	dir := filepath.Join("..", "notebook")
	b, err := openBook(dir)
	if err != nil {
		t.Fatal(err)
	}
	page, err := b.page()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(page, "# Performance\n\n## On real text\n") {
		t.Error("the page does not begin with the tables of real text")
	}
	for name, want := range map[string]string{"performance.md": page,
		"performance/ratios.svg": b.chart()} {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || string(got) != want {
			t.Errorf("%s is another than bin/lab torch -render -write lab/notebook makes; %v", name,
				err)
		}
	}
}

// Python reads the files of a model of the program from a folder of their own, in which nothing of
// another model is left.
func TestSaveModel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "model")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := models.All()
	if err := saveModel(all[len(all)-1].Name, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"model.safetensors": true, "config.json": true,
		"vocab.txt": true, "model.stored.safetensors": false, "old": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := describeModel(dir); err != nil {
		t.Error(err)
	}
	if err := saveModel("none", dir); err == nil {
		t.Error("a model that the program has not was saved")
	}
}

// Benchmarks that run by themselves leave the others, and what is said of them, as they are.
func TestAddLatency(t *testing.T) {
	ran := func(runs int) Benchmark {
		return Benchmark{Seconds: 60, Low: 60, High: 60, Runs: runs,
			Metrics: map[string]float64{cpuMetric: 50, sentenceMetric: 0.2}}
	}
	const small, large = "Score/threads=1", "Batch/default/sentences=12/threads=1"
	b := &book{Latency: map[string]Benchmark{}}
	b.addLatency(map[string]Benchmark{small: ran(5)}, "v1", "machine one", true)
	b.addLatency(map[string]Benchmark{large: ran(1)}, "v2", "machine two", false)
	var w strings.Builder
	b.waitTable(func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) })
	for _, want := range []string{
		"(lowest–highest) of 5 runs. Measured at v1 on: machine one.",
		"12 such sentences, one thread | 60.00 (60.00–60.00) | 50.00 | 0.2 | 0.24 | ≥ 20 a second | no |",
		"12 such sentences, one thread, 1 run(s), measured at v2 on: machine two.",
		"| score of 50 sentences",
	} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("no %q in\n%s", want, w.String())
		}
	}
	b.addLatency(map[string]Benchmark{small: ran(4)}, "v3", "machine three", true)
	if len(b.Latency) != 1 || b.LatencyOn != "machine three" || b.Latency[small].Runs != 4 {
		t.Errorf("after all: %+v", b)
	}
	// The first of a new book have nothing beside them.
	b = &book{Latency: map[string]Benchmark{}}
	b.addLatency(map[string]Benchmark{large: ran(1)}, "v2", "machine two", false)
	if b.LatencyOn != "machine two" || b.Latency[large].On != "" {
		t.Errorf("in a new book: %+v", b)
	}
}

func TestParseBenchmarks(t *testing.T) {
	out := "goos: linux\nBenchmarkFill/threads=2-2 \t 2\t 3000000000 ns/op\t 400 " +
		"chain-steps/s\nBenchmarkFill/threads=2-2 2 1000000000 ns/op 600 " +
		"chain-steps/s\nBenchmarkOdd-2\nPASS\n"
	b := parseBenchmarks([]byte(out))
	if got := b["Fill/threads=2"]; len(b) != 1 || got.Seconds != 2 || got.Low != 1 || got.High != 3 ||
		got.Metrics["chain-steps/s"] != 500 {
		t.Errorf("%+v", b)
	}
}

// The worker, in process, on a tiny model: its protocol and what it hands to
// PyTorch.
func TestWorker(t *testing.T) {
	orttest.Load(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "job")
	j := &job{Seed: 1, Sentences: []jobSentence{{Text: "a [MASK] dog ate the [MASK] lemon near " +
		"the sea ."}}}
	if err := j.write(file + ".json"); err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := serve(inR, outW, filepath.Join("..", "..", "mlm", "testdata", "tiny-bert"),
			mlm.Options{Threads: 2}, 6)
		done <- errors.Join(err, outW.CloseWithError(err))
	}()
	answers := bufio.NewReader(outR)
	ask := func(c *command, v any) {
		t.Helper()
		if c != nil {
			data, _ := json.Marshal(c)
			if _, err := inW.Write(append(data, '\n')); err != nil {
				t.Fatal(err)
			}
		}
		line, err := answers.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line, v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	var a struct {
		Ready bool
		Error string
		slot
		Bytes  int64
		GFLOPs map[string]float64
		Rows   float64
	}
	if ask(nil, &a); !a.Ready {
		t.Fatal("not ready")
	}
	if ask(&command{Do: "prepare", File: file + ".json"}, &a); a.Error != "" {
		t.Fatal(a.Error)
	}
	got, err := readJob(file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	s := got.Sentences[0]
	if len(s.Positions) != 2 || s.IDs[s.Positions[0]] != s.Mask || len(s.States) != 6 ||
		!(s.Alpha > 0) || len(s.Allowed[0]) == 0 {
		t.Fatalf("%+v", s)
	}
	if ask(&command{Do: "slot", Steps: 7}, &a); a.Error != "" || a.Steps != 7 || !(a.Wall > 0) ||
		len(a.Energy) != 6 || !(a.Energy[0] < 0) || a.States > 42 {
		t.Errorf("%+v", a)
	}
	if ask(&command{Do: "slot", Seconds: 0.05}, &a); a.Error != "" || a.Steps < 1 || !(a.Wall > 0) {
		t.Errorf("%+v", a)
	}
	if ask(&command{Do: "check", File: file}, &a); a.Error != "" {
		t.Error(a.Error)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != int64(3*8+3*2*4*vocabulary(t)) {
		t.Errorf("%v %v", info, err)
	}
	if ask(&command{Do: "gradients", File: file + ".json", Steps: 2, Warm: 1}, &a); a.Error != "" ||
		a.Rows != 2*6*2 {
		t.Errorf("%+v", a)
	}
	if ask(&command{Do: "memory"}, &a); a.Bytes < 1<<20 {
		t.Errorf("%d bytes", a.Bytes)
	}
	if ask(&command{Do: "peak", Seconds: 0.02, Threads: 1}, &a); len(a.GFLOPs) != len(products) ||
		!(largest(a.GFLOPs) > 0) {
		t.Errorf("%+v", a.GFLOPs)
	}
	if ask(&command{Do: "dance"}, &a); a.Error == "" {
		t.Error("an unknown command passes")
	}
	if err := inW.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func vocabulary(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "mlm", "testdata", "tiny-bert", "vocab.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}
