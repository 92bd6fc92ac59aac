package protocols

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/open"
	"infill/lab/internal/chains"
	"infill/lab/internal/runlog"
	"infill/mlm"
)

// defaultVocab is -vocab unless somebody says otherwise.
const defaultVocab = "words"

// smallModel is the name of the model of no folder in the records.
const smallModel = "small"

// A job is what the flags of run ask for.
type job struct {
	model, data, out, samplers, protocols, budgets, vocab string
	only, words, seeds                                    string
	limit, steps, chains, threads                         int
	at                                                    string
	rate                                                  float64
}

func runCommand(ctx context.Context, args []string) error {
	var j job
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	j.flags(f, "rows gibbs-mh dmala dlmc", "A", "steps")
	if err := f.Parse(args); err != nil {
		return err
	}
	return j.run(ctx)
}

// flags adds those of a run, with what is run unless somebody says otherwise.
func (j *job) flags(f *flag.FlagSet, samplers, protocols, budgets string) {
	f.StringVar(&j.model, "model", "", "folder of the model; empty: small, of the program")
	f.StringVar(&j.data, "data", "",
		"files of sentences, comma separated: lines, or the task of DISCS")
	f.StringVar(&j.out, "o", "", "file that runs are appended to")
	f.StringVar(&j.samplers, "samplers", samplers,
		"samplers, with parameters as in rows:rate=0.3; gradient=forward is without backward pass")
	f.StringVar(&j.protocols, "protocols", protocols, "protocols: A, B, C, M or R, or several of them")
	f.StringVar(&j.budgets, "budget", budgets,
		"what is equal: steps, evaluations or rows, or several of them")
	f.StringVar(&j.vocab, "vocab", defaultVocab, "what may fill a blank: words, all or whole-words")
	f.StringVar(&j.seeds, "seeds", "5",
		"how many seeds, from 1 on, or the first and the last, as in 2-5")
	f.StringVar(&j.only, "only", "", "numbers of sentences, as in 1,2,11; empty: all")
	f.StringVar(&j.words, "words", "",
		"fewest and most words of a sentence, as in 10-25; empty: any number")
	f.IntVar(&j.limit, "limit", 0, "sentences of each file, from the first on; 0: all")
	f.IntVar(&j.steps, "steps", infill.PublishedSteps, "steps")
	f.StringVar(&j.at, "at", "",
		"of protocols M and R: earlier steps whose states are kept, too, as in 50,100")
	f.IntVar(&j.chains, "chains", infill.DefaultChains, "chains; protocol C has one in any case")
	f.IntVar(&j.threads, "threads", 2, "threads")
	f.Float64Var(&j.rate, "mask-rate", 0, "share of the words to blank out; 0: there are blanks")
}

func (j *job) run(ctx context.Context) error {
	if j.data == "" || j.out == "" {
		return fmt.Errorf("runs need -data FILE and a file to write to")
	}
	m, err := j.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	tasks, err := j.tasks(m.Tokenizer())
	if err != nil {
		return err
	}
	seeds, err := j.seedNumbers()
	if err != nil {
		return err
	}
	known, end, err := runlog.Read[record](j.out)
	if err != nil {
		return err
	}
	done := map[key]record{}
	for _, r := range known {
		done[r.key] = r
	}
	out, err := runlog.Append(j.out, end)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	same := chain{model: m}
	for _, seed := range seeds {
		for _, t := range tasks {
			for _, k := range j.keys(t.id, seed) {
				if _, ok := done[k]; ok {
					continue
				}
				rec, ok := asSteps(done, k)
				var early []*record
				if !ok {
					if rec, early, err = j.one(ctx, &same, t, k); err != nil {
						return fmt.Errorf("%+v: %w", k, err)
					}
				}
				for _, r := range append(early, rec) {
					if err := out.Add(r); err != nil {
						return err
					}
				}
				done[k] = *rec
			}
		}
	}
	return nil
}

// asSteps is the run of equal evaluations that one of equal steps is too, because its steps made
// just as many. Those of GWG do, and they take most of the time.
func asSteps(done map[key]record, k key) (*record, bool) {
	if k.Budget != "evaluations" {
		return nil, false
	}
	same := k
	same.Budget = "steps"
	r, ok := done[same]
	made := infill.Options{Sampling: infill.SamplingOptions{Chains: k.Chains}}
	if !ok || protocol(k.Protocol, &made) != nil || r.Made != k.Steps ||
		r.Evals != made.Sampling.Chains*(k.Steps+1) {
		return nil, false
	}
	r.key = k
	return &r, true
}

// keys are the runs of a sentence and a seed. Those that differ in their budget follow one another.
func (j *job) keys(sentence string, seed uint64) []key {
	var out []key
	for _, protocol := range strings.Fields(j.protocols) {
		for _, spec := range strings.Fields(j.samplers) {
			for _, budget := range strings.Fields(j.budgets) {
				out = append(out, key{
					Model: j.name(), Data: j.dataName(), MaskRate: j.rate, Vocab: j.vocabName(),
					Protocol: protocol, Budget: budget, Steps: j.steps, Chains: j.chains,
					Sampler: spec, Sentence: sentence, Seed: seed,
				})
			}
		}
	}
	return out
}

func (j *job) open(ctx context.Context) (*mlm.Model, error) {
	return open.Model(ctx, cmp.Or(j.model, "small"), mlm.Options{Threads: j.threads})
}

// name is the model's in the records.
func (j *job) name() string {
	if j.model == "" {
		return smallModel
	}
	return filepath.Base(j.model)
}

// vocabName is what the records call the vocabulary. Words have no name there, as in files that are
// older than the field.
func (j *job) vocabName() string {
	if j.vocab == defaultVocab {
		return ""
	}
	return j.vocab
}

// one fills a sentence. early are the states on the way that were asked for.
func (j *job) one(ctx context.Context, c *chain, t task, k key) (
	rec *record, early []*record, err error,
) {
	if k.Protocol == fromMasks {
		return j.masked(ctx, c, t, k)
	}
	at, err := j.early()
	if err != nil {
		return nil, nil, err
	}
	opt := t.opt
	opt.Seed, opt.Sampling.Chains, opt.Sampling.Steps, opt.Results.All = k.Seed, j.chains, j.steps,
		true
	if opt.Sampling.Sampler, err = chains.Sampler(k.Sampler, &opt); err != nil {
		return nil, nil, err
	}
	budget, ok := map[string]infill.Budget{
		"steps": infill.BudgetSteps, "evaluations": infill.BudgetEvaluations, "rows": infill.BudgetRows,
	}[k.Budget]
	if !ok {
		return nil, nil, fmt.Errorf("-budget %s: want steps, evaluations or rows", k.Budget)
	}
	opt.Sampling.Budget = budget
	if err := protocol(k.Protocol, &opt); err != nil {
		return nil, nil, err
	}
	var w *watcher
	if k.Protocol == fromRandom {
		w = watch(c.model.Tokenizer(), t.template, &opt)
	}
	begin := chains.CPU()
	res, err := c.of(k).Fill(ctx, t.template, opt)
	if err != nil {
		return nil, nil, err
	}
	rec = &record{
		key: k, Blanks: len(t.template.Blanks), Gold: t.gold, Seconds: (chains.CPU() - begin).Seconds(),
		Evals: res.Stats.Evals, Rows: res.Rows, Made: res.Steps, Moves: finite(res.MoveShare),
	}
	for _, f := range res.Fillings {
		rec.States = append(rec.States, state{f.Text, f.Score, f.Count})
	}
	c.add(rec)
	slices.SortStableFunc(rec.States, func(a, b state) int { return cmp.Compare(b.Score, a.Score) })
	if w != nil {
		rec.RHat = w.rhat(rec.Made)
		for _, step := range at {
			early = append(early, w.at(rec, step))
		}
	}
	return rec, early, nil
}
