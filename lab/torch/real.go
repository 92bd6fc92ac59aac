package torch

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"infill/infill"
	"infill/infill/records"
	"infill/infill/text"
	"infill/lab/internal/chains"
	"infill/lab/internal/runlog"
	"infill/mlm"
	"infill/report/read"

	"golang.org/x/sys/cpu"
)

// realPrograms are the programs of the cell of a real model, in the order of the page. A program
// is a sampler of infill, as in rows:rate=0.3, or
//
//	before    DMALA of an earlier build of infill, which -before names
//	torch     the straightforward DMALA in PyTorch, with the step size that dmala found
//
// torch:bfloat16 computes under autocast. torch:chains=5:steps=1 makes only this part of the
// work, whose time is then scaled: every step costs it the same. It has no results.
const realPrograms = "dmala before torch:chains=5:steps=1 dmala:gradient=forward dlmc " +
	"gibbs-mh gibbs rows"

// realFile is the file of runs, in the folder of the page's other data.
const realFile = "real.jsonl"

// ownTexts are filled where there is no file of sentences.
var ownTexts = []string{
	"the old man [MASK] down on the [MASK] and looked [MASK] the sea for a long [MASK] .",
	"in 1908 he [MASK] his first paper [MASK] the [MASK] of the poetry [MASK] in london .",
}

// A realJob is a run of lab/torch real.
type realJob struct {
	model, weights, texts, out, programs, before, only, python string
	beforeVersion                                              string
	seeds, steps, chains, threads                              int
	verbose                                                    io.Writer

	opened  *mlm.Model
	done    []realRun
	version string
}

// realCommand measures programs on a real model, sentence by sentence in turns. Each finished run
// is a line of the file of runs, and what is there is not run again: a command that was stopped
// goes on. The section of lab/notebook/performance.md is made of the file.
//
//	bin/lab torch real -model bert-base-onnx -weights bert-base \
//		-texts ../shared/data/eval/discs-infilling-task.json \
//		-before OLD -before-version COMMIT -only 1,11
//
// Seeds come first, then sentences, then programs, so that programs of a stopped run have had the
// same sentences, and a ratio of times is of runs that followed each other. Run it in the root of
// the repository.
func realCommand(ctx context.Context, args []string, out io.Writer) error {
	j := realJob{verbose: out}
	f := flag.NewFlagSet("real", flag.ContinueOnError)
	f.StringVar(&j.model, "model", "", "folder of the ONNX export; empty: small, of the program")
	f.StringVar(&j.weights, "weights", "", "folder of the same model for PyTorch's transformers")
	f.StringVar(&j.texts, "texts", "",
		"file of sentences: lines, or the task of DISCS; empty: two sentences of our own")
	f.StringVar(&j.out, "runs", filepath.Join("lab", "notebook", "performance", realFile),
		"file that runs are appended to")
	f.StringVar(&j.programs, "programs", realPrograms, "programs to measure")
	f.StringVar(&j.before, "before", "", "program infill of an earlier version, for before")
	f.StringVar(&j.beforeVersion, "before-version", "", "what version that is")
	f.StringVar(&j.only, "only", "", "numbers of sentences, as in 1,2,11; empty: all")
	f.StringVar(&j.python, "python", os.Getenv("INFILL_BENCH_PYTHON"),
		"interpreter with the packages of requirements.txt, for torch")
	f.IntVar(&j.seeds, "seeds", 1, "seeds, from 1 on")
	f.IntVar(&j.steps, "steps", infill.PublishedSteps, "steps of every chain")
	f.IntVar(&j.chains, "chains", infill.DefaultChains, "chains")
	f.IntVar(&j.threads, "threads", 2, "threads of every program")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if j.seeds < 1 || j.steps < 8 || j.chains < 2 || j.threads < 1 {
		return errors.New("-seeds and -threads are at least 1, -chains 2, -steps 8")
	}
	return j.run(ctx)
}

// A realKey names a run.
type realKey struct {
	Model    string `json:"model"`
	Program  string `json:"program"`
	Sentence string `json:"sentence"`
	Seed     uint64 `json:"seed"`
	Chains   int    `json:"chains"`
	Steps    int    `json:"steps"`
	Threads  int    `json:"threads"`
	// what the processor has for products, see [processor]; "" in older files
	Processor string `json:"processor,omitempty"`
}

// A realRun is what came of a run.
type realRun struct {
	realKey
	Pieces int     `json:"pieces"` // of the sentence, special ones included
	Blanks int     `json:"blanks"`
	Made   int     `json:"chain_steps"` // steps of chains that were made
	CPU    float64 `json:"cpu_seconds"` // of all threads, for what was made
	Wall   float64 `json:"wall_seconds"`
	// rows that the sampler asked for and that the model evaluated; infill of now only
	Rows      int     `json:"rows,omitempty"`
	Evaluated int     `json:"rows_evaluated,omitempty"`
	StepSize  float64 `json:"step_size,omitempty"`
	// of the second half of the steps: share that was accepted or proposed the state itself, an
	// estimate of the mean probability that step sizes are adapted to
	MeanProb float64 `json:"mean_probability,omitempty"`
	// as in records: share of these steps that proposed another state, and of these that was
	// accepted, which is what rows adapts to; infill of now only, nil without an acceptance test
	MoveShare  *float64 `json:"move_share,omitempty"`
	Acceptance *float64 `json:"acceptance,omitempty"`
	*RealStates
	Path []realPoint `json:"path,omitempty"` // on the way; infill of now only
	// GFLOP that torch.mm makes a second of the processor, at the best of some sizes; torch only
	Sgemm   float64 `json:"sgemm,omitempty"`
	Version string  `json:"version"`
	Date    string  `json:"date"`
}

// UnmarshalJSON reads lines of earlier programs too. They have no share of moves, and called the
// mean probability acceptance.
func (r *realRun) UnmarshalJSON(data []byte) error {
	type plain realRun
	if err := json.Unmarshal(data, (*plain)(r)); err != nil {
		return err
	}
	if r.MoveShare == nil && r.Acceptance != nil {
		r.MeanProb, r.Acceptance = *r.Acceptance, nil
	}
	return nil
}

// RealStates says what the chains of a whole run reached. It is exported for encoding/json, which
// fills embedded pointers to exported types only.
type RealStates struct {
	Last    chains.Quality `json:"last"`    // of the chains' last states
	Visited chains.Quality `json:"visited"` // of all their states
	Moves   float64        `json:"moves"`   // of a chain, in all steps
	// effective draws in the second half of the steps: of U, and of the one-hot vectors of all blanks
	EnergyESS float64 `json:"energy_ess"`
	TokenESS  float64 `json:"token_ess"`
}

func statesOf(t *chains.Trace) *RealStates {
	half := t.Steps()/2 + 1
	return &RealStates{
		Last: t.At(t.Steps()), Visited: t.Visited(), Moves: t.Moves(0),
		EnergyESS: t.EnergyESS(half), TokenESS: t.TokenESS(half),
	}
}

// A realTask is a sentence to fill.
type realTask struct {
	id, text string
	template *text.Template
	opt      infill.Options
}

func (j *realJob) run(ctx context.Context) (err error) {
	var end int64
	if j.done, end, err = runlog.Read[realRun](j.out); err != nil {
		return err
	}
	log, err := runlog.Append(j.out, end)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close(), j.close()) }()
	j.version = codeVersion()
	tasks, err := j.tasks(ctx)
	if err != nil {
		return err
	}
	for seed := range j.seeds {
		for _, t := range tasks {
			for _, p := range strings.Fields(j.programs) {
				k := realKey{j.name(), p, t.id, uint64(seed + 1), j.chains, j.steps, j.threads, units()}
				if j.known(k) != nil {
					continue
				}
				r, err := j.one(ctx, t, k)
				if err != nil {
					return fmt.Errorf("%s, sentence %s: %w", p, t.id, err)
				}
				r.Date = time.Now().UTC().Format(time.RFC3339)
				if err := log.Add(r); err != nil {
					return err
				}
				j.done = append(j.done, *r)
				fmt.Fprintf(j.verbose, "%s, sentence %s: %d chain-steps, CPU %.1f s, wall %.1f s\n", p, t.id,
					r.Made, r.CPU, r.Wall)
			}
		}
	}
	return nil
}

func (j *realJob) close() error {
	if j.opened == nil {
		return nil
	}
	return j.opened.Close()
}

// units is AMX where the processor has units for products of bfloat16, and "" elsewhere. Times
// of the two are not compared.
func units() string {
	if cpu.X86.HasAMXTile && cpu.X86.HasAMXBF16 {
		return "AMX"
	}
	return ""
}

func (j *realJob) known(k realKey) *realRun {
	i := slices.IndexFunc(j.done, func(r realRun) bool { return r.realKey == k })
	if i < 0 {
		return nil
	}
	return &j.done[i]
}

// name is the model's in the file of runs.
func (j *realJob) name() string {
	if j.model == "" {
		return "small"
	}
	return filepath.Base(j.model)
}

func (j *realJob) tasks(ctx context.Context) (out []realTask, err error) {
	if j.opened, err = openModel(j.model, mlm.Options{Threads: j.threads}); err != nil {
		return nil, err
	}
	sources, err := j.sources()
	if err != nil {
		return nil, err
	}
	only := strings.FieldsFunc(j.only, func(r rune) bool { return r == ',' })
	for i, s := range sources {
		t := realTask{id: fmt.Sprint(i + 1), text: s.Text}
		if j.texts == "" {
			t.id = fmt.Sprintf("own %d", i+1)
		}
		if len(only) > 0 && !slices.Contains(only, t.id) {
			continue
		}
		t.template, _, err = records.Blanks(j.opened.Tokenizer(), s.Text, text.Masking{}, &t.opt)
		if err != nil {
			return nil, fmt.Errorf("sentence %s: %w", t.id, err)
		}
		out = append(out, t)
	}
	return out, ctx.Err()
}

func (j *realJob) sources() ([]read.Source, error) {
	if j.texts == "" {
		var out []read.Source
		for _, s := range ownTexts {
			out = append(out, read.Source{Text: s})
		}
		return out, nil
	}
	return read.Sources(j.texts, nil)
}

// one runs a program on a sentence.
func (j *realJob) one(ctx context.Context, t realTask, k realKey) (*realRun, error) {
	r := &realRun{realKey: k, Pieces: len(t.template.IDs), Blanks: len(t.template.Blanks),
		Made: k.Chains * k.Steps, Version: j.version}
	switch name, rest, _ := strings.Cut(k.Program, ":"); name {
	case "before":
		return r, j.runBefore(ctx, t, r)
	case "torch":
		return r, j.runTorch(ctx, t, r, rest)
	}
	return r, j.runInfill(ctx, t, r)
}
