package infill

import (
	"fmt"

	"infill/infill/internal/space"
	"infill/infill/internal/text"
	"infill/mlm"
	"infill/samplers"
)

// Defaults of Options. Chains, Top and PublishedSteps are those of DLP, section 7.5, which has 25
// sentences and does not say of how many chains.
const (
	// DefaultSteps of Rows get at least as far as PublishedSteps of DMALA, see
	// lab/notebook/performance.md.
	DefaultSteps = 20
	// PublishedSteps is the default where Marginals or Normalize ask for probabilities.
	PublishedSteps = 50
	DefaultChains  = 25
	DefaultTop     = 5
	// DefaultTemperature leaves U as the model has it.
	DefaultTemperature = 1
)

// Bounds of Options, so that a slip of the keyboard does not run for days or exhaust memory.
const (
	MaxSteps       = 1_000_000
	MaxChains      = 10_000
	MaxTop         = 10_000
	MaxShortlist   = 1 << 20
	MaxMinDistance = 100
	// MinTemperature and MaxTemperature keep U/T among the ordinary numbers of float64.
	MinTemperature = 1e-300
	MaxTemperature = 1e300
)

// Options say how a sentence is filled. The zero value searches the 5 fillings with the best
// blended score. Sampling, where Method asks for it, is by Rows with 25 chains of 20 steps at
// temperature 1 and seed 0.
type Options struct {
	Method Method // how fillings are found; zero value: MethodAuto
	// Score is what ranks fillings. With Marginals or Normalize, which are of U, it is ScorePLL.
	Score  Scoring
	Effort Effort // of a search
	// Rows bounds the rows of the model that a search evaluates: to MaxRows; 0: DefaultRows.
	Rows int
	// Context is how many pieces a row of a search sees, MinContext to MaxContext; 0: DefaultContext.
	Context int

	Sampler     samplers.Sampler // nil: Rows with an adapted rate
	Steps       int              // of every chain, see Budget: 0 to MaxSteps; 0: see DefaultSteps
	NoSteps     bool             // no step is made, the start is the result; Steps is then 0
	Budget      Budget           // what Steps measures; zero value: steps
	Chains      int              // 0 means 25; at most MaxChains
	Top         int              // fillings to return at most, up to MaxTop; 0 means 5
	AllFillings bool             // all fillings are returned, see Result.LeftOut; Top is then 0
	Temperature float64          // T of π ∝ exp(U/T), MinTemperature to MaxTemperature; 0 means 1
	Gradient    mlm.GradientMode // zero value: the full gradient
	Vocab       Vocab            // tokens that may fill a blank
	Allow       *WordList        // the only fillings of every blank; nil: any
	Ban         *WordList        // words that fill no blank; nil: none
	NoRepeat    bool             // no word is filled in twice, tied blanks apart
	// MinDistance is the least edit distance, in characters, of a filling from Original:
	// 0 (any) to MaxMinDistance. Without Original it has no effect.
	MinDistance int
	// Original are the words that stood in the blanks, see Masking: one for every blank, in the order
	// of the text, or nil. MinDistance, Filter, Edit and StartOriginal use them.
	Original []string
	Filter   Filter  // refuses whole fillings; the zero value none
	Long     Long    // what to do with a text too long for the model
	Start    Start   // where chains begin
	Starts   *Starts // the fillings of StartGiven
	Collect  Collect // which states are fillings; zero value: all that were evaluated
	// Thin is the number of steps from one state of CollectChain to the next, up to MaxSteps;
	// 0 takes about 25 of each chain.
	Thin   int
	Select Select // how the Top fillings are chosen
	Case   Case   // how an uncased model's words are written
	Seed   uint64 // with ID, decides all randomness
	ID     string // names the sentence among others of the same seed
	// Shortlist is the number of candidates of every blank, the likeliest with all blanks masked:
	// at most MaxShortlist.
	// 0 means DefaultShortlist for the samplers that evaluate every neighbour, those with
	// samplers.Info.Enumerates, and all for the others.
	Shortlist   int
	NoShortlist bool // all that may fill a blank are candidates; Shortlist is then 0
	// Terms are parts of the energy besides the model's, with their weights. Samplers without an
	// acceptance step, which would leave them out, are refused. DULA takes those whose gradient it
	// has, see SecondModel.
	Terms []Weighted
	// If Marginals is set, Fill estimates Result.Marginals. The sampler must leave π invariant
	// (samplers.Info.Exact), and steps must be made. Draws of the fillings stay the same.
	Marginals bool
	// If Normalize is set, Fill estimates Result.Normalizers and Filling.LogProbability, whatever the
	// sampler is, at about twice the cost of the sampling. All else stays the same.
	Normalize bool
	// Trace, if not nil, is called after the start (step 0) and after every
	// step with the run as it stands; it must not keep or change its slices.
	Trace func(Step) error
	// TraceEnergies has the energies of samplers that need none evaluated
	// for Trace; these evaluations are not counted.
	TraceEnergies bool
	// Chosen, if not nil, is called once before the model is asked, with the method that fills the
	// template: MethodExact, MethodSearch or MethodSample.
	Chosen func(Method) error
	// Watch, if not nil, is called while a search goes on, whenever rows were evaluated.
	Watch func(Progress) error
	// Stop, if not nil, is a channel whose closing ends the run early: no chain begins another
	// step, and the result is of the steps that were made. Chains that make their steps
	// independently may then have made different numbers. A search has the best fillings that it
	// found, and at least one.
	Stop <-chan struct{}
}

// stopped reports whether no chain is to begin another step.
func (o *Options) stopped() bool {
	select {
	case <-o.Stop:
		return true
	default: // also of a nil channel
		return false
	}
}

// A Step is the state of all chains after a step.
type Step struct {
	Step int // 0 is the start
	// Energy is U(θ) of every chain in nats, at temperature 1. It is NaN where the sampler
	// computes none.
	Energy   []float64
	Proposed []bool              // whether the step proposed another state; nil at step 0
	Accepted []bool              // whether it did and the chain went there; nil at step 0
	Evals    int                 // evaluations so far, of all chains together, see BudgetEvaluations
	Tokens   func(k int) []int32 // tokens of chain k, in the order of the text
	Starts   func(k int) []int   // for every blank, the index of its first token among them
}

// Long says what happens to a text of more pieces than the model takes.
type Long int

const (
	LongWindow Long = iota // the model sees a part around the blanks, see Template.Cut
	LongError              // it is an error, mlm.ErrTooLong
)

// Select says how the fillings to return are chosen among those found.
type Select int

const (
	SelectLikelihood Select = iota // the best scores
	SelectDiverse                  // score against overlap, see DiversityWeight
)

// rules are the options that say what may fill the blanks.
func (o *Options) rules() *space.Rules {
	return &space.Rules{Vocab: o.Vocab, Allow: o.Allow, Ban: o.Ban, NoRepeat: o.NoRepeat,
		MinDistance: o.MinDistance, Original: o.Original}
}

// Check finds options out of their range, which [Engine.Fill] refuses whatever the text is. The
// error is ErrOption. Settings of Sampler are checked by Fill, when it knows what is sampled.
func (o Options) Check() error { return o.fill() }

// fill checks the ranges and sets the defaults.
func (o *Options) fill() error {
	switch {
	case o.Steps < 0 || o.Steps > MaxSteps:
		return fmt.Errorf("%w: %d steps, want 0 to %d", text.ErrOption, o.Steps, MaxSteps)
	case o.NoSteps && o.Steps != 0:
		return fmt.Errorf("%w: %d steps, and NoSteps; leave one out", text.ErrOption, o.Steps)
	case o.Marginals && o.NoSteps:
		return fmt.Errorf("%w: probabilities are those of the states that steps lead to, and NoSteps; "+
			"leave one out",
			text.ErrOption)
	case o.Chains < 0 || o.Chains > MaxChains:
		return fmt.Errorf("%w: %d chains, want 1 to %d", text.ErrOption, o.Chains, MaxChains)
	case o.Top < 0 || o.Top > MaxTop || o.AllFillings && o.Top != 0:
		return fmt.Errorf("%w: top %d, want 1 to %d, or AllFillings alone", text.ErrOption, o.Top, MaxTop)
	case o.Shortlist < 0 || o.Shortlist > MaxShortlist || o.NoShortlist && o.Shortlist != 0:
		return fmt.Errorf("%w: a shortlist of %d, want 1 to %d, or NoShortlist alone", text.ErrOption,
			o.Shortlist, MaxShortlist)
	case o.Collect < CollectVisited || o.Collect > CollectChain:
		return fmt.Errorf("%w: collect %d, want CollectVisited, CollectLast or CollectChain",
			text.ErrOption, o.Collect)
	case o.Start < StartMasked || o.Start > StartGiven:
		return fmt.Errorf("%w: start %d, want StartMasked to StartGiven", text.ErrOption, o.Start)
	case (o.Start == StartGiven) != (o.Starts != nil):
		return fmt.Errorf("%w: StartGiven goes with Starts", text.ErrOption)
	case o.Vocab < text.VocabWords || o.Vocab > text.VocabWholeWords:
		return fmt.Errorf("%w: vocabulary %d, want VocabWords, VocabAll or VocabWholeWords",
			text.ErrOption, o.Vocab)
	case o.Select < SelectLikelihood || o.Select > SelectDiverse:
		return fmt.Errorf("%w: select %d, want SelectLikelihood or SelectDiverse", text.ErrOption,
			o.Select)
	case o.Case < text.CaseAuto || o.Case > text.CaseModel:
		return fmt.Errorf("%w: case %d, want CaseAuto or CaseModel", text.ErrOption, o.Case)
	case o.Long < LongWindow || o.Long > LongError:
		return fmt.Errorf("%w: long %d, want LongWindow or LongError", text.ErrOption, o.Long)
	case o.Gradient < mlm.Full || o.Gradient > mlm.Forward:
		return fmt.Errorf("%w: gradient mode %d, want mlm.Full or mlm.Forward", text.ErrOption,
			o.Gradient)
	case o.Thin < 0 || o.Thin > MaxSteps:
		return fmt.Errorf("%w: thinning %d, want 0 to %d steps", text.ErrOption, o.Thin, MaxSteps)
	case o.Budget < BudgetSteps || o.Budget > BudgetRows:
		return fmt.Errorf("%w: budget %d, want BudgetSteps, BudgetEvaluations or BudgetRows",
			text.ErrOption, o.Budget)
	case o.Method < MethodAuto || o.Method > MethodSample:
		return fmt.Errorf("%w: method %d, want MethodAuto to MethodSample", text.ErrOption, o.Method)
	case o.Score != ScoreBlended && o.Score != ScorePLL:
		return fmt.Errorf("%w: score %v, want ScoreBlended or ScorePLL", text.ErrOption, o.Score)
	case o.Effort < EffortNormal || o.Effort > EffortThorough:
		return fmt.Errorf("%w: effort %d, want EffortNormal to EffortThorough", text.ErrOption,
			o.Effort)
	case o.Rows < 0 || o.Rows > MaxRows:
		return fmt.Errorf("%w: %d rows, want 1 to %d", text.ErrOption, o.Rows, MaxRows)
	case o.Context != 0 && (o.Context < MinContext || o.Context > MaxContext):
		return fmt.Errorf("%w: a context of %d pieces, want %d to %d", text.ErrOption, o.Context,
			MinContext, MaxContext)
	case o.Method == MethodSearch && o.probabilities():
		return fmt.Errorf("%w: a temperature, marginals and log Z are those of draws, and MethodSearch "+
			"makes none; sample, or leave them out", text.ErrOption)
	case o.MinDistance < 0 || o.MinDistance > MaxMinDistance:
		return fmt.Errorf("%w: minimum distance %d, want 0 to %d characters", text.ErrOption,
			o.MinDistance, MaxMinDistance)
	case o.Filter.check() != nil:
		return o.Filter.check()
	case o.Temperature != 0 && !(o.Temperature >= MinTemperature && o.Temperature <= MaxTemperature):
		return fmt.Errorf("%w: temperature %v, want %v to %v", text.ErrOption, o.Temperature,
			MinTemperature, MaxTemperature)
	}
	*o = o.Complete()
	if err := o.checkThin(); err != nil {
		return err
	}
	if o.Method == MethodSample {
		if err := o.checkMarginals(); err != nil {
			return err
		}
	}
	return checkTerms(o.Terms)
}

// Complete returns the options as [Engine.Fill] runs them: defaults stand in place of the zero
// values of Method, Rows, Context, Sampler, Steps, Chains, Top and Temperature. Ranges are not
// checked.
func (o Options) Complete() Options {
	o.Method = o.method()
	if o.Marginals || o.Normalize {
		o.Score = ScorePLL
	}
	if o.Rows == 0 {
		o.Rows = DefaultRows
	}
	if o.Context == 0 {
		o.Context = DefaultContext
	}
	if o.Sampler == nil {
		o.Sampler = &samplers.Rows{}
	}
	if o.Steps == 0 && !o.NoSteps {
		o.Steps = o.defaultSteps()
	}
	if o.Chains == 0 {
		o.Chains = DefaultChains
	}
	if o.Top == 0 && !o.AllFillings {
		o.Top = DefaultTop
	}
	if o.Temperature == 0 {
		o.Temperature = DefaultTemperature
	}
	return o
}

func (o *Options) defaultSteps() int {
	if o.Marginals || o.Normalize {
		return PublishedSteps
	}
	return DefaultSteps
}
