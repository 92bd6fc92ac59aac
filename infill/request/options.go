package request

import (
	"context"
	"time"

	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// Options say how a sentence is filled. The zero value searches the 5 fillings with the best
// blended score. Sampling, where Method asks for it, is by Rows with 25 chains of 20 steps at
// temperature 1 and seed 0.
type Options struct {
	Method   Method          // how fillings are found; zero value: MethodAuto
	Words    WordOptions     // what may go into blanks
	Search   SearchOptions   // how MethodSearch looks for fillings
	Sampling SamplingOptions // how MethodSample draws them
	Results  ResultOptions   // which fillings are returned, with what
	Watch    WatchOptions    // who is told of the work, and who ends it early
	// EndShown shows the model a full stop behind a sentence without an end mark.
	EndShown bool
	// RefuseLong makes a text of more pieces than the model takes an error, mlm.ErrTooLong. Without
	// it the model sees a part around the blanks, see Template.Cut, or around some of them after the
	// others, see Result.Groups.
	RefuseLong bool
	Seed       uint64 // with ID, decides all randomness
	ID         string // names the sentence among others of the same seed
	// Alike, if not empty, stands for all other options but Seed, ID, Words.Original and Watch:
	// calls with equal ones have equal options. A result without a draw is then remembered, and
	// computed once.
	Alike string

	end time.Time // see EndBefore
}

// WordOptions are the rules of blanks, and the judges of the finished text besides the model. The
// zero value lets words of the vocabulary fill them.
type WordOptions struct {
	Vocab text.Vocab     // tokens that may fill a blank
	Unit  text.Unit      // what a plain blank takes; zero value: a token
	Allow *text.WordList // the only fillings of every blank; nil: any
	Ban   *text.WordList // words that fill no blank; nil: none
	// NoRepeat says which words fill no blank again. Zero value: all may, so that draws are from
	// all states. Programs for people have text.RepeatBlanks.
	NoRepeat text.Repeats
	// Function are words without a meaning, which NoRepeat lets come again. nil: see
	// text.Template.FunctionWords.
	Function *text.WordSet
	// MinDistance is the least edit distance, in characters, of a filling from Original:
	// 0 (any) to 100. Without Original it has no effect.
	MinDistance int
	// Original are the words that stood in the blanks, see Masking: one for every blank, in the order
	// of the text, or nil. MinDistance, Content, Filter, Edit and StartOriginal use
	// them.
	Original []string
	// Content lets no function word, see Function, stand in the place of another word of Original.
	Content bool
	Filter  Filter // refuses whole fillings; the zero value none
	// Terms are parts of the energy besides the model's, with their weights. Samplers without an
	// acceptance step, which would leave them out, are refused. DULA takes those whose gradient it
	// has, see SecondModel.
	Terms []Weighted
}

// SearchOptions say how much a search looks at.
type SearchOptions struct {
	Effort Effort
	// Rows bounds the rows of the model that a search evaluates: to 10,000,000; 0: 10,000.
	Rows int
	// Context is how many pieces a row of a search sees, from 16; 0: 128.
	Context int
}

// SamplingOptions say how states are drawn. Where a single blank is computed, Temperature alone has
// an effect.
type SamplingOptions struct {
	Sampler     samplers.Sampler // nil: Rows with an adapted rate
	Steps       int              // of every chain, see Budget: up to 1,000,000; 0: see DefaultSteps
	NoSteps     bool             // no step is made, the start is the result
	Budget      Budget           // what Steps measures; zero value: steps
	Chains      int              // 0 means 25; at most 10,000
	Temperature float64          // T of π ∝ exp(U/T); 0 means 1
	Gradient    mlm.GradientMode // zero value: the full gradient
	// Shortlist is the number of candidates of every blank, the likeliest with all blanks masked:
	// at most 1,048,576. 0 means all that may fill it.
	Shortlist int
	Start     Start   // where chains begin
	Starts    *Starts // fillings of earlier runs that they begin with in turn, see ReadStarts; or nil
}

// ResultOptions choose the fillings that are returned, and the fields that these have.
type ResultOptions struct {
	// Score ranks fillings. With Marginals, which are of U, it is ScorePLL.
	Score Scoring
	Top   int  // fillings to return at most, up to 10,000; 0 means 5
	All   bool // all fillings are returned, see Result.LeftOut
	// AsModel writes words as the model spells them, without the capitals of Template.Splice.
	AsModel bool
	// Collect says which states are fillings; zero value: all that were evaluated.
	Collect Collect
	// Thin is the number of steps from one state of CollectChain to the next, up to 1,000,000;
	// 0 takes about 25 of each chain.
	Thin int
	// Diverse chooses Top fillings that are good and share few words, see diversityWeight. Without it
	// they are the best.
	Diverse bool
	// If Marginals is set, Fill estimates Result.Marginals. The sampler must leave π invariant
	// (samplers.Info.Exact), and steps must be made. Draws of the fillings stay the same.
	Marginals bool
	// Rank are words whose ranks and probabilities Result.Ranks has, wherever they stand. The
	// template has one blank, whose distribution is computed. A plain blank takes numbers too if one
	// of the words has a digit.
	Rank []string
}

// WatchOptions are functions that are told of the work, and reasons to end it early. They change no
// filling of work that ends by itself. An error of a function ends the work with that error.
type WatchOptions struct {
	// Chosen, if not nil, is called once before the model is asked, with the method that fills the
	// template: MethodExact, MethodSearch or MethodSample.
	Chosen func(Method) error
	// Progress, if not nil, is called while a search goes on, whenever rows were evaluated.
	Progress func(Progress) error
	// Trace, if not nil, is called after the start (step 0) and after every
	// step with the run as it stands; it must not keep or change its slices.
	Trace func(Step) error
	// TraceEnergies has the energies of samplers that need none evaluated
	// for Trace; these evaluations are not counted.
	TraceEnergies bool
	// Stop, if not nil, is a channel whose closing ends the run early: no chain begins another
	// step, and the result is of the steps that were made. Chains that make their steps
	// independently may then have made different numbers. A search has the best fillings that it
	// found, and at least one.
	Stop <-chan struct{}
}

// reserve is the time before a deadline that is left for scores of the states that were found, or a
// fifth of the time if that is less.
const reserve = time.Second

// EndBefore has work end as by Watch.Stop shortly before ctx's deadline, if it has one.
func (o *Options) EndBefore(ctx context.Context) {
	if deadline, ok := ctx.Deadline(); ok {
		o.end = deadline.Add(-min(reserve, time.Until(deadline)/5))
	}
}

// Late reports whether the time of EndBefore is over.
func (o *Options) Late() bool { return !o.end.IsZero() && time.Now().After(o.end) }

// Stopped reports whether no chain is to begin another step.
func (o *Options) Stopped() bool {
	if o.Late() {
		return true
	}
	select {
	case <-o.Watch.Stop:
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

// Begin is the word for where chains begin: the name of Start, or "given" for Starts.
func (s *SamplingOptions) Begin() string {
	if s.Starts != nil {
		return "given"
	}
	return s.Start.String()
}
