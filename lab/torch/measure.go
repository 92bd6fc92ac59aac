package torch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// The samplers that are compared.
const (
	straightforward = "straightforward" // (1)
	saving          = "saving"          // (2)
	ours            = "infill"          // (3)
	single          = "infill, 1 thread"
)

// A Sampler is what one sampler did in a cell.
type Sampler struct {
	// timed, in the order of the rounds; Prob and Energy left out
	Rounds []slot `json:"rounds"`
	Memory int64  `json:"memory"` // most memory resident, bytes
	// floating-point operations of matrix products in all rounds
	FLOPs float64 `json:"flops"`
	// PyTorch's way to compute attention that was faster
	Attention string `json:"attention,omitempty"`
	Prob      Mean   `json:"mean_probability"` // of accepting, over chains and rounds
	Energy    Mean   `json:"energy"`           // mean U, nats
	Check     *Check `json:"check,omitempty"`
}

// UnmarshalJSON reads records of earlier programs too, which called Prob acceptance.
func (s *Sampler) UnmarshalJSON(data []byte) error {
	type plain Sampler
	record := struct {
		*plain
		Old *Mean `json:"acceptance"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(data, &record); err != nil {
		return err
	}
	if record.Old != nil {
		s.Prob = *record.Old
	}
	return nil
}

// A Check compares energies and gradients with infill's.
type Check struct {
	Energy   float64 `json:"energy"`   // largest difference, nats
	Gradient float64 `json:"gradient"` // largest difference
	Largest  float64 `json:"largest"`  // largest entry of the gradient
}

// A Mean is a mean over chains, with its standard error from their spread.
type Mean struct {
	Value float64 `json:"value"`
	Error float64 `json:"error"`
}

// A Result is a measured cell.
type Result struct {
	Cell     cell                `json:"cell"`
	Chains   int                 `json:"chains"`
	Threads  int                 `json:"threads"`
	Tokens   int                 `json:"tokens"` // ids of the first sentence, special tokens included
	Alpha    []float64           `json:"alpha"`  // step size per sentence
	Samplers map[string]*Sampler `json:"samplers"`
	Peak     Peak                `json:"peak"`
	Date     string              `json:"date"`
	Commit   string              `json:"commit"`

	machine machine
	model   string // layers, width, pieces
}

// A Peak is the machine's measured rate of float32 matrix products, GFLOP/s.
type Peak struct {
	Torch map[string]float64 `json:"torch"`
	ORT   map[string]float64 `json:"ort"`
}

// Best is the largest rate of either.
func (p Peak) Best() float64 { return max(largest(p.Torch), largest(p.ORT)) }

func largest(m map[string]float64) float64 {
	best := 0.0
	for _, v := range m {
		best = max(best, v)
	}
	return best
}

// settings of a measurement.
type settings struct {
	python  string  // interpreter with PyTorch
	scripts string  // folder of the Python files
	dir     string  // cache folder
	self    string  // this program
	threads int     //
	rounds  int     //
	slot    float64 // seconds of a slot
	compile bool    // torch.compile for the second sampler
	verbose io.Writer

	alphas map[string]float64 // step sizes found so far, by the text that they were adapted on
}

// tolerance is how far energies and gradients may differ from infill's.
const tolerance = 1e-4

// measure runs one cell.
func (s *settings) measure(c cell) (r *Result, err error) {
	m, err := s.meter(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	return m.run()
}

// meter begins the work on a cell, in a temporary folder.
func (s *settings) meter(c cell) (*meter, error) {
	tmp, err := os.MkdirTemp("", "infill-bench")
	if err != nil {
		return nil, err
	}
	j := &job{Seed: 1, Products: products}
	for _, t := range c.texts() {
		j.Sentences = append(j.Sentences, jobSentence{Text: t, AdaptOn: c.adaptOn(),
			Alpha: s.alphas[c.adaptOn()]})
	}
	m := &meter{settings: s, cell: c, tmp: tmp, file: filepath.Join(tmp, "job"),
		workers: map[string]*worker{}}
	if err := j.write(m.file + ".json"); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// meter measures one cell.
type meter struct {
	*settings
	cell    cell
	tmp     string
	file    string // of the job, without .json
	workers map[string]*worker
	names   []string // of the samplers, in the order of a round
	job     *job
	result  *Result

	perStep  map[string][]float64 // operations of a step of a PyTorch sampler, per sentence
	perToken []float64            // operations of infill for a token, per sentence
}

func (m *meter) close() error {
	var errs []error
	for _, w := range m.workers {
		errs = append(errs, w.close())
	}
	return errors.Join(append(errs, os.RemoveAll(m.tmp))...)
}

func (m *meter) infill(name string, threads int, more ...string) (*worker, error) {
	args := []string{m.self, "torch", "-worker", "-model", m.modelDir(false),
		"-threads", strconv.Itoa(threads),
		"-chains", strconv.Itoa(m.cell.chains())}
	return start(name, append(args, more...)...)
}

// modelDir is the folder of the cell's model. For infill, "" is the embedded one.
func (m *meter) modelDir(python bool) string {
	if m.cell.Model == "base" || python {
		return filepath.Join(m.dir, m.cell.Model)
	}
	return ""
}

func (m *meter) run() (*Result, error) {
	if err := m.prepare(); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := m.flops(); err != nil {
		return nil, err
	}
	if err := m.peak(); err != nil {
		return nil, err
	}
	stats := map[string]*accumulated{}
	for round := range m.cell.rounds(m.rounds) {
		n := round % len(m.job.Sentences)
		for k := range m.names {
			name := m.names[(k+round)%len(m.names)] // everybody goes first in turn
			var s slot
			if err := m.workers[name].ask(command{Do: "slot", Sentence: n,
				Seconds: m.slot * m.cell.patience()}, &s); err != nil {
				return nil, err
			}
			if stats[name] == nil {
				stats[name] = newAccumulated(len(m.job.Sentences), m.cell.chains())
			}
			stats[name].add(n, &s)
			s.Prob, s.Energy = nil, nil
			m.result.Samplers[name].Rounds = append(m.result.Samplers[name].Rounds, s)
			fmt.Fprintf(m.verbose, "  round %d  %-16s %7.2f chain-steps/s (%d steps in %.2f s, CPU %.2f "+
				"s)\n",
				round+1, name, float64(s.Steps*m.cell.chains())/s.Wall, s.Steps, s.Wall, s.CPU)
		}
	}
	if err := m.peak(); err != nil {
		return nil, err
	}
	for name, a := range stats {
		sm := m.result.Samplers[name]
		sm.Prob, sm.Energy = a.prob.mean(), a.energy.mean()
		if err := m.count(name, sm); err != nil {
			return nil, err
		}
	}
	return m.result, nil
}

// states starts infill, which finds step sizes and states.
func (m *meter) states() error {
	first, err := m.infill(ours, m.threads)
	if err != nil {
		return err
	}
	m.workers[ours] = first
	if err := first.ask(command{Do: "prepare", File: m.file + ".json"}, &struct{}{}); err != nil {
		return err
	}
	if m.job, err = readJob(m.file + ".json"); err != nil {
		return err
	}
	if on := m.cell.adaptOn(); on != "" {
		m.alphas[on] = m.job.Sentences[0].Alpha
	}
	return nil
}

// prepare starts the workers.
func (m *meter) prepare() (err error) {
	if err := m.states(); err != nil {
		return err
	}
	m.names = []string{straightforward, saving, ours}
	// Both load at the same time.
	started, errs := make([]*worker, 2), make([]error, 2)
	var wg sync.WaitGroup
	for i, name := range m.names {
		if i == 2 {
			break
		}
		args := []string{m.python, filepath.Join(m.scripts, "worker.py"), "--model", m.modelDir(true),
			"--cell", m.file + ".json", "--variant", name, "--threads", strconv.Itoa(m.threads)}
		if m.compile && name == saving {
			args = append(args, "--compile")
		}
		wg.Go(func() { started[i], errs[i] = start(name, args...) })
	}
	wg.Wait()
	for i, w := range started {
		if w != nil {
			m.workers[m.names[i]] = w
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if m.cell.Words == 25 && m.cell.Blanks == 4 && m.threads > 1 {
		if err := m.another(single, 1); err != nil {
			return err
		}
	}
	m.result = &Result{Cell: m.cell, Chains: m.cell.chains(), Threads: m.threads,
		Tokens: len(m.job.Sentences[0].IDs), Samplers: map[string]*Sampler{}}
	for _, s := range m.job.Sentences {
		m.result.Alpha = append(m.result.Alpha, s.Alpha)
	}
	for _, name := range m.names {
		m.result.Samplers[name] = &Sampler{}
	}
	if m.result.model, err = describeModel(m.modelDir(true)); err != nil {
		return err
	}
	m.result.machine, err = m.describe()
	return err
}

// another adds a sampler that is infill with other options, on the same job.
func (m *meter) another(name string, threads int) error {
	w, err := m.infill(name, threads)
	if err != nil {
		return err
	}
	m.names, m.workers[name] = append(m.names, name), w
	return w.ask(command{Do: "start", File: m.file + ".json"}, &struct{}{})
}

// check compares energies and gradients, and lets PyTorch choose its attention.
func (m *meter) check() error {
	for _, name := range []string{straightforward, saving} {
		var a struct{ Attention string }
		if err := m.workers[name].ask(command{Do: "attention"}, &a); err != nil {
			return err
		}
		sm := m.result.Samplers[name]
		sm.Attention = a.Attention
		sm.Check = &Check{}
		for n := range m.job.Sentences {
			ref := m.file
			if err := m.workers[ours].ask(command{Do: "check", Sentence: n, File: ref},
				&struct{}{}); err != nil {
				return err
			}
			var d Check
			if err := m.workers[name].ask(command{Do: "check", Sentence: n, File: ref}, &d); err != nil {
				return err
			}
			sm.Check.Energy = max(sm.Check.Energy, d.Energy)
			sm.Check.Gradient = max(sm.Check.Gradient, d.Gradient)
			sm.Check.Largest = max(sm.Check.Largest, d.Largest)
		}
		fmt.Fprintf(m.verbose, "  %s: energies agree with infill's to %.1e, gradients to %.1e "+
			"(largest %.1f); %s attention\n", name, sm.Check.Energy, sm.Check.Gradient, sm.Check.Largest,
			sm.Attention)
		if !(sm.Check.Energy <= tolerance && sm.Check.Gradient <= tolerance) {
			return fmt.Errorf("%s computes something else than infill: energies differ by %g, gradients "+
				"by %g", name, sm.Check.Energy, sm.Check.Gradient)
		}
	}
	return nil
}

// peak measures matrix products. The best of what was seen so far counts.
func (m *meter) peak() error {
	const seconds = 0.4
	for name, into := range map[string]*map[string]float64{straightforward: &m.result.Peak.Torch,
		ours: &m.result.Peak.ORT} {
		var a struct{ GFLOPs map[string]float64 }
		if err := m.workers[name].ask(command{Do: "peak", Seconds: seconds, Threads: m.threads},
			&a); err != nil {
			return err
		}
		if *into == nil {
			*into = map[string]float64{}
		}
		for size, rate := range a.GFLOPs {
			(*into)[size] = max((*into)[size], rate)
		}
	}
	fmt.Fprintf(m.verbose, "  sgemm: torch.mm %.0f GFLOP/s, ONNX Runtime %.0f GFLOP/s\n",
		largest(m.result.Peak.Torch), largest(m.result.Peak.ORT))
	return nil
}

// count completes what is known of a sampler after the rounds.
func (m *meter) count(name string, sm *Sampler) error {
	var mem struct{ Bytes int64 }
	if err := m.workers[name].ask(command{Do: "memory"}, &mem); err != nil {
		return err
	}
	sm.Memory = mem.Bytes
	for i, r := range sm.Rounds {
		n := i % len(m.job.Sentences)
		if name == ours || name == single {
			sm.FLOPs += float64(r.Tokens) * m.perToken[n]
		} else {
			sm.FLOPs += float64(r.Steps) * m.perStep[name][n]
		}
	}
	return nil
}
