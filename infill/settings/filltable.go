package settings

import (
	"fmt"
	"slices"

	"infill/infill"
	"infill/infill/text"
	"infill/samplers"
)

// FillTable lists the settings of a [Fill] in the order of help and documents.
func FillTable() Table[Fill] { return slices.Clone(fillTable) }

var fillTable = func() Table[Fill] {
	t := slices.Concat(mainTable, maskTable)
	for _, s := range t {
		if bind := s.bind; s.sampling {
			s.bind = func(v *Fill) *Value { return bind(v).after(func() { v.Sampling.Chosen = s.Name }) }
		}
	}
	return t
}()

// The families of the table.
var (
	samplerFamily = &family[Fill]{func(v *Fill) {
		v.Sampling.StepSize, v.Sampling.Balance, v.Sampling.Params = "", "", nil
	}}
	maskingFamily = &family[Fill]{func(v *Fill) { v.Masking.Rate, v.Masking.Words = 0, 0 }}
)

var mainTable = Table[Fill]{
	{
		Name: "method", Line: true, record: true, not: "compare",
		Doc: "how fillings are found: search: the best ones, exact: all of a single blank, with " +
			"probabilities, sample: draws; auto: search, or sample with a setting of the sampling",
		bind: func(v *Fill) *Value { return namedValue(&v.Method) },
		form: func(v *Fill) (string, error) { return v.method().String(), nil },
	},
	{
		Name: "score", Line: true, record: true, not: "compare", field: "scoring", Group: results,
		Doc: "what ranks fillings: blended: words judged beside all others and in the order of " +
			"the text, pll: beside all others only",
		bind: func(v *Fill) *Value {
			return choiceValue(&v.Options.Results.Score, infill.ScorePLL.Names()[:infill.ScorePLL+1]...)
		},
	},
	{
		Name: "effort", Line: true, record: true, not: "compare",
		Doc:  "how much a search looks at: quick|normal|thorough",
		bind: func(v *Fill) *Value { return effortValue(&v.Options.Search.Effort) },
	},
	{
		Name: "rows", Line: true, record: true, field: "most_rows", not: "compare",
		Doc:  "rows of the model that a search evaluates at most",
		bind: func(v *Fill) *Value { return optionValue(&v.Options, infill.Ranges.Rows) },
	},
	{
		Name: "row-context", Line: true, record: true, not: "compare",
		Doc:  "pieces of a long text that a row of a search sees; what is printed is scored in full",
		bind: func(v *Fill) *Value { return optionValue(&v.Options, infill.Ranges.Context) },
	},
	{
		Name: "sampler", Doc: "name of the sampler", Arg: "NAME", Line: true, record: true,
		sampling: true, not: "compare", family: samplerFamily,
		bind: func(v *Fill) *Value { return nameValue(&v.Sampling.Sampler, "the name of a sampler") },
	},
	{
		Name: "steps", Line: true, record: true, sampling: true,
		Doc: "steps of every chain; where probabilities are estimated the default is 50",
		bind: func(v *Fill) *Value {
			// The zero value of Options is the default.
			return optionValue(&v.Options, infill.Ranges.Steps).after(func() {
				v.Options.Sampling.NoSteps = v.Options.Sampling.Steps == 0
			})
		},
	},
	{
		Name: "budget", Line: true, record: true, sampling: true,
		Doc: "what steps measures: steps; evaluations or rows: every sampler gets as many as this " +
			"many steps of one evaluation take",
		bind: func(v *Fill) *Value { return namedValue(&v.Options.Sampling.Budget) },
	},
	{
		Name: "chains", Doc: "chains per sentence", Line: true, record: true, sampling: true,
		bind: func(v *Fill) *Value { return optionValue(&v.Options, infill.Ranges.Chains) },
	},
	{
		Name: "top", Doc: "fillings to return, best first", Line: true, record: true, not: "augment",
		Group: results,
		bind: func(v *Fill) *Value {
			return optionValue(&v.Options, infill.Ranges.Top).after(func() { v.Options.Results.All = false })
		},
	},
	{
		Name: "step-size", Arg: "X|auto", Line: true, record: true, sampling: true, not: "compare",
		Doc: "step size of the sampler: a number above 0, or auto " +
			"(adapted in the first half of the steps)", family: samplerFamily,
		bind: func(v *Fill) *Value { return textValue(&v.Sampling.StepSize) },
	},
	{
		Name: "balance", Arg: "NAME", Line: true, record: true, sampling: true, not: "compare",
		Doc: fmt.Sprintf("balancing function of the sampler: %s|%s|%s|%s", samplers.Sqrt,
			samplers.Ratio, samplers.Max, samplers.Min), family: samplerFamily,
		bind: func(v *Fill) *Value { return textValue(&v.Sampling.Balance) },
	},
	{
		Name: "param", Doc: "further parameters of the sampler", Arg: "NAME=VALUE", not: "compare",
		Line: true, record: true, sampling: true, field: "params", family: samplerFamily,
		bind: func(v *Fill) *Value { return paramsValue(&v.Sampling.Params) },
	},
	{
		Name: "shortlist", record: true, sampling: true,
		Doc:  "candidates per blank, the likeliest with all blanks masked; 0: all",
		bind: func(v *Fill) *Value { return optionValue(&v.Options, infill.Ranges.Shortlist) },
	},
	{
		Name: "temperature", Line: true, record: true,
		Doc:  "T of exp(U/T): below 1 likelier, above 1 more diverse fillings",
		bind: func(v *Fill) *Value { return temperatureValue(&v.Options) },
	},
	{
		Name: "seed", Doc: "seed of all randomness; chosen and said when unset", Line: true,
		bind: func(v *Fill) *Value { return seedValue(&v.Seed) },
	},
	{
		Name: "vocab", Line: true, record: true,
		Doc:   "what may fill a blank: words|all|whole-words; all: punctuation and numbers too",
		Group: words, bind: func(v *Fill) *Value { return namedValue(&v.Options.Words.Vocab) },
	},
	{
		Name: "unit", Line: true, record: true, Group: words,
		Doc: "what a plain blank takes: piece: one piece of the vocabulary, word: a word of up to " +
			"five, phrase: up to eight",
		bind: func(v *Fill) *Value { return namedValue(&v.Options.Words.Unit) },
	},
	{
		Name: "gradient", Doc: "full, or forward: without the backward pass", Line: true,
		record: true, sampling: true,
		bind: func(v *Fill) *Value { return namedValue(&v.Options.Sampling.Gradient) },
	},
	{
		Name: "case", Line: true, record: true,
		Doc: "auto: with the capitals of English text; model: as the model spells", Group: results,
		bind: func(v *Fill) *Value { return eitherValue(&v.Options.Results.AsModel, "auto", "model") },
	},
	{
		Name: "ban", Doc: "words that fill no blank", Arg: "WORDS", Line: true, record: true,
		Group: words, bind: func(v *Fill) *Value { return wordsValue(&v.Words.Ban) },
	},
	{
		Name: "allow", Doc: "the only words or phrases that fill blanks", Arg: "FILE",
		file: func(v *Fill) string { return v.Words.AllowFile }, Line: true, record: true, Group: words,
		bind: func(v *Fill) *Value { return wordsFileValue(&v.Words.AllowFile, &v.Words.Allow) },
		form: func(v *Fill) (string, error) { return v.recorded(v.Words.AllowFile) },
	},
	{
		Name: "no-repeat", Line: true, record: true,
		Doc: "what fills no blank again: off: nothing, blanks: content words of other blanks, text: " +
			"those of the text too",
		Group: words,
		bind:  func(v *Fill) *Value { return namedValue(&v.Options.Words.NoRepeat) },
	},
	{
		Name: "mask-rate", Line: true, record: true,
		Doc:   "blank out this share of the words of texts without blanks; 0: the texts have blanks",
		Group: words, family: maskingFamily,
		bind: func(v *Fill) *Value { return NumberValue(&v.Masking.Rate, 0, 1, false) },
	},
	{
		Name: "mask-words", Line: true, record: true,
		Doc:   "blank out exactly this many words of texts without blanks",
		Group: words, family: maskingFamily,
		bind: func(v *Fill) *Value { return WholeValue(&v.Masking.Words, 0, text.MaxMaskWords) },
	},
	{
		Name: "min-distance", Line: true, record: true,
		Doc: "least edit distance, in characters, from a word that was blanked out", Group: words,
		bind: func(v *Fill) *Value { return optionValue(&v.Options, infill.Ranges.MinDistance) },
	},
	{
		Name: "long", Line: true, record: true,
		Doc: "texts longer than the model takes: window: it sees the part around the blanks; " +
			"error: refuse",
		bind: func(v *Fill) *Value { return eitherValue(&v.Options.RefuseLong, "window", "error") },
	},
	{
		Name: "end-mark", Line: true, record: true,
		Doc: "what the model sees behind a sentence without an end mark: auto: a full stop that is not " +
			"printed",
		bind: func(v *Fill) *Value { return eitherValue(&v.Options.EndShown, "none", "auto") },
	},
	{
		Name: "start", Line: true, record: true, sampling: true,
		file: func(v *Fill) string { return v.Sampling.StartFile },
		Doc: "where chains begin: masked: draws with all blanks masked, argmax: the likeliest " +
			"words then, original: the words before, random: any that fit",
		FlagDoc: ", or the records of a FILE",
		bind:    startValue,
		form:    (*Fill).startRecorded,
	},
	{
		Name: "collect", Line: true, record: true, sampling: true,
		Doc: "which states are fillings: visited: all that were evaluated, for the best ones, " +
			"last: the last of every chain, draws of π, chain: every chain after its burn-in",
		Group: results,
		bind:  func(v *Fill) *Value { return namedValue(&v.Options.Results.Collect) },
	},
	{
		Name: "thin", Line: true, record: true, sampling: true,
		Doc:   "with collect chain: one state in this many steps; 0: about 25 of each chain",
		Group: results,
		bind:  func(v *Fill) *Value { return optionValue(&v.Options, infill.Ranges.Thin) },
	},
	{
		Name: "rank", Line: true, record: true, Arg: "WORDS", not: "augment cloze compare",
		Doc:   "say the rank and the probability of these words in the one blank, however unlikely",
		Group: results, bind: func(v *Fill) *Value { return wordsValue(&v.Options.Results.Rank) },
	},
	{
		Name: "select", Line: true, record: true,
		Doc: "how the fillings to return are chosen: likelihood: the best; " +
			"diverse: good ones that share few words", Group: results,
		bind: func(v *Fill) *Value {
			return eitherValue(&v.Options.Results.Diverse, "likelihood", "diverse")
		},
	},
	{
		Name: "energy", Line: true, record: true, Arg: "PART=WEIGHT",
		Doc: "parts to add to the energy that is sampled and ranked, with their weights", Group: words,
		bind: func(v *Fill) *Value { return partsValue(&v.Words.Energy) },
		form: func(v *Fill) (string, error) { return v.Words.energyRecorded() },
	},
	{
		Name: "marginals", Line: true, record: true, Group: results, not: "augment cloze compare",
		Doc: "probabilities of the words of each blank and of whole texts, with standard errors; " +
			"top says how many",
		bind: func(v *Fill) *Value { return boolValue(&v.Options.Results.Marginals) },
	},
	{
		Name:   "memo",
		server: true,
		Doc: "MB to remember what the model says, 0: nothing is remembered; " +
			"results do not depend on it",
		bind: func(v *Fill) *Value {
			n := v.memo()
			return WholeValue(&n, 0, maxMemo).after(func() { v.Memo = &n })
		},
	},
}
