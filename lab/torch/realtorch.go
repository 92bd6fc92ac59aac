package torch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"infill/infill"
	"infill/samplers"
)

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
		Text: t.text, IDs: t.template.IDs, Positions: t.template.Positions(),
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
	opt.Seed, opt.Sampling.Chains, opt.Sampling.NoSteps, opt.Sampling.Sampler = r.Seed, r.Chains,
		true, &samplers.Rows{}
	opt.Watch.Trace = func(s infill.Step) error {
		for k := range s.Energy {
			out = append(out, slices.Clone(s.Tokens(k)))
		}
		return nil
	}
	_, err = infill.New(j.opened).Fill(ctx, t.template, opt)
	return out, err
}
