package torch

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	binding "github.com/yalue/onnxruntime_go"

	"infill/infill"
	"infill/infill/open"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// infillWorker is infill's side of a cell: the public packages, in a process
// of their own so that CPU time and memory are theirs.
type infillWorker struct {
	model  *mlm.Model
	engine *infill.Engine
	chains int
	words  bool // blanks take words only, as text.VocabWords has it

	sentences []sentence
}

// A sentence is one that the worker fills, again and again.
type sentence struct {
	t     *text.Template
	alpha float64
	seed  uint64
	rate  float64   // steps per second, of the last slot
	last  [][]int32 // states at its end
}

// openModel opens the folder, or the program's model small for "".
func openModel(dir string, o mlm.Options) (*mlm.Model, error) {
	return open.Model(context.Background(), cmp.Or(dir, "small"), o)
}

// serve answers commands until its input ends.
func serve(in io.Reader, out io.Writer, dir string, o mlm.Options, chains int) error {
	m, err := openModel(dir, o)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	w := &infillWorker{model: m, engine: infill.New(m), chains: chains}
	enc := json.NewEncoder(out)
	if err := enc.Encode(map[string]bool{"ready": true}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		answer, err := w.answer(c)
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		if err := enc.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (w *infillWorker) answer(c command) (any, error) {
	switch c.Do {
	case "prepare":
		return w.prepare(c.File)
	case "start":
		return w.restart(c.File)
	case "check":
		return struct{}{}, w.reference(c)
	case "slot":
		return w.slot(c)
	case "gradients":
		return w.gradients(c)
	case "versions":
		return map[string]string{"ORT": binding.GetVersion()}, nil
	case "peak":
		return ortPeak(c.Seconds, c.Threads)
	case "memory":
		n, err := peakMemory()
		return map[string]int64{"bytes": n}, err
	}
	return nil, fmt.Errorf("unknown command %q", c.Do)
}

// adaptSteps and adaptChains are the run that finds a step size. Half of the
// steps adapt. warmSteps are made with it before anything is timed.
const (
	adaptSteps  = 24
	adaptChains = 10
	warmSteps   = 2
)

// prepare completes a job that has texts only: ids, step sizes and states.
func (w *infillWorker) prepare(file string) (any, error) {
	j, err := readJob(file)
	if err != nil {
		return nil, err
	}
	alphas := map[string]float64{}
	for n := range j.Sentences {
		s := &j.Sentences[n]
		t, err := text.Parse(w.model.Tokenizer(), s.Text)
		if err != nil {
			return nil, err
		}
		s.IDs, s.Positions, s.Mask = t.IDs, t.Positions(), w.model.Tokenizer().MaskID()
		s.Allowed = w.allowed(t)
		if s.Alpha, err = w.adapt(j, s, alphas); err != nil {
			return nil, err
		}
		w.sentences = append(w.sentences, sentence{t: t, alpha: s.Alpha, seed: j.Seed})
		if _, err := w.slot(command{Sentence: n, Steps: warmSteps}); err != nil {
			return nil, err
		}
		s.States = w.sentences[n].last
		s.Check = s.States[:min(3, len(s.States))]
	}
	return struct{}{}, j.write(file)
}

// adapt is infill's own adaptation, once for every text that it is done on and
// not for sentences that have a step size.
func (w *infillWorker) adapt(j *job, s *jobSentence, known map[string]float64) (float64, error) {
	if s.Alpha > 0 {
		return s.Alpha, nil
	}
	line := s.AdaptOn
	if line == "" {
		line = s.Text
	}
	if a, ok := known[line]; ok {
		return a, nil
	}
	t, err := text.Parse(w.model.Tokenizer(), line)
	if err != nil {
		return 0, err
	}
	r, err := w.engine.Fill(context.Background(), t,
		infill.Options{Sampling: infill.SamplingOptions{Sampler: &samplers.DMALA{}, Steps: adaptSteps,
			Chains: min(adaptChains, w.chains)}, Seed: j.Seed,
			Words:   infill.WordOptions{Vocab: text.VocabAll},
			Results: infill.ResultOptions{Score: infill.ScorePLL}})
	if err != nil {
		return 0, err
	}
	known[line] = r.Tuned["step-size"]
	return known[line], nil
}

// restart takes a complete job, for a second worker on it. Its chains are the
// same as the first's: results do not depend on threads.
func (w *infillWorker) restart(file string) (any, error) {
	j, err := readJob(file)
	if err != nil {
		return nil, err
	}
	for n, s := range j.Sentences {
		t, err := text.Parse(w.model.Tokenizer(), s.Text)
		if err != nil {
			return nil, err
		}
		w.sentences = append(w.sentences, sentence{t: t, alpha: s.Alpha, seed: j.Seed})
		if _, err := w.slot(command{Sentence: n, Steps: warmSteps}); err != nil {
			return nil, err
		}
	}
	return struct{}{}, nil
}

// allowed lists what may fill the blanks, which all stand between spaces: the
// tokens that begin a word, special and unused ones excepted.
func (w *infillWorker) allowed(t *text.Template) [][]int32 {
	tok := w.model.Tokenizer()
	var ids []int32
	for id := int32(0); int(id) < tok.VocabSize(); id++ {
		if !tok.IsSpecial(id) && !tok.IsUnused(id) && !tok.IsContinuation(id) &&
			(!w.words || isWord(tok.Token(id))) {
			ids = append(ids, id)
		}
	}
	out := make([][]int32, len(t.Blanks))
	for i := range out {
		out[i] = ids
	}
	return out
}

// isWord reports whether a piece begins with a letter or a digit.
func isWord(piece string) bool {
	r, _ := utf8.DecodeRuneInString(piece)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// reference writes U and ∇U at the states to check: per state, U as float64,
// then, per state, m × V float32.
func (w *infillWorker) reference(c command) error {
	j, err := readJob(c.File + ".json")
	if err != nil {
		return err
	}
	s := j.Sentences[c.Sentence]
	lp, grad := tables(w.model, &s, len(s.Check))
	err = w.model.Gradient(context.Background(), &mlm.Sentence{IDs: s.IDs, Blanks: s.Positions},
		s.Check, mlm.Full, lp, grad)
	if err != nil {
		return err
	}
	var data []byte
	for _, l := range lp {
		u := 0.0
		for _, v := range l {
			u += float64(v)
		}
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(u))
	}
	for _, g := range grad {
		for _, v := range g {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
	}
	return os.WriteFile(c.File, data, 0o644)
}

// gradients evaluates ∇U at the start states of a sentence that many times: what
// a profile is taken of.
func (w *infillWorker) gradients(c command) (any, error) {
	j, err := readJob(c.File)
	if err != nil {
		return nil, err
	}
	s := j.Sentences[c.Sentence]
	// Different states, so that none is evaluated once for several chains.
	states := make([][]int32, len(s.States))
	for k := range states {
		states[k] = append([]int32(nil), s.States[k]...)
		states[k][0] = s.Allowed[0][(k*101)%len(s.Allowed[0])]
	}
	lp, grad := tables(w.model, &s, len(states))
	evaluate := func(times int) error {
		for range times {
			err := w.model.Gradient(context.Background(), &mlm.Sentence{IDs: s.IDs, Blanks: s.Positions},
				states, mlm.Full, lp, grad)
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := evaluate(c.Warm); err != nil {
		return nil, err
	}
	_, _, before := w.model.Work()
	begin := time.Now()
	if err := evaluate(c.Steps); err != nil {
		return nil, err
	}
	wall := time.Since(begin).Seconds()
	_, _, after := w.model.Work()
	return map[string]float64{
		"wall": wall, "tokens": float64(after.Tokens - before.Tokens),
		"rows": float64(after.Rows - before.Rows), "runs": float64(after.Runs - before.Runs),
	}, nil
}

func tables(m *mlm.Model, s *jobSentence, n int) (lp, grad [][]float32) {
	lp, grad = make([][]float32, n), make([][]float32, n)
	for k := range lp {
		lp[k], grad[k] = make([]float32, len(s.Positions)),
			make([]float32, len(s.Positions)*m.VocabSize())
	}
	return lp, grad
}

// slot makes another fill of a sentence and times its steps, from the evaluated
// start to the ranked result. It makes c.Steps steps, or about as many as take
// c.Seconds.
func (w *infillWorker) slot(c command) (*slot, error) {
	s := &w.sentences[c.Sentence]
	steps := c.Steps
	if steps == 0 {
		steps = max(1, int(math.Round(c.Seconds*s.rate)))
	}
	s.seed++
	r := &run{worker: w, slot: &slot{Prob: make([]float64, w.chains),
		Energy: make([]float64, w.chains)}, warm: c.Warm}
	_, err := w.engine.Fill(context.Background(), s.t, infill.Options{
		Words: infill.WordOptions{Vocab: text.VocabAll},
		Sampling: infill.SamplingOptions{Sampler: &samplers.DMALA{StepSize: s.alpha}, Steps: steps,
			Chains: w.chains}, Seed: s.seed,
		Watch: infill.WatchOptions{Trace: r.trace}, Results: infill.ResultOptions{Score: infill.ScorePLL},
	})
	if err != nil {
		return nil, err
	}
	r.finish(len(s.t.Blanks))
	s.rate = float64(steps) / r.slot.Wall
	s.last = r.tokens
	return r.slot, nil
}

// A run watches a fill through its trace.
type run struct {
	worker *infillWorker
	slot   *slot
	warm   int // steps whose energies and probabilities are left out
	began  time.Time
	cpu    float64
	rows   int64
	spent  int64 // tokens
	tokens [][]int32
}

// work is what the model has evaluated so far.
func (r *run) work() (rows, tokens int64) {
	a, b, c := r.worker.model.Work()
	return a.Rows + b.Rows + c.Rows, a.Tokens + b.Tokens + c.Tokens
}

func (r *run) trace(s infill.Step) error {
	if s.Step == 0 {
		r.rows, r.spent = r.work()
		r.cpu, r.began = cpuSeconds(), time.Now()
		return nil
	}
	r.slot.Steps = s.Step
	if s.Step > r.warm {
		for k := range s.Energy {
			r.slot.Energy[k] += s.Energy[k]
			if s.Accepted[k] || !s.Proposed[k] { // as torch counts
				r.slot.Prob[k]++
			}
		}
	}
	r.tokens = r.tokens[:0]
	for k := range s.Energy {
		r.tokens = append(r.tokens, slices.Clone(s.Tokens(k)))
	}
	return nil
}

func (r *run) finish(blanks int) {
	r.slot.Wall, r.slot.CPU = time.Since(r.began).Seconds(), cpuSeconds()-r.cpu
	rows, tokens := r.work()
	r.slot.States, r.slot.Tokens = float64(rows-r.rows)/float64(blanks), tokens-r.spent
	for k := range r.slot.Prob {
		r.slot.Prob[k] /= float64(r.slot.Steps - r.warm)
		r.slot.Energy[k] /= float64(r.slot.Steps - r.warm)
	}
}

func readJob(file string) (*job, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var j job
	return &j, json.Unmarshal(data, &j)
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return math.NaN()
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// peakMemory is the most memory that the process had resident, in bytes.
func peakMemory() (int64, error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(data)) {
		var kb int64
		if n, _ := fmt.Sscanf(l, "VmHWM: %d kB", &kb); n == 1 {
			return kb << 10, nil
		}
	}
	return 0, fs.ErrNotExist
}
