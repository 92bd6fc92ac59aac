package request

// Marginals are probabilities under π: of the words of each blank, whatever the other blanks have,
// and of whole texts. They are shares of all states of all chains after the burn-in, or exact.
//
// Where a template leaves numbers of tokens open, π is the mixture of its distributions given the
// lengths, with equal weights, and each of them is estimated from the chains of its lengths.
//
// Records have them as this JSON. What is not known is nil, and not there.
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
