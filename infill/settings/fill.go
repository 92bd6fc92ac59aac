package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/energies"
	"infill/mlm"
	"infill/samplers"
	"infill/tokenize"
)

// Filling is how blanks are filled: options of the engine, and what they are made from.
// [Defaults] has the defaults. [Filling.Prepare] makes Options complete.
type Filling struct {
	Options infill.Options // Method, Sampler, Allow, Ban and Seed come from the fields below
	// Masking is about words to blank out. Its Keep and Stop come from the fields below, its Spans
	// from a line. It is off for texts with blanks.
	Masking infill.Masking

	// Method says how fillings are found. MethodAuto samples if Sampling is set, and, all but single
	// blanks, with a profile and for probabilities.
	Method   infill.Method
	Sampling bool // a setting that only sampling has was chosen, if only to its default

	Sampler  string   // name of the sampler
	StepSize string   // its parameter step-size, "" for its default
	Balance  string   // its parameter balance, "" for its default
	Params   []string // further parameters, each NAME=VALUE
	Seed     *uint64  // nil: Options.Seed stays
	Ban      []string // words that fill no blank
	Unspelt  []string // those of Ban that the model cannot spell, and so never fills in; of Prepare
	Allow    []string // the only words that fill blanks, nil: any
	// AllowFile is a file with the words of Allow, one a line, maybe compressed by gzip or zstd. "" is
	// none. Only a program that may read its user's files sets it; JSON has the words themselves.
	// Prepare reads it, once: it may be a pipe.
	AllowFile string

	// Energy are parts of the energy besides the model's, as energies.Parse reads them. Those that
	// are made from files are among Parts, which a program opens that may read its user's files.
	Energy []string
	Parts  *energies.Parts

	// Encoder is the folder of a sentence encoder for the bounds on similarity, "" for none. What
	// Parts says of files holds for it: [Filling.OpenParts] opens it.
	Encoder string
	encoder *energies.Encoder

	Keep     []string // words that are not masked
	KeepFile string   // a file of further ones, as AllowFile
	// StopWords are the function words that infill.ClassContent leaves, and StopFile a file of them,
	// as AllowFile. Without either they are the program's English ones.
	StopWords []string
	StopFile  string
	Offsets   Offsets // what offsets of spans count

	// StartFile is a file of records whose fillings the chains begin with, maybe compressed, in place
	// of Options.Start. "" is none. What AllowFile says of files holds for it too.
	StartFile string

	// Stdin is what a file called "-" is read from, once: AllowFile, KeepFile, StopFile or
	// StartFile. nil: "-" is a name as any other.
	Stdin io.Reader

	allowed, kept, stopped wordFile // what Prepare has read
	started                wordFile // likewise, of StartFile
	keptWords              *infill.WordSet

	// Memo is what the engine may use to remember what the model says, in units of 2^20 bytes: 1 to
	// MaxMemo; 0 means DefaultMemo. It decides no result.
	Memo   int
	NoMemo bool // nothing is remembered; Memo is then 0
}

// NeedsGradient reports whether these settings may ask a model for a backward pass, see
// [infill.Options.NeedsGradient]. Options.Sampler must be made.
func (v *Filling) NeedsGradient() bool {
	if v.method() == infill.MethodSearch {
		return false
	}
	return len(v.Energy) > 0 || v.Options.NeedsGradient()
}

// DefaultMemo is [infill.DefaultMemo] in units of 2^20 bytes.
const DefaultMemo = infill.DefaultMemo >> 20

// MaxMemo bounds Memo, so that a slip of the keyboard does not exhaust memory.
const MaxMemo = 1 << 20

// NewEngine is an engine on a model with this memo.
func (v *Filling) NewEngine(m *mlm.Model) *infill.Engine {
	if v.NoMemo {
		return infill.NewWithMemo(m, 0)
	}
	return infill.NewWithMemo(m, int64(cmp.Or(v.Memo, DefaultMemo))<<20)
}

// Open opens what the settings name, as OpenParts does, reads the files of words, as Prepare does,
// and returns an engine on the model with their memo. [Filling.CloseParts] closes what is open. The
// error is an [*Error].
func (v *Filling) Open(
	ctx context.Context, m *mlm.Model, o energies.Options,
) (*infill.Engine, error) {
	if err := v.OpenParts(ctx, o); err != nil {
		return nil, err
	}
	if err := v.Prepare(m.Tokenizer()); err != nil {
		return nil, errors.Join(err, v.CloseParts())
	}
	return v.NewEngine(m), nil
}

// Defaults are the values of settings that nobody chose.
func Defaults() *Filling {
	return &Filling{
		Sampler: "rows",
		Memo:    DefaultMemo,
		Options: infill.Options{
			Chains: infill.DefaultChains, Top: infill.DefaultTop,
			Temperature: infill.DefaultTemperature,
		},
	}
}

// Prepare completes Options: it makes the sampler and the lists of words that are not there yet.
// Errors: [*Error] for words and files, those of [samplers.New] for the sampler.
func (v *Filling) Prepare(tok *tokenize.Tokenizer) error {
	var err error
	if v.Seed != nil {
		v.Options.Seed = *v.Seed
	}
	v.Options.Method = v.method()
	if v.Options.Sampler == nil {
		if v.Options.Sampler, err = v.NewSampler(); err != nil {
			return err
		}
	}
	if v.Options.Ban == nil && len(v.Ban) > 0 {
		if v.Options.Ban, v.Unspelt, err = infill.NewBanList(tok, v.Ban); err != nil {
			return &Error{Name: "ban", Err: err}
		}
	}
	switch {
	case v.Options.Allow != nil:
	case v.Allow != nil:
		v.Options.Allow, err = infill.NewWordList(tok, v.Allow)
	case v.AllowFile != "":
		v.Options.Allow, v.allowed, err = readWords(v, v.AllowFile,
			func(r io.Reader) (*infill.WordList, error) { return infill.ReadWordList(tok, r) })
	}
	if err != nil {
		return &Error{Name: "allow", Err: err}
	}
	if err := v.prepareStart(tok); err != nil {
		return err
	}
	if err := v.prepareMasks(); err != nil {
		return err
	}
	return v.terms()
}

// method resolves infill.MethodAuto. The engine could not: Options have a sampler in any case.
func (v *Filling) method() infill.Method {
	switch o := &v.Options; {
	case v.Method != infill.MethodAuto:
		return v.Method
	case v.Sampling:
		return infill.MethodSample
	case o.Marginals || o.Normalize ||
		o.Temperature != 0 && o.Temperature != infill.DefaultTemperature:
		return infill.MethodExact
	}
	return infill.MethodSearch
}

// NewSampler makes the sampler with its parameters. Errors: those of [samplers.New], and an
// [*Error] for a parameter without a value.
func (v *Filling) NewSampler() (samplers.Sampler, error) {
	params, err := v.Parameters()
	if err != nil {
		return nil, err
	}
	return samplers.New(v.Sampler, params)
}

// Parameters are those of the sampler that were given, by name, as [samplers.New] takes them. The
// error is an [*Error].
func (v *Filling) Parameters() (map[string]string, error) {
	params := map[string]string{}
	for _, p := range v.Params {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, &Error{Name: "param", Given: p, Want: "NAME=VALUE"}
		}
		if _, dup := params[name]; dup {
			return nil, &Error{Name: "param", Err: fmt.Errorf("%s is given twice", name)}
		}
		params[name] = value
	}
	if v.StepSize != "" {
		params["step-size"] = v.StepSize
	}
	if v.Balance != "" {
		params["balance"] = v.Balance
	}
	return params, nil
}

// balances names the balancing functions.
func balances() string {
	return fmt.Sprintf("%s|%s|%s|%s", samplers.Sqrt, samplers.Ratio, samplers.Max, samplers.Min)
}

// enumerating lists the samplers that evaluate every neighbour.
func enumerating() []string {
	var names []string
	for _, info := range samplers.List() {
		if info.Enumerates {
			names = append(names, info.Name)
		}
	}
	return names
}

// FillTable lists the settings of a [Filling] in the order of help and documents.
func FillTable() []*Setting[Filling] { return slices.Clone(fillTable) }

var fillTable = slices.Concat(mainTable, maskTable)

// The families of the table.
var (
	samplerFamily = &family[Filling]{func(v *Filling) {
		v.StepSize, v.Balance, v.Params = "", "", nil
	}}
	maskingFamily = &family[Filling]{func(v *Filling) { v.Masking.Rate, v.Masking.Words = 0, 0 }}
)

var mainTable = []*Setting[Filling]{
	{
		Name: "method", Line: true, Record: Changed, absent: infill.MethodSample.String(),
		Doc: "how fillings are found: search: the best ones, exact: all of a single blank, with " +
			"probabilities, sample: draws; auto: search, or sample with a setting of the sampling",
		bind: func(v *Filling) *Value { return ChoiceValue(&v.Method, infill.MethodNames()...) },
		form: func(v *Filling) (string, error) { return v.method().String(), nil },
	},
	{
		Name: "score", Line: true, Record: Changed, absent: infill.ScorePLL.String(),
		field: "scoring", Group: Results,
		Doc: "what ranks fillings: blended: words judged beside all others and in the order of " +
			"the text, pll: beside all others only",
		bind: func(v *Filling) *Value {
			return ChoiceValue(&v.Options.Score, infill.ScoringNames()[:2]...)
		},
	},
	{
		Name: "effort", Line: true, Record: Changed,
		Doc:  "how much a search looks at: quick|normal|thorough",
		bind: func(v *Filling) *Value { return effortValue(&v.Options.Effort) },
	},
	{
		Name: "rows", Line: true, Record: Changed, field: "most_rows",
		Doc: "rows of the model that a search evaluates at most",
		bind: func(v *Filling) *Value {
			return WholeValue(&v.Options.Rows, 1, infill.MaxRows).zeroIs(always(infill.DefaultRows))
		},
	},
	{
		Name: "row-context", Line: true, Record: Changed,
		Doc: "pieces of a long text that a row of a search sees; what is printed is scored in full",
		bind: func(v *Filling) *Value {
			return WholeValue(&v.Options.Context, infill.MinContext, infill.MaxContext).
				zeroIs(always(infill.DefaultContext))
		},
	},
	{
		Name: "sampler", Doc: "name of the sampler", Arg: "NAME", Line: true, Record: Always,
		family: samplerFamily,
		bind:   func(v *Filling) *Value { return v.ofSampler(nameValue(&v.Sampler)) },
	},
	{
		Name: "steps", Line: true, Record: Always,
		Doc:  "steps of every chain; where probabilities are estimated the default is 50",
		bind: func(v *Filling) *Value { return v.ofSampling(stepsValue(&v.Options)) },
	},
	{
		Name: "budget", Line: true, Record: Changed,
		Doc: "what steps measures: steps; evaluations or rows: every sampler gets as many as this " +
			"many steps of one evaluation take",
		bind: func(v *Filling) *Value {
			return v.ofSampling(ChoiceValue(&v.Options.Budget, "steps", "evaluations", "rows"))
		},
	},
	{
		Name: "chains", Doc: "chains per sentence", Line: true, Record: Always,
		bind: func(v *Filling) *Value {
			return v.ofSampling(WholeValue(&v.Options.Chains, 1, infill.MaxChains).
				zeroIs(always(infill.DefaultChains)))
		},
	},
	{
		Name: "top", Doc: "fillings to return, best first", Line: true, Record: Always,
		Group: Results,
		bind:  func(v *Filling) *Value { return topValue(&v.Options) },
	},
	{
		Name: "step-size", Arg: "X|auto", Line: true, Record: Always,
		Doc: "step size of the sampler: a number above 0, or auto " +
			"(adapted in the first half of the steps)",
		family: samplerFamily,
		bind:   func(v *Filling) *Value { return v.ofSampler(TextValue(&v.StepSize)) },
	},
	{
		Name: "balance", Arg: "NAME", Line: true, Record: Always,
		Doc:    "balancing function of the sampler: " + balances(),
		family: samplerFamily,
		bind:   func(v *Filling) *Value { return v.ofSampler(TextValue(&v.Balance)) },
	},
	{
		Name: "param", Doc: "further parameters of the sampler", Arg: "NAME=VALUE",
		Line: true, Record: Always, field: "params",
		family: samplerFamily,
		bind:   func(v *Filling) *Value { return v.ofSampler(paramsValue(&v.Params)) },
	},
	{
		Name: "shortlist", Record: Always,
		Doc: fmt.Sprintf("candidates per blank, the likeliest with all blanks masked; 0: %d for the "+
			"samplers that evaluate every neighbour (%s), all for the others",
			infill.DefaultShortlist, strings.Join(enumerating(), ", ")),
		bind: func(v *Filling) *Value {
			return v.ofSampling(WholeValue(&v.Options.Shortlist, 0, infill.MaxShortlist))
		},
	},
	{
		Name: "temperature", Line: true, Record: Always,
		Doc: "T of exp(U/T): below 1 likelier, above 1 more diverse fillings",
		bind: func(v *Filling) *Value {
			return NumberValue(&v.Options.Temperature, infill.MinTemperature, infill.MaxTemperature, false).
				zeroIs(always(infill.DefaultTemperature))
		},
	},
	{
		Name: "seed", Doc: "seed of all randomness; chosen and said when unset", Line: true,
		bind: func(v *Filling) *Value { return seedValue(&v.Seed) },
	},
	{
		Name: "vocab", Line: true, Record: Always,
		Doc:   "what may fill a blank: words|all|whole-words; all: punctuation too",
		Group: Words,
		bind: func(v *Filling) *Value {
			return ChoiceValue(&v.Options.Vocab, "words", "all", "whole-words")
		},
	},
	{
		Name: "gradient", Doc: "full, or forward: without the backward pass", Line: true, Record: Always,
		bind: func(v *Filling) *Value {
			return v.ofSampling(ChoiceValue(&v.Options.Gradient, mlm.GradientModeNames()...))
		},
	},
	{
		Name: "case", Line: true, Record: Always,
		Doc:   "auto: with the capitals of English text; model: as the model spells",
		Group: Results,
		bind:  func(v *Filling) *Value { return ChoiceValue(&v.Options.Case, "auto", "model") },
	},
	{
		Name: "ban", Doc: "words that fill no blank", Arg: "WORDS", Line: true, Record: Always,
		Group: Words,
		bind: func(v *Filling) *Value {
			return WordsValue(&v.Ban).after(func() { v.Options.Ban = nil })
		},
	},
	{
		Name: "allow", Doc: "the only words or phrases that fill blanks", Arg: "FILE",
		Line: true, Record: Always,
		Group: Words,
		bind:  allowValue, form: (*Filling).allowRecorded,
	},
	{
		Name: "no-repeat", Line: true, Record: Always,
		Doc:   "fill no word into two blanks of a sentence (tied blanks apart)",
		Group: Words,
		bind:  func(v *Filling) *Value { return BoolValue(&v.Options.NoRepeat) },
	},
	{
		Name: "mask-rate", Line: true, Record: Always,
		Doc:   "blank out this share of the words of texts without blanks; 0: the texts have blanks",
		Group: Words, family: maskingFamily,
		bind: func(v *Filling) *Value {
			return NumberValue(&v.Masking.Rate, 0, 1, false)
		},
	},
	{
		Name: "mask-words", Line: true, Record: Always,
		Doc:   "blank out exactly this many words of texts without blanks",
		Group: Words, family: maskingFamily,
		bind: func(v *Filling) *Value { return WholeValue(&v.Masking.Words, 0, infill.MaxMaskWords) },
	},
	{
		Name: "min-distance", Line: true, Record: Always,
		Doc:   "least edit distance, in characters, from a word that was blanked out",
		Group: Words,
		bind: func(v *Filling) *Value {
			return WholeValue(&v.Options.MinDistance, 0, infill.MaxMinDistance)
		},
	},
	{
		Name: "long", Line: true, Record: Always,
		Doc: "texts longer than the model takes: window: it sees the part around the blanks; " +
			"error: refuse",
		bind: func(v *Filling) *Value { return ChoiceValue(&v.Options.Long, "window", "error") },
	},
	{
		Name: "start", Line: true, Record: Changed,
		Doc: "where chains begin: masked: draws with all blanks masked, argmax: the likeliest " +
			"words then, sequential: blank after blank, original: the words before, random: any that " +
			"fit, or the records of a FILE",
		bind: func(v *Filling) *Value { return v.ofSampling(startValue(v)) },
		form: (*Filling).startRecorded,
	},
	{
		Name: "collect", Line: true, Record: Changed, absent: infill.CollectLast.String(),
		Doc: "which states are fillings: visited: all that were evaluated, for the best ones, " +
			"last: the last of every chain, draws of π, chain: every chain after its burn-in",
		Group: Results,
		bind: func(v *Filling) *Value {
			return v.ofSampling(ChoiceValue(&v.Options.Collect, infill.CollectNames()...))
		},
	},
	{
		Name: "thin", Line: true, Record: Changed,
		Doc:   "with collect chain: one state in this many steps; 0: about 25 of each chain",
		Group: Results,
		bind: func(v *Filling) *Value {
			return v.ofSampling(WholeValue(&v.Options.Thin, 0, infill.MaxSteps))
		},
	},
	{
		Name: "select", Line: true, Record: Always,
		Doc: "how the fillings to return are chosen: likelihood: the best; " +
			"diverse: good ones that share few words",
		Group: Results,
		bind:  func(v *Filling) *Value { return ChoiceValue(&v.Options.Select, "likelihood", "diverse") },
	},
	{
		Name: "energy", Line: true, Record: Changed, Arg: "PART=WEIGHT",
		Doc:   "parts to add to the energy that is sampled and ranked, with their weights",
		Group: Words,
		bind:  energyValue, form: (*Filling).energyRecorded,
	},
	{
		Name: "marginals", Line: true, Record: Changed, Group: Results,
		Doc: "probabilities of the words of each blank and of whole texts, with standard errors; " +
			"top says how many",
		bind: func(v *Filling) *Value { return BoolValue(&v.Options.Marginals) },
	},
	{
		Name: "log-z", Line: true, Record: Changed, Group: Results,
		Doc: "log-probabilities of the fillings, by the log-normaliser of each length, with its " +
			"standard error",
		bind: func(v *Filling) *Value { return BoolValue(&v.Options.Normalize) },
	},
	{
		Name: "memo",
		Doc: "MB to remember what the model says, 0: nothing is remembered; " +
			"results do not depend on it",
		bind: func(v *Filling) *Value { return memoValue(v) },
	},
}
