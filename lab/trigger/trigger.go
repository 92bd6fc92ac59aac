package trigger

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"

	"infill/mlm"
)

// Objective is what a trigger is searched for.
type Objective int

const (
	// Share is the log-share of the label's word among the words of all labels.
	Share Objective = iota
	// Word is the log-probability of the label's word among all words.
	Word
)

// ObjectiveNames lists the names of the objectives, in their order.
var ObjectiveNames = []string{"share", "word"}

// Bounds of Options, so that a slip of the keyboard does not run for days.
const (
	MaxWords   = 64
	MaxSteps   = 1_000_000
	MaxChains  = 1000
	MaxBatch   = 10_000
	MaxSlope   = 1e6
	MaxHeldOut = 0.99
	MaxPieces  = 4096
	MaxRate    = 100
)

// Defaults are the options of a zero value.
func Defaults() Options {
	return Options{Template: DefaultTemplate, Words: 5, Steps: 600, Chains: 1, Batch: 16, Jump: 1,
		HeldOut: 0.3, MaxPieces: 40, LearningRate: 1}
}

// lastBeta is the inverse temperature at the end of the paper's 3000 steps of β_t = .1t.
const lastBeta = 300

// Options of Run. A zero value of a number or of Template means the default.
type Options struct {
	Template   string            // DefaultTemplate
	Verbalizer map[string]string // the word of a label; a label that is not there is its own word
	Words      int               // k, tokens of the trigger: 5
	Steps      int               // of the search: 600
	Chains     int               // of the search: 1
	Batch      int               // sentences of a stochastic gradient: 16
	Slope      float64           // β of β_t = βt: 300/Steps, the paper's .1 for its 3000
	Jump       float64           // h, the probability of a jump per step, in (0, 1]: 1
	HeldOut    float64           // share of the sentences that is held out, in (0, 1): 0.3
	MaxPieces  int               // longer texts are cut: 40
	Objective  Objective
	// Relax is whether the baseline runs, with as many mini-batches as the search.
	Relax        bool
	LearningRate float64 // of the baseline's Adam: 1, in units of the embeddings' spread
	Seed         uint64
	// Progress, if set, is called after every step.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Phase       string // search, relaxation or evaluation
	Step, Steps int
	Best        float64 // mean objective of the best trigger on the sample, NaN before there is one
	Trigger     string
}

// A Measure sums up sentences.
type Measure struct {
	Sentences int     `json:"sentences"`
	Accuracy  float64 `json:"accuracy"` // share of the sentences whose label is likeliest
	SE        float64 `json:"se"`       // √(a(1−a)/n)
	Objective float64 `json:"objective"`
}

// Both are the measures of a trigger on the sentences it was tuned on and on the others.
type Both struct {
	Train   Measure `json:"train"`
	HeldOut Measure `json:"held_out"`
}

// Found is a trigger with its measures.
type Found struct {
	Trigger string   `json:"trigger"`
	Tokens  []string `json:"tokens"`
	Both
	// Recut says that the model's tokenizer cuts the trigger's text otherwise, so that a text
	// with it need not have these measures.
	Recut bool `json:"recut,omitempty"`
}

// Relaxed is the baseline's trigger, and what its vectors had before they were read as tokens.
type Relaxed struct {
	Found
	Vectors Both `json:"vectors"`
}

// Result is what Run found.
type Result struct {
	Labels   []string `json:"labels"`
	Words    []string `json:"words"`    // of the labels
	Majority float64  `json:"majority"` // share of the most frequent label in the held-out sentences
	Cut      int      `json:"cut"`      // texts that were shortened
	Found
	Steps       int      `json:"steps"`  // that were made
	Empty       Both     `json:"empty"`  // without a trigger
	Random      Both     `json:"random"` // the trigger that the search began with
	Relaxed     *Relaxed `json:"relaxed,omitempty"`
	Interrupted bool     `json:"interrupted,omitempty"`
}

func (o *Options) fill() error {
	d := Defaults()
	o.Template = cmp.Or(o.Template, d.Template)
	o.Words, o.Steps, o.Chains = cmp.Or(o.Words, d.Words), cmp.Or(o.Steps, d.Steps),
		cmp.Or(o.Chains, d.Chains)
	o.Batch, o.MaxPieces = cmp.Or(o.Batch, d.Batch), cmp.Or(o.MaxPieces, d.MaxPieces)
	o.Slope = cmp.Or(o.Slope, lastBeta/max(1, float64(o.Steps)))
	o.Jump, o.HeldOut = cmp.Or(o.Jump, d.Jump), cmp.Or(o.HeldOut, d.HeldOut)
	o.LearningRate = cmp.Or(o.LearningRate, d.LearningRate)
	for _, v := range []struct {
		name string
		v    int
		most int
	}{{"words", o.Words, MaxWords}, {"steps", o.Steps, MaxSteps}, {"chains", o.Chains, MaxChains},
		{"batch", o.Batch, MaxBatch}, {"max-pieces", o.MaxPieces, MaxPieces}} {
		if v.v < 1 || v.v > v.most {
			return fmt.Errorf("%w: %s is %d, want 1 to %d", ErrOption, v.name, v.v, v.most)
		}
	}
	for _, v := range []struct {
		name    string
		v, most float64
	}{{"slope", o.Slope, MaxSlope}, {"jump", o.Jump, 1}, {"held-out", o.HeldOut, MaxHeldOut},
		{"learning rate", o.LearningRate, MaxRate}} {
		if !(v.v > 0 && v.v <= v.most) {
			return fmt.Errorf("%w: %s is %g, want more than 0 and at most %g", ErrOption, v.name, v.v,
				v.most)
		}
	}
	if o.Objective != Share && o.Objective != Word {
		return fmt.Errorf("%w: objective %d", ErrOption, o.Objective)
	}
	return parts(o.Template)
}

// Run splits the examples by seed, searches a trigger on the one part and measures it on both.
// When ctx ends during the search, the result is the best trigger so far, with Interrupted set
// and without the baseline. files are those that the model was opened from. The result depends on
// the model, the examples and the options only.
//
// Errors wrap ErrTemplate, ErrLabels, ErrOption, or one of package mlm: mlm.ErrNoGradient for a
// model without gradients.
func Run(ctx context.Context, files fs.FS, m *mlm.Model, examples []Example, o Options) (*Result,
	error) {
	switch {
	case m == nil || files == nil:
		return nil, fmt.Errorf("%w: there is no model; open one with mlm.Open", ErrOption)
	case ctx == nil:
		return nil, fmt.Errorf("%w: the context is nil; pass context.Background()", ErrOption)
	}
	if err := o.fill(); err != nil {
		return nil, err
	}
	t := &task{model: m, tok: m.Tokenizer(), kind: o.Objective}
	for _, e := range examples {
		if !slices.Contains(t.labels, e.Label) {
			t.labels = append(t.labels, e.Label)
		}
		if len(t.labels) > 100 {
			return nil, fmt.Errorf("%w: more than 100 different ones", ErrLabels)
		}
	}
	slices.Sort(t.labels)
	if len(t.labels) == 0 {
		return nil, fmt.Errorf("%w: no sentence", ErrLabels)
	}
	if err := t.wordsOf(o.Verbalizer); err != nil {
		return nil, err
	}
	train, held, err := split(examples, o.HeldOut, o.Seed)
	if err != nil {
		return nil, err
	}
	for _, label := range t.labels {
		if !slices.ContainsFunc(train, func(e Example) bool { return e.Label == label }) {
			return nil, fmt.Errorf("%w: all sentences with the label %q are held out, so that none is "+
				"left to search with; give more of them, hold out a smaller share, or take another seed",
				ErrLabels, label)
		}
	}
	r := &run{task: t, o: o}
	if r.train, err = t.rows(o.Template, train, o.Words, o.MaxPieces); err != nil {
		return nil, err
	}
	cut := t.cut
	if r.held, err = t.rows(o.Template, held, o.Words, o.MaxPieces); err != nil {
		return nil, err
	}
	out := &Result{Labels: t.labels, Cut: cut + t.cut}
	for _, w := range t.words {
		text, _ := t.tok.Surface(w)
		out.Words = append(out.Words, text)
	}
	out.Majority = majority(r.held, len(t.labels))
	if r.prompts, err = OpenPrompts(ctx, files, m); err != nil {
		return nil, err
	}
	defer r.prompts.Close() //nolint:errcheck // its memory is given back at the latest at exit
	if err := r.vocabulary(); err != nil {
		return nil, err
	}
	return out, r.all(ctx, out, train, held)
}

// split shuffles the examples and divides them.
func split(examples []Example, share float64, seed uint64) (train, held []Example, err error) {
	all := slices.Clone(examples)
	rand.New(rand.NewPCG(seed, 0x73706c6974)).Shuffle(len(all), func(i, j int) {
		all[i], all[j] = all[j], all[i]
	})
	n := int(share*float64(len(all)) + 0.5)
	if n < 1 || n == len(all) {
		return nil, nil, fmt.Errorf("%w: of %d sentences a share of %g held out leaves nothing on one "+
			"side; give more sentences", ErrOption, len(all), share)
	}
	return all[n:], all[:n], nil
}

func majority(rows []row, labels int) float64 {
	count := make([]int, labels)
	for _, r := range rows {
		count[r.label]++
	}
	return float64(slices.Max(count)) / float64(len(rows))
}

// found describes a trigger.
func (r *run) found(trigger []int32) Found {
	var f Found
	for _, id := range trigger {
		text, _ := r.tok.Surface(id)
		f.Tokens = append(f.Tokens, text)
	}
	f.Trigger = strings.Join(f.Tokens, " ")
	// A word in front of it, so that vocabularies that mark spaces mark all of it.
	enc, err := r.tok.Pieces("a " + f.Trigger)
	f.Recut = err != nil || len(enc.IDs) < len(trigger) ||
		!slices.Equal(enc.IDs[len(enc.IDs)-len(trigger):], trigger)
	return f
}
