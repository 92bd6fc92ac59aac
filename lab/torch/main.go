// Package torch measures infill against PyTorch: chain-steps per second of
// discrete Langevin sampling (DMALA) of the blanks of a sentence, side by side
// on the same weights, sentences, chains, step sizes and threads:
//
//	(1) straightforward: DMALA in PyTorch as one writes it down, python/dmala.py
//	(2) saving: the same with the savings that one finds at once
//	(3) infill: this project's public packages
//
// for the program's model small and for one of BERT-base's size with random weights,
// sentences of 10, 25 and 60 words with 2, 4 and 8 blanks. Run it in the root of
// the repository, on a machine that does nothing else:
//
//	bin/lab torch                     # prints all 18 cells, half an hour
//	bin/lab torch -quick              # two cells, three minutes
//	bin/lab torch -cell base/25/4     # one cell
//	bin/lab torch -check -quick       # fails where infill is slower than recorded
//	bin/lab torch -profile            # where infill's time goes
//	bin/lab torch -agree              # a longer run of all three
//	bin/lab torch -latency            # the benchmarks of lab/speed
//	bin/lab torch -latency -bench Batch/default  # some of them
//
//	bin/lab torch real -model DIR     # the real BERT-base on twenty sentences
//
// The last is described at realCommand.
//
// With -write lab/notebook the results go to lab/notebook/performance/results.json,
// and the page and its chart are written: with -all everything is measured, in about
// 45 minutes, and with -render nothing is, so that only the page's texts change.
//
// The first run makes a Python environment with a pinned PyTorch and the random
// model, both in the user's cache (7 GB with the CUDA libraries that PyTorch's usual
// packages bring. The configuration of pip decides where they come from, and an index
// of CPU builds makes it 1 GB). -python or INFILL_BENCH_PYTHON names an interpreter
// that has the packages of python/requirements.txt already.
// PyTorch is needed for nothing else in this project.
//
// How a cell is measured: infill adapts a step size, makes a few steps, and hands states and step
// size to the others. Energies and gradients of all three are compared (1e-4) before anything is
// timed. Then the samplers take turns, a slot of some seconds each, whole steps, and every round
// someone else goes first. PyTorch's chains go on from slot to slot. infill makes a new fill in
// every slot, timed from the evaluated start to the ranked result. A ratio compares the rates in
// one round. The median, the lowest and the highest round are reported. Loading is not timed. The
// rate of float32 matrix products is measured by torch.mm and by ONNX Runtime in the same run.
package torch

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"infill/mlm"
)

// Command is the command torch: args are its flags, or real and its flags.
func Command(ctx context.Context, args []string, in io.Reader, out, _ io.Writer) error {
	if len(args) > 0 && args[0] == "real" {
		return realCommand(ctx, args[1:], out)
	}
	return measureCommand(args, in, out)
}

func measureCommand(args []string, in io.Reader, out io.Writer) error {
	f := flag.NewFlagSet("torch", flag.ContinueOnError)
	s := &settings{alphas: map[string]float64{}, scripts: filepath.Join("lab", "torch", "python"),
		verbose: out}
	cells := f.String("cell", "", "only these cells: MODEL/WORDS/BLANKS, separated by commas")
	isQuick := f.Bool("quick", false, "one cell of each model")
	f.IntVar(&s.rounds, "rounds", 5, "rounds of a cell, three fifths of them for the large model, "+
		"and runs of a benchmark")
	f.Float64Var(&s.slot, "slot", 3, "seconds of one sampler's slot in a round, half as much "+
		"again for the large model")
	f.IntVar(&s.threads, "threads", runtime.NumCPU(), "threads of every sampler")
	f.StringVar(&s.python, "python", os.Getenv("INFILL_BENCH_PYTHON"),
		"interpreter with the packages of requirements.txt; empty: one is made in the cache")
	f.BoolVar(&s.compile, "compile", false,
		"PyTorch's second sampler uses torch.compile; with -cell, to see whether it helps")
	write := f.String("write", "", "folder of the page: performance.md and performance/")
	check := f.Bool("check", false, "compare the ratios with those recorded, and fail where they "+
		"are lower")
	profile := f.Bool("profile", false, "instead of measuring: where infill's time goes")
	everything := f.Bool("all", false,
		"measure latency, profiles of the cells of -quick, cells, and agreement")
	agree := f.Bool("agree", false, "instead of measuring: mean probabilities and energies of a "+
		"longer run")
	latency := f.Bool("latency", false, "instead of measuring: the benchmarks of lab/speed")
	pattern := f.String("bench", everyBenchmark, "with -latency: only the benchmarks that this "+
		"pattern of go test matches, beside those recorded")
	render := f.Bool("render", false, "instead of measuring: the page from what is recorded")
	isWorker := f.Bool("worker", false, "internal: be infill's side of a measurement")
	model := f.String("model", "", "internal: the worker's model folder")
	chains := f.Int("chains", 25, "internal: the worker's chains")
	prefix := f.String("prefix", "", "internal: the worker's profile")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *isWorker {
		return serve(in, out, *model, mlm.Options{Threads: s.threads, Profile: *prefix,
			Precision: mlm.Float32}, *chains)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if s.rounds < 1 || s.threads < 1 || !(s.slot > 0) {
		return errors.New("-rounds, -slot and -threads are above 0")
	}
	if _, err := os.Stat(filepath.Join(s.scripts, "worker.py")); err != nil {
		return fmt.Errorf("run this in the root of the repository: %w", err)
	}
	todo, err := selection(*cells, *isQuick)
	if err != nil {
		return err
	}
	if *render && *write == "" {
		return errors.New("-render prints nothing: name the folder of the page, -write lab/notebook")
	}
	book, err := openBook(*write)
	if err != nil {
		return err
	}
	switch {
	case *render:
		err = book.save()
	case *latency:
		err = s.latency(book, *pattern)
	default:
		if err := s.setup(todo); err != nil {
			return err
		}
		profiled := todo
		if *cells == "" {
			profiled = quick()
		}
		switch {
		case *agree:
			err = s.agree(book)
		case *profile:
			err = s.profiles(profiled, book)
		default:
			if *everything { // what is short first: every part is recorded when it is done
				err = errors.Join(s.latency(book, everyBenchmark), s.profiles(profiled, book))
			}
			if err == nil {
				err = s.cells(todo, book, *check)
			}
			if err == nil && *everything {
				err = s.agree(book)
			}
		}
	}
	return err
}

func selection(names string, isQuick bool) ([]cell, error) {
	if names == "" {
		if isQuick {
			return quick(), nil
		}
		return grid(), nil
	}
	var out []cell
	for name := range strings.SplitSeq(names, ",") {
		c, err := parseCell(name)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// cells measures, records after every cell, and compares with what was recorded.
func (s *settings) cells(todo []cell, book *book, check bool) error {
	recorded, err := openBook("lab/notebook")
	if err != nil {
		return err
	}
	var slower, missing []string
	for _, c := range todo {
		fmt.Fprintf(s.verbose, "%s: %d chains\n", c, c.chains())
		began := time.Now()
		r, err := s.measure(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		r.Date, r.Commit = time.Now().UTC().Format(time.RFC3339), commit()
		r.summary(s.verbose)
		fmt.Fprintf(s.verbose, "  %.0f s\n", time.Since(began).Seconds())
		if check {
			old := recorded.result(c)
			if old == nil {
				missing = append(missing, c.String())
			}
			slower = append(slower, r.slowerThan(old)...)
		}
		book.Machine = r.machine
		book.Models[c.Model] = r.model
		book.put(r)
		if err := book.save(); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("lab/notebook/performance/results.json has no record of %s to compare "+
			"with; make one with -write lab/notebook", strings.Join(missing, ", "))
	}
	if len(slower) > 0 {
		return fmt.Errorf("slower than recorded:\n  %s", strings.Join(slower, "\n  "))
	}
	if check {
		fmt.Fprintln(s.verbose, "no ratio is lower than recorded")
	}
	return nil
}

// commit names the version that was measured, "" outside a checkout. What the
// measurement itself writes does not make it another.
func commit() string {
	rev, err := exec.Command("git", "describe", "--always").Output()
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(rev))
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--", ".",
		":!lab/notebook/performance", ":!lab/notebook/performance.md").Output()
	if err != nil || len(changed) > 0 {
		name += ", changed"
	}
	return name
}

// checkSlack is by how much a ratio may fall below the lowest round recorded
// before -check calls it slower.
const checkSlack = 0.05

// slowerThan lists the ratios whose median lies below the lowest round of what
// was recorded, and how far.
func (r *Result) slowerThan(old *Result) []string {
	if old == nil {
		return nil
	}
	var out []string
	for _, name := range []string{straightforward, saving} {
		now, then := r.ratio(ours, name), old.ratio(ours, name)
		if now.Median < then.Low*(1-checkSlack) {
			out = append(out, fmt.Sprintf("%s: %.2f times %s, recorded was %.2f (%.2f–%.2f)", r.Cell,
				now.Median, name, then.Median, then.Low, then.High))
		}
	}
	return out
}

// summary prints a measured cell.
func (r *Result) summary(w io.Writer) {
	for _, name := range []string{straightforward, saving, single, ours} {
		sm := r.Samplers[name]
		if sm == nil {
			continue
		}
		fmt.Fprintf(w, "  %-16s %8.2f chain-steps/s  CPU %7.4f s a chain-step  %5.0f GFLOP/s (%3.0f "+
			"%% of sgemm)  %5.0f MB  mean probability %.3f±%.3f  U %.2f±%.2f\n",
			name, median(r.rates(name)), r.cpu(name), r.gflops(name), 100*r.gflops(name)/r.Peak.Best(),
			float64(sm.Memory)/1e6,
			sm.Prob.Value, sm.Prob.Error, sm.Energy.Value, sm.Energy.Error)
	}
	for _, name := range []string{straightforward, saving, single} {
		if r.Samplers[name] != nil {
			x := r.ratio(ours, name)
			fmt.Fprintf(w, "  infill / %s: %.2f (%.2f–%.2f)\n", name, x.Median, x.Low, x.High)
		}
	}
	fmt.Fprintf(w, "  proposals that moved: %.2f (%s); states that infill evaluated: %.2f a "+
		"chain-step; step size %.3g\n", r.moved(), saving, r.evaluated(), r.Alpha)
}
