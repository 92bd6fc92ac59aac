package request

import "infill/samplers"

// A Filling is a text with its blanks filled.
type Filling struct {
	Text string
	// Tokens are the words in the model's spelling, Pieces its pieces with spaces between, such as
	// walking and walk ##ing, or café and ĠcafÃ©: one string for every blank.
	Tokens, Pieces []string
	Spans          [][2]int // byte span of each blank's filling in Text
	// Score is the sum of Options.Results.Score of the pieces and, with Options.Words.Terms, Σ λ_k
	// U_k, in nats.
	Score         float64
	ScorePerToken float64 // Score over the number of pieces
	Parts         Parts   // what the model's part of Score is made of
	// Energies are the parts of Score by name, weights included, nil without Options.Words.Terms: they
	// sum to it. ModelEnergy is the model's.
	Energies map[string]float64
	// Recut says that the tokenizer cuts the finished text into other pieces than the blanks have:
	// walk[MASK] may be filled with ##ing, and walking be one piece. Engine.ScoreSpans then gives
	// the finished text another score.
	Recut bool
	// Probability is exp(Score/T) over the sum for all fillings that fit: 0 to 1. With ScorePLL it is
	// π of the text.
	// It is known if Result.Exact, and otherwise 0.
	Probability float64
	// Edits is the Levenshtein distance of Text from the text with Options.Words.Original in its
	// blanks, in characters and without regard to case; 0 without these words.
	Edits int
	// Changed is how many blanks have another word than Options.Words.Original, case and marks that
	// the model does not read apart; 0 without these words.
	Changed int
	// Similarity is the value of Filter.Similarity for Text, nil without it.
	Similarity *float64
	// Chain is the first chain, from 0, whose state this was, and Step the step at which it was, see
	// Collect. Count is how many chains ended here. Of CollectVisited it is how many chains
	// evaluated it, and of CollectChain how often it was taken. All are 0 if Result.Exact.
	Chain, Step, Count int

	IDs     []int32 // the pieces that were filled in, by their numbers in the vocabulary
	Lengths []int   // how many they are in a blank of each group
}

// A WordRank is where a word stands among all that a blank may take.
type WordRank struct {
	Word        string  `json:"word"`
	Rank        int     `json:"rank"` // 1 for the likeliest
	Of          int     `json:"of"`   // the number of words
	Probability float64 `json:"probability"`
}

// A Result has the fillings of a sentence, and how they were found.
type Result struct {
	Fillings []Filling // best first, at most Options.Results.Top
	Method   Method    // how they were found: never MethodAuto
	Ended    Ending    // why the work ended
	// Exact: the fillings are the likeliest of all and have their probabilities. Nothing was
	// sampled, so that the seed had no part in it. Steps, Stats and Tuned are then empty.
	Exact bool
	// Distinct is the number of different fillings among the states that Options.Results.Collect
	// takes, among the fillings that a search scored in full, or if Exact among all that fit. Of
	// CollectVisited it counts different tokens. From 131,072 on it is then an estimate, off by
	// about 0.3 %.
	Distinct int
	// LookedAt is the share that a search looked at, at least, of all fillings of a text whose only
	// blank has an open length: log P(n | text) for all of one piece, which one row has, and with the
	// chain rule from the left for each longer one that was scored. It is 0 for other texts, and with
	// energies.
	LookedAt float64
	// LeftOut is how many of these there was no room for where Options.Results.Top asks for all: those
	// beyond the best maxKept that CollectVisited took. It is 0 otherwise.
	LeftOut int
	// OriginalScore is the score of Options.Words.Original in the blanks, in nats. It is known if
	// Options.Words.Filter.MaxDrop is set, and otherwise nil.
	OriginalScore *float64
	// Acceptance is the share of accepted proposals among those after the burn-in that were another
	// state, in [0,1]; NaN without any. MoveShare is the share of these among all steps after the
	// burn-in; NaN without a step.
	MoveShare  float64
	Acceptance float64
	Stats      samplers.Stats // counts summed over chains and all steps
	Steps      int            // steps that every chain made
	// Rows is the number of sequences that the sampler asked the model about, see BudgetRows, that
	// a search asked about, each once, or if Exact the number that all states take. The start and
	// the ranking are not counted.
	Rows int
	// Repeated counts the Rows that the sampler had asked about before, in any chain, and that a
	// memo can thus answer: rows with the same token masked in the same text, or rows of a gradient
	// at the same state. It does not depend on the memo. From 131,072 different rows on it is an
	// estimate, off by about 0.3 % of Rows.
	Repeated int
	// Fresh counts the Rows that the model evaluated: at most Rows. Evaluated counts all that it
	// evaluated for this call, start and ranking included: at least Fresh. Both depend on the
	// engine's memo and, without one, count a row that chains ask for at the same time for each,
	// although the model evaluates it once.
	Fresh, Evaluated int

	// Numbers are the plain blanks, from 0, that take numbers besides words, since the model gives
	// numbers more than half of the share of both.
	Numbers []int
	// Lengths says how Parts.Length is known: "learned" from the text, or "constant" where the model
	// has no file of lengths. It is "" where no length is open, or the score per token ranks.
	Lengths string
	// Shown is the end mark that the model saw behind the text and Score counts as seen, "." or "":
	// see Options.EndShown. It is not part of Filling.Text.
	Shown  string
	Tuned  map[string]float64 // what the sampler adapted, mean over chains
	Window *[2]int            // bytes of the text that the model saw; nil: all
	// Groups are the numbers of blanks that were filled together, of a text whose blanks lie too far
	// apart to see all at once; nil: all were. The nth filling then has the nth best words of every
	// group, and its score is the sum over the groups, each beside the best words before it.
	Groups    []int
	Shortlist int        // candidates per blank; 0: all that the blanks allow
	Marginals *Marginals // probabilities, where Options.Results.Marginals asks for them
	Ranks     []WordRank // of Options.Results.Rank, in its order
	Warnings  []error    // what went on all the same; mlm.ErrNotFinite, those of Marginals
	PerToken  bool       // the score per token ranks the fillings: of open lengths under ScorePLL
}

// Marginals are probabilities under π: of the words of each blank, whatever the other blanks have,
// and of whole texts. They are shares of all states of all chains after the burn-in, or exact.
//
// Where a template leaves numbers of tokens open, π is the mixture of its distributions given the
// lengths, with equal weights, and each of them is estimated from the chains of its lengths.
//
// Records have them as this JSON. An unknown number is nil, and left out.
type Marginals struct {
	Blanks   []Marginal `json:"blanks"`   // in the order of the text; tied ones have the same words
	Fillings Marginal   `json:"fillings"` // whole texts
	// Draws is the number of states that count, of all chains together. Chains together keep at most
	// about 65,536 of them: of longer ones every second, fourth, … state. 0 if Result.Exact.
	Draws int `json:"draws"`
	// ESS is the effective number of states (Vehtari et al. 2021) for the mean of U, the least over
	// the lengths. RHat is the split R-hat of U, the greatest over the lengths. They are not known
	// where Result.Exact, for fewer than 8 states of a chain, or where the sampler knows no energies.
	ESS  *float64 `json:"ess,omitempty"`
	RHat *float64 `json:"r_hat,omitempty"`
	// Warning says why the probabilities and their errors may be wrong, "" for no reason to think so.
	// Result.Warnings has each reason too, as a warning of its own.
	Warning string `json:"warning,omitempty"`
}

// A Marginal is a distribution over texts.
type Marginal struct {
	// Likeliest are the likeliest texts, Options.Results.Top of them at most, and never more than
	// maxMarginals. Texts that no chain saw are not among them.
	Likeliest []Estimate `json:"likeliest"`
	// Distinct is the number of different texts among the states that count, or of all that fit.
	Distinct int     `json:"distinct"`
	Rest     float64 `json:"rest"` // the probability of the texts that are not listed, in [0,1]
}

// An Estimate is the probability of a text under π.
type Estimate struct {
	Text        string  `json:"text"`
	Probability float64 `json:"probability"` // in [0,1]
	// Error is the standard error of Probability: the root of p(1−p)/ESS. It is 0 where π was
	// computed, and not known for fewer than 8 states of a chain, or where all states had the text.
	Error *float64 `json:"standard_error,omitempty"`
	// ESS is the effective number of states. RHat is the split R-hat of having the text, the greatest
	// over the lengths, and not known where no chain ever changes between having it and not.
	ESS  *float64 `json:"ess,omitempty"`
	RHat *float64 `json:"r_hat,omitempty"`
}

// A Progress is how far a search is.
type Progress struct {
	Rows int // that were evaluated
	// Best are the fillings found up to now, best first, at most Options.Results.Top. They are the
	// receiver's. There are none while a long text is filled in groups, see Result.Groups.
	Best []Filling
	// Of a long text that is filled in groups these many of all its Blanks are filled. Both are 0 for
	// others.
	Filled, Blanks int
}
