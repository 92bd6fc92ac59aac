package infill

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"infill/mlm"
	"infill/samplers"
)

// An Engine fills sentences with one model. It is safe for concurrent use;
// sentences filled at the same time share the model's batches.
type Engine struct {
	model    *mlm.Model
	supports *supports
}

// New returns an engine on a model, which stays the caller's to close.
func New(m *mlm.Model) *Engine {
	return &Engine{model: m, supports: newSupports(m.Tokenizer())}
}

// A Filling is a text with its blanks filled.
type Filling struct {
	Text          string   `json:"text"`
	Tokens        []string `json:"tokens"`          // the model's pieces, one per blank
	Spans         [][2]int `json:"spans"`           // byte span of each in Text
	Score         float64  `json:"score"`           // U(θ), the pseudo-log-likelihood of the pieces in nats
	ScorePerToken float64  `json:"score_per_token"` // Score over the number of blanks
	Chain         int      `json:"chain"`           // the first chain that ended here, from 0
	Step          int      `json:"step"`            // the step at which it did
	Count         int      `json:"count"`           // how many chains ended here
}

// A Result is what filling a sentence gave.
type Result struct {
	Fillings   []Filling          // best first, at most Options.Top
	Distinct   int                // different fillings among the last states of all chains
	Acceptance float64            // share of accepted proposals after the burn-in, in [0,1]; NaN without a step
	Stats      samplers.Stats     // counts summed over chains and all steps
	Tuned      map[string]float64 // what the sampler adapted, mean over chains
	Warnings   []string
}

// Fill fills the blanks of a template. The chains start from independent
// draws of what the model says of each blank with all of them masked; their
// last states, duplicates merged, are ranked by U. Half of the steps are a
// burn-in in which the sampler adapts.
//
// Errors: ErrOption, ErrEmptySupport, mlm.ErrTooLong, the sampler's own
// parameters (samplers.ErrParam), or the model's.
func (e *Engine) Fill(ctx context.Context, t *Template, opt Options) (*Result, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	support, err := e.supports.of(t, opt.Vocab)
	if err != nil {
		return nil, err
	}
	sentence := &mlm.Sentence{IDs: t.IDs, Blanks: t.Positions()}
	tgt, err := newTarget(e.model, sentence, support, opt.Temperature, opt.Gradient)
	if err != nil {
		return nil, err
	}
	x0, err := e.start(ctx, tgt, opt)
	if err != nil {
		return nil, err
	}
	run, err := samplers.Start(ctx, opt.Sampler, tgt, x0, samplers.Options{Seed: opt.Seed, ID: opt.ID, Burnin: opt.Steps / 2})
	if err != nil {
		return nil, err
	}
	var burnt samplers.Stats
	if err := trace(run, tgt, opt); err != nil {
		return nil, err
	}
	err = run.Steps(ctx, opt.Steps, func(r *samplers.Run) error {
		if r.Done() == r.Burnin {
			burnt = sumStats(r.Stats)
			r.ResetStats()
		}
		return trace(r, tgt, opt)
	})
	if err != nil {
		return nil, err
	}
	if err := run.Refresh(ctx); err != nil {
		return nil, err
	}
	return e.result(t, tgt, run, burnt, opt), nil
}

// start draws every chain's first state from the all-masked conditionals.
func (e *Engine) start(ctx context.Context, t *target, opt Options) ([][]int32, error) {
	m, vocab := len(t.support), e.model.VocabSize()
	all := rows[float32](nil, m, vocab)
	if err := e.model.Independent(ctx, t.sentence, all); err != nil {
		return nil, err
	}
	// Cumulative weights per blank: every chain then draws by bisection.
	cum := make([][]float64, m)
	for i, ids := range t.support {
		w := make([]float64, len(ids))
		t.gather(w, all[i], ids)
		top := slices.Max(w)
		if math.IsInf(top, 0) || math.IsNaN(top) {
			return nil, fmt.Errorf("blank %d: %w: the model gives probability %v to its best token", i+1, mlm.ErrNotFinite, math.Exp(top))
		}
		sum := 0.0
		for v, l := range w {
			sum += math.Exp(l - top)
			w[v] = sum
		}
		cum[i] = w
	}
	x := make([][]int32, opt.Chains)
	for k := range x {
		rng := samplers.NewStream(opt.Seed, opt.ID+"\x00start", k)
		x[k] = make([]int32, m)
		for i, w := range cum {
			r := rng.Float64() * w[len(w)-1]
			x[k][i] = int32(min(sort.Search(len(w), func(v int) bool { return w[v] > r }), len(w)-1))
		}
	}
	return x, nil
}

func trace(r *samplers.Run, t *target, opt Options) error {
	if opt.Trace == nil {
		return nil
	}
	s := Step{Step: r.Done(), Energy: make([]float64, r.Len())}
	for k, u := range r.U {
		s.Energy[k] = u * t.temp
	}
	if s.Step > 0 {
		s.Accepted = make([]bool, r.Len())
		for k, m := range r.Last {
			s.Accepted[k] = m.Accepted
		}
	}
	s.Tokens = func(k int) []int32 { return t.tokens(r.X[k]) }
	return opt.Trace(s)
}

// tokens translates a state into the model's ids.
func (t *target) tokens(x []int32) []int32 {
	ids := make([]int32, len(x))
	for i, v := range x {
		ids[i] = t.support[i][v]
	}
	return ids
}

// result ranks the last states. Equal energies keep the order of the chains,
// so that the ranking is a function of the run.
func (e *Engine) result(t *Template, tgt *target, run *samplers.Run, burnt samplers.Stats, opt Options) *Result {
	tok := e.model.Tokenizer()
	kept := sumStats(run.Stats)
	res := &Result{Acceptance: kept.Acceptance()}
	at := map[string]int{}
	for k, x := range run.X {
		ids := tgt.tokens(x)
		text, spans := splice(t, tok, ids, opt.Case)
		if i, ok := at[text]; ok {
			res.Fillings[i].Count++
			continue
		}
		at[text] = len(res.Fillings)
		f := Filling{Text: text, Spans: spans, Score: run.U[k] * tgt.temp, Chain: k, Step: run.Done(), Count: 1}
		f.ScorePerToken = f.Score / float64(len(ids))
		for _, id := range ids {
			f.Tokens = append(f.Tokens, tok.Token(id))
		}
		res.Fillings = append(res.Fillings, f)
	}
	res.Distinct = len(res.Fillings)
	sort.SliceStable(res.Fillings, func(a, b int) bool { return res.Fillings[a].Score > res.Fillings[b].Score })
	if opt.Top > 0 && len(res.Fillings) > opt.Top {
		res.Fillings = res.Fillings[:opt.Top]
	}
	res.Tuned = meanTuning(run)
	res.Stats = kept
	res.Stats.Add(burnt)
	res.Warnings = warnings(res)
	return res
}

func sumStats(all []samplers.Stats) samplers.Stats {
	var s samplers.Stats
	for _, c := range all {
		s.Add(c)
	}
	return s
}

func meanTuning(run *samplers.Run) map[string]float64 {
	var mean map[string]float64
	for k := range run.X {
		for name, v := range run.Tuning(k) {
			if mean == nil {
				mean = map[string]float64{}
			}
			mean[name] += v / float64(run.Len())
		}
	}
	return mean
}

// warnings says what a user should know before trusting a result.
func warnings(r *Result) []string {
	var w []string
	if n := r.Stats.NonFinite; n > 0 {
		w = append(w, fmt.Sprintf("%d proposals had an energy or gradient that is not finite and were rejected; check the model with: infill model check", n))
	}
	return w
}
