package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"infill/infill"
	"infill/infill/energies"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// Fill is how blanks are filled, as it was given: by flags, a file or the fields of a line. A
// manifest has it, and [Fill.Prepare] makes a [Filling] of it. [Defaults] has the defaults.
type Fill struct {
	Options infill.Options // its numbers and choices; the fields below say the rest
	// Masking is about words to blank out: its numbers and labels. It is off for texts with blanks.
	Masking  text.Masking
	Method   infill.Method // how fillings are found; MethodAuto samples if Sampling.Chosen is set
	Words    FillWords     // what may go into blanks
	Sampling FillSampling  // how states are drawn
	Seed     *uint64       // nil: Options.Seed stays

	// Stdin is what a file called "-" is read from, once. nil: "-" is a name as any other.
	Stdin io.Reader
	// Memo is what the engine may use to remember what the model says, in units of 2^20 bytes: 0 to
	// 2^20; nil: 256. It decides no result.
	Memo *int

	read *readFiles // what Prepare and OpenParts have read; copies share it
}

// FillWords are words and files of them, and what the finished text is judged by besides the model.
// Only a program that may read its user's files sets the names of files, which may be compressed by
// gzip or zstd; JSON has the words themselves. [Fill.Prepare] reads a file once: it may be a pipe.
type FillWords struct {
	Ban       []string // words that fill no blank
	Allow     []string // the only words that fill blanks, nil: any
	AllowFile string   // a file with the words of Allow, one a line; "" is none

	Keep     []string // words that are not masked
	KeepFile string   // a file of further ones, as AllowFile
	MaskFile string   // a file of the only words that are masked, as AllowFile
	// StopWords are the function words that text.ClassContent leaves, and StopFile a file of them,
	// as AllowFile. Without either they are the program's English ones.
	StopWords []string
	StopFile  string
	Offsets   string // what offsets count: "characters", "utf16", "bytes", "off"; "": as they fit

	Energies
	// Encoder is the folder of a sentence encoder for the bounds on similarity, "" for none. What
	// Parts says of files holds for it: [Fill.OpenParts] opens it.
	Encoder string
}

// FillSampling is the sampler with its parameters, and where chains begin.
type FillSampling struct {
	Chosen   string   // a setting that only sampling has and that was chosen, if only to its default
	Sampler  string   // name of the sampler
	StepSize string   // its parameter step-size, "" for its default
	Balance  string   // its parameter balance, "" for its default
	Params   []string // further parameters, each NAME=VALUE
	// StartFile is a file of records whose fillings the chains begin with, in place of
	// Options.Sampling.Start. "" is none. What fillWords says of files holds for it too.
	StartFile string
}

// NeedsGradient reports whether these settings may ask a model for a backward pass, see
// [infill.Options.NeedsGradient].
func (v *Fill) NeedsGradient() bool {
	opt, err := v.options()
	if err != nil {
		return false
	}
	if len(v.Words.Energy) > 0 {
		opt.Words.Terms = []infill.Weighted{{}}
	}
	return opt.NeedsGradient()
}

// defaultMemo is [infill.DefaultMemo] in units of 2^20 bytes.
const defaultMemo = infill.DefaultMemo >> 20

// maxMemo bounds Memo, so that a slip of the keyboard does not exhaust memory.
const maxMemo = 1 << 20

func (v *Fill) memo() int {
	if v.Memo == nil {
		return defaultMemo
	}
	return *v.Memo
}

// NewEngine is an engine on a model with this memo.
func (v *Fill) NewEngine(m *mlm.Model) *infill.Engine {
	return infill.New(m).WithMemo(int64(v.memo()) << 20)
}

// Open opens the parts that the settings name, as OpenParts does, and is then Prepare, with an
// engine on the model that has their memo. [Fill.CloseParts] closes what is open. The error is an
// [*Error].
func (v *Fill) Open(
	ctx context.Context, m *mlm.Model, o energies.Options,
) (*Filling, *infill.Engine, error) {
	if err := v.OpenParts(ctx, o); err != nil {
		return nil, nil, err
	}
	f, err := v.Prepare(m.Tokenizer())
	if err != nil {
		return nil, nil, errors.Join(err, v.CloseParts())
	}
	return f, v.NewEngine(m), nil
}

// Defaults are the values of settings that nobody chose.
func Defaults() *Fill {
	ran := infill.Options{}.Complete()
	return &Fill{
		read:     newReadFiles(),
		Sampling: FillSampling{Sampler: "rows"},
		Options: infill.Options{
			Sampling: infill.SamplingOptions{Chains: ran.Sampling.Chains,
				Temperature: ran.Sampling.Temperature},
			Results: infill.ResultOptions{Top: ran.Results.Top},
			Words:   infill.WordOptions{NoRepeat: text.RepeatBlanks},
		},
	}
}

// options are the options of the engine but for words and files, with the method, the sampler and
// the seed that follow from the fields. Errors: those of [Fill.NewSampler].
func (v *Fill) options() (opt infill.Options, err error) {
	opt = v.Options
	opt.Method = v.method()
	if v.Seed != nil {
		opt.Seed = *v.Seed
	}
	if opt.Sampling.Sampler == nil {
		opt.Sampling.Sampler, err = v.NewSampler()
	}
	return opt, err
}

// method resolves infill.MethodAuto. The engine could not: Options have a sampler in any case, and
// a setting that was chosen to its default is there as one that was not.
func (v *Fill) method() infill.Method {
	return v.Method.Resolve(v.Sampling.Chosen != "", &v.Options)
}

// NewSampler makes the sampler with its parameters. Errors: those of [samplers.New], and an
// [*Error] for a parameter without a value.
func (v *Fill) NewSampler() (samplers.Sampler, error) {
	params, err := v.Parameters()
	if err != nil {
		return nil, err
	}
	return samplers.New(v.Sampling.Sampler, params)
}

// Parameters returns the sampler's parameters that were given, by name, as [samplers.New] takes
// them. The error is an [*Error].
func (v *Fill) Parameters() (map[string]string, error) {
	params := map[string]string{}
	for _, p := range v.Sampling.Params {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, &Error{Name: "param", Given: p, Want: "NAME=VALUE"}
		}
		if _, dup := params[name]; dup {
			return nil, &Error{Name: "param", Err: fmt.Errorf("%s is given twice", name)}
		}
		params[name] = value
	}
	if v.Sampling.StepSize != "" {
		params["step-size"] = v.Sampling.StepSize
	}
	if v.Sampling.Balance != "" {
		params["balance"] = v.Sampling.Balance
	}
	return params, nil
}
