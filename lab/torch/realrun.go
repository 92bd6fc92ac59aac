package torch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/lab/internal/chains"
	"infill/lab/internal/runlog"
)

// runInfill has infill fill a sentence, with an engine that remembers nothing of others. What a
// first call sets up is not measured.
func (j *realJob) runInfill(ctx context.Context, t realTask, r *realRun) error {
	opt := t.opt
	opt.Seed, opt.Sampling.Chains, opt.Sampling.Steps = r.Seed, r.Chains, r.Steps
	var err error
	if opt.Sampling.Sampler, err = chains.Sampler(r.Program, &opt); err != nil {
		return err
	}
	model := j.opened
	warm := opt
	warm.Sampling.Steps, warm.Sampling.Chains = 1, 1
	if _, err := infill.New(model).WithMemo(0).Fill(ctx, t.template, warm); err != nil {
		return err
	}
	e := infill.New(model)
	var trace chains.Trace
	accepted, moved, steps := 0, 0, 0
	var cpu time.Duration
	var at []time.Duration
	opt.Watch.Trace = func(s infill.Step) error {
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
	if opt.Sampling.Sampler.Info().Corrected && moved > 0 {
		share, of := float64(moved)/float64(steps), float64(accepted)/float64(moved)
		r.MoveShare, r.Acceptance = &share, &of
	}
	if math.IsNaN(trace.Energy[0][0]) || math.IsNaN(trace.Energy[0][r.Steps]) {
		// A sampler without energies. They are computed in a second run of the same bits.
		trace, opt.Watch.TraceEnergies = chains.Trace{}, true
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

// runBefore has the program of -before fill a sentence by DMALA. Its time is the time of the
// process.
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
