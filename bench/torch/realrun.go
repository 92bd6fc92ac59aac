package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"infill/bench/internal/chains"
	"infill/bench/internal/runlog"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/samplers"
)

// runInfill has infill fill a sentence, with an engine that remembers nothing of others. What a
// first call sets up is not measured.
func (j *realJob) runInfill(ctx context.Context, t realTask, r *realRun) error {
	opt := t.opt
	opt.Seed, opt.Chains, opt.Steps, opt.AllFillings = r.Seed, r.Chains, r.Steps, true
	var err error
	if opt.Sampler, err = chains.Sampler(r.Program, &opt); err != nil {
		return err
	}
	warm := opt
	warm.Steps, warm.Chains = 1, 1
	if _, err := infill.NewWithMemo(j.opened, 0).Fill(ctx, t.template, warm); err != nil {
		return err
	}
	e := infill.New(j.opened)
	var trace chains.Trace
	accepted, moved, steps := 0, 0, 0
	var cpu time.Duration
	var at []time.Duration
	opt.Trace = func(s infill.Step) error {
		if len(at) <= s.Step {
			at = append(at, chains.CPU()-cpu)
		}
		trace.Add(s)
		if s.Step > r.Steps/2 {
			for k := range s.Energy {
				steps++
				if s.Proposed[k] {
					moved++
				}
				if s.Accepted[k] {
					accepted++
				}
			}
		}
		return nil
	}
	begin := time.Now()
	cpu = chains.CPU()
	res, err := e.Fill(ctx, t.template, opt)
	if err != nil {
		return err
	}
	r.CPU, r.Wall = (chains.CPU() - cpu).Seconds(), time.Since(begin).Seconds()
	r.Rows, r.Evaluated, r.StepSize = res.Rows, res.Evaluated, res.Tuned["step-size"]
	r.MeanProb = float64(steps-moved+accepted) / float64(max(steps, 1))
	if samplers.InfoOf(opt.Sampler).Corrected && moved > 0 {
		share, of := float64(moved)/float64(steps), float64(accepted)/float64(moved)
		r.MoveShare, r.Acceptance = &share, &of
	}
	if math.IsNaN(trace.Energy[0][0]) || math.IsNaN(trace.Energy[0][r.Steps]) {
		// A sampler without energies. They are computed in a second run of the same bits.
		trace, opt.TraceEnergies = chains.Trace{}, true
		if _, err := e.Fill(ctx, t.template, opt); err != nil {
			return err
		}
	}
	r.RealStates, r.Path = statesOf(&trace), pathOf(&trace, at)
	return nil
}

// codeVersion names the last commit that changed what is measured, "" outside a checkout.
func codeVersion() string {
	parts := []string{"--", "infill", "internal", "mlm", "models", "samplers", "tokenize", "go.sum"}
	rev, err := exec.Command("git", append([]string{"log", "-1", "--format=%h"}, parts...)...).Output()
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(rev))
	changed, err := exec.Command("git", append([]string{"status", "--porcelain",
		"--untracked-files=no"}, parts...)...).Output()
	if err != nil || len(changed) > 0 {
		name += ", changed"
	}
	return name
}

// runBefore has the program of -before fill a sentence by DMALA. Its time is that of the process.
func (j *realJob) runBefore(ctx context.Context, t realTask, r *realRun) error {
	if j.before == "" || j.beforeVersion == "" {
		return errors.New("before needs -before and -before-version")
	}
	r.Version = j.beforeVersion
	dir, err := os.MkdirTemp("", "infill-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "trace")
	args := []string{"fill", "--quiet", "--sampler", "dmala", "--seed", fmt.Sprint(r.Seed), "--chains",
		strconv.Itoa(r.Chains), "--steps", strconv.Itoa(r.Steps), "--threads", strconv.Itoa(r.Threads),
		"--trace", file}
	if j.model != "" {
		args = append(args, "--model", j.model)
	}
	cmd := exec.CommandContext(ctx, j.before, append(args, t.text)...)
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	r.Wall = time.Since(begin).Seconds()
	r.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	lines, _, err := runlog.Read[jsonl.Step](file)
	if err != nil {
		return err
	}
	trace, err := traceOf(lines)
	if err != nil {
		return err
	}
	// That build counted a proposal that is the state itself as accepted.
	accepted, steps := 0, 0
	for _, l := range lines[r.Steps/2+1:] {
		for _, a := range l.Accepted {
			steps++
			if a {
				accepted++
			}
		}
	}
	r.MeanProb = float64(accepted) / float64(max(steps, 1))
	r.RealStates = statesOf(trace)
	return nil
}

// traceOf gives the pieces of a trace numbers.
func traceOf(lines []jsonl.Step) (*chains.Trace, error) {
	var t chains.Trace
	ids := map[string]int32{}
	for _, l := range lines {
		s := infill.Step{Step: l.Step}
		for _, u := range l.Energy {
			if u == nil {
				return nil, errors.New("the trace has no energies")
			}
			s.Energy = append(s.Energy, *u)
		}
		s.Tokens = func(k int) []int32 {
			var out []int32
			for _, piece := range l.States[k] {
				if _, ok := ids[piece]; !ok {
					ids[piece] = int32(len(ids))
				}
				out = append(out, ids[piece])
			}
			return out
		}
		t.Add(s)
	}
	if t.Energy == nil {
		return nil, errors.New("the trace is empty")
	}
	return &t, nil
}

// A torchPart is what torch is asked to do, as the part of its name after the first colon says.
type torchPart struct {
	bfloat16      bool
	chains, steps int // 0: all
}

func parseTorch(rest string) (p torchPart, err error) {
	for _, s := range strings.FieldsFunc(rest, func(r rune) bool { return r == ':' }) {
		k, v, _ := strings.Cut(s, "=")
		n, bad := strconv.Atoi(v)
		switch {
		case s == "bfloat16":
			p.bfloat16 = true
		case k == "chains" && bad == nil && n > 0:
			p.chains = n
		case k == "steps" && bad == nil && n > 0:
			p.steps = n
		default:
			return p, fmt.Errorf("torch:%s: want bfloat16, chains=N or steps=N", s)
		}
	}
	return p, nil
}

// runTorch has PyTorch make the steps, from the starts that infill's chains have.
func (j *realJob) runTorch(ctx context.Context, t realTask, r *realRun, rest string) (err error) {
	part, err := parseTorch(rest)
	if err != nil {
		return err
	}
	if j.weights == "" || j.python == "" {
		return errors.New("torch needs -weights and -python")
	}
	like := r.realKey
	like.Program = "dmala"
	tuned := j.known(like)
	whole := part.chains == 0 && part.steps == 0
	switch {
	case tuned != nil:
		r.StepSize = tuned.StepSize
	case whole:
		return errors.New("torch takes the step size of dmala, which has to run first")
	default: // the time of its steps does not depend on it
		r.StepSize = 0.3
	}
	starts, err := j.starts(ctx, t, r)
	if err != nil {
		return err
	}
	if part.chains > 0 {
		starts = starts[:min(part.chains, len(starts))]
	}
	if part.steps == 0 {
		part.steps = r.Steps
	}
	r.Made = len(starts) * part.steps
	dir, err := os.MkdirTemp("", "infill-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "job")
	w := &infillWorker{model: j.opened, words: true}
	job := &job{Seed: r.Seed, Products: products, Sentences: []jobSentence{{
		Text: t.text, IDs: t.template.IDs(), Positions: t.template.Positions(),
		Mask: j.opened.Tokenizer().MaskID(), Allowed: w.allowed(t.template), States: starts,
		Check: starts[:1], Alpha: r.StepSize,
	}}}
	if err := errors.Join(job.write(file+".json"), w.reference(command{File: file})); err != nil {
		return err
	}
	args := []string{j.python, filepath.Join("bench", "torch", "python", "worker.py"), "--model",
		j.weights, "--cell", file + ".json", "--variant", straightforward, "--threads",
		strconv.Itoa(r.Threads)}
	bound := 3 * tolerance // a real model has larger energies than the random one
	if part.bfloat16 {
		args, bound = append(args, "--bfloat16"), 1
	}
	torch, err := start("torch", args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, torch.close()) }()
	var d Check // which is the call that sets things up, too
	if err := torch.ask(command{Do: "check", File: file}, &d); err != nil {
		return err
	}
	if !(d.Energy <= bound) {
		return fmt.Errorf("PyTorch computes something else than infill: energies differ by %g", d.Energy)
	}
	var peak struct {
		ByCPU map[string]float64 `json:"by_cpu"`
	}
	if err := torch.ask(command{Do: "peak", Seconds: 0.2}, &peak); err != nil {
		return err
	}
	r.Sgemm = largest(peak.ByCPU)
	var s slot
	if err := torch.ask(command{Do: "slot", Steps: part.steps, Trace: whole}, &s); err != nil {
		return err
	}
	r.CPU, r.Wall = s.CPU, s.Wall
	if whole && s.Trace != nil {
		r.RealStates = statesOf(s.Trace)
		for _, p := range s.Prob {
			r.MeanProb += p / float64(len(s.Prob))
		}
	}
	return nil
}

// starts are the states that infill's chains begin with.
func (j *realJob) starts(ctx context.Context, t realTask, r *realRun) (out [][]int32, err error) {
	opt := t.opt
	opt.Seed, opt.Chains, opt.NoSteps, opt.Sampler = r.Seed, r.Chains, true, &samplers.Rows{}
	opt.Trace = func(s infill.Step) error {
		for k := range s.Energy {
			out = append(out, slices.Clone(s.Tokens(k)))
		}
		return nil
	}
	_, err = infill.New(j.opened).Fill(ctx, t.template, opt)
	return out, err
}
