package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill"
	"infill/mlm"
	"infill/samplers"
)

// defaultModel is the name of the model that is part of the command.
const defaultModel = "default"

// modelFlags are the flags of every command that opens a model.
type modelFlags struct {
	model       string
	ort         string
	threads     *integer
	batchTokens *integer
	lowMemory   bool
	precision   *choice
}

func (f *modelFlags) flags() []cli.Flag {
	f.threads = &integer{v: int64(runtime.NumCPU()), min: 1, max: 1024}
	f.batchTokens = &integer{v: 0, min: 0, max: 1 << 20}
	model := stringFlag("model", "folder of an ONNX export, its .onnx file, or a name of \"infill model list\"", "default")
	model.Destination = &f.model
	ort := stringFlag("ort", "ONNX Runtime's shared library, if not found by itself", "")
	ort.Destination = &f.ort
	f.precision = &choice{"fp32", []string{"fp32", "int8"}}
	low := boolFlag("low-memory", "use less memory, somewhat slower")
	low.Destination = &f.lowMemory
	return []cli.Flag{model, ort,
		valueFlag("threads", "sequences evaluated at the same time; results do not depend on it", f.threads),
		valueFlag("batch-tokens", fmt.Sprintf("tokens per call of the runtime, 0: %d, fewer for large models; results do not depend on it", mlm.DefaultBatchTokens), f.batchTokens),
		low,
		valueFlag("precision", "of the gradient that proposals are made with: fp32|int8; scores and acceptance are fp32 always", f.precision),
	}
}

// open loads the model that the flags name.
func (f *modelFlags) open(ctx context.Context) (*mlm.Model, error) {
	src, err := resolveModel(f.model)
	if err != nil {
		return nil, err
	}
	return src.open(ctx, mlm.Options{
		File:        src.file,
		Threads:     int(f.threads.v),
		BatchTokens: int(f.batchTokens.v),
		LowMemory:   f.lowMemory,
		Precision:   map[string]mlm.Precision{"fp32": mlm.Float32, "int8": mlm.Int8}[f.precision.v],
		Runtime:     f.ort,
	})
}

// samplingFlags are the flags of every command that samples.
type samplingFlags struct {
	sampler     string
	steps       *integer
	chains      *integer
	top         *integer
	stepSize    string
	balance     string
	params      *cli.StringSliceFlag
	shortlist   *integer
	temperature *number
	seed        string
	vocab       *choice
	gradient    *choice
	casing      *choice
}

func (f *samplingFlags) flags() []cli.Flag {
	f.steps = &integer{v: infill.DefaultSteps, min: 0, max: 1_000_000}
	f.chains = &integer{v: infill.DefaultChains, min: 1, max: 10_000}
	f.top = &integer{v: infill.DefaultTop, min: 1, max: 10_000}
	f.shortlist = &integer{v: 0, min: 0, max: 1 << 20}
	f.temperature = &number{v: 1, min: 0, openMin: true, max: math.MaxFloat64}
	f.vocab = &choice{"all", []string{"all", "whole-words"}}
	f.gradient = &choice{"full", []string{"full", "forward"}}
	f.casing = &choice{"auto", []string{"auto", "model"}}
	sampler := stringFlag("sampler", "sampler; \"infill samplers\" lists them", "dmala")
	sampler.Destination = &f.sampler
	stepSize := stringFlag("step-size", "step size of the sampler: a number above 0, or auto (adapted in the first half of the steps)", "")
	stepSize.Destination = &f.stepSize
	balance := stringFlag("balance", "balancing function of the sampler: "+strings.Join(samplers.BalanceNames, "|"), "")
	balance.Destination = &f.balance
	seed := stringFlag("seed", "seed of all randomness, 0 to 2^64-1; chosen and printed when unset", "")
	seed.Destination = &f.seed
	f.params = &cli.StringSliceFlag{Name: "param", Usage: "`NAME=VALUE` of a sampler's parameter; repeatable", EnvVars: env("param")}
	return []cli.Flag{sampler,
		valueFlag("steps", "steps of every chain", f.steps),
		valueFlag("chains", "chains per sentence", f.chains),
		valueFlag("top", "fillings to print, best first", f.top),
		stepSize, balance, f.params,
		valueFlag("shortlist", fmt.Sprintf("candidates per blank, the likeliest with all blanks masked; 0: %d for the samplers that evaluate every neighbour (exact-gibbs, block-gibbs, hb, lb1), all for the others", infill.DefaultShortlist), f.shortlist),
		valueFlag("temperature", "T of exp(U/T): below 1 likelier, above 1 more diverse fillings", f.temperature),
		seed,
		valueFlag("vocab", "tokens that may fill a blank: all|whole-words", f.vocab),
		valueFlag("gradient", "full, or forward: without the backward pass", f.gradient),
		valueFlag("case", "auto: capitalise at the start of a sentence; model: as the model spells", f.casing),
	}
}

// options turns the flags into options, and chooses a seed if none is given.
func (f *samplingFlags) options(c *cli.Context) (infill.Options, error) {
	opt := infill.Options{
		Steps:       int(f.steps.v),
		Chains:      int(f.chains.v),
		Top:         int(f.top.v),
		Temperature: f.temperature.v,
		Shortlist:   int(f.shortlist.v),
	}
	if f.steps.v == 0 {
		opt.Steps = -1
	}
	if f.vocab.v == "whole-words" {
		opt.Vocab = infill.VocabWholeWords
	}
	if f.gradient.v == "forward" {
		opt.Gradient = mlm.Forward
	}
	if f.casing.v == "model" {
		opt.Case = infill.CaseModel
	}
	var err error
	if opt.Seed, err = parseSeed(f.seed); err != nil {
		return opt, err
	}
	opt.Sampler, err = f.makeSampler(c)
	return opt, err
}

func (f *samplingFlags) makeSampler(c *cli.Context) (samplers.Sampler, error) {
	params := map[string]string{}
	for _, p := range c.StringSlice("param") {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usagef("--param %q: want NAME=VALUE", p)
		}
		params[name] = value
	}
	if f.stepSize != "" {
		params["step-size"] = f.stepSize
	}
	if f.balance != "" {
		params["balance"] = f.balance
	}
	return samplers.New(f.sampler, params)
}

func parseSeed(s string) (uint64, error) {
	if s == "" {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return 0, fmt.Errorf("choosing a seed: %w", err)
		}
		// Short enough to be typed again.
		return binary.LittleEndian.Uint64(b[:]) % 1_000_000, nil
	}
	v, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0, usagef("--seed %q: want a whole number from 0 to 2^64-1", s)
	}
	return v, nil
}
