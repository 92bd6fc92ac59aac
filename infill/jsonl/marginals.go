package jsonl

import "fmt"

// Marginals are probabilities at the record's temperature, of the words of each blank and of whole
// texts: [infill.Marginals].
type Marginals struct {
	// Blanks has one entry for every blank, in the order of the text. Fillings is of whole texts.
	Blanks   []Marginal `json:"blanks"`
	Fillings Marginal   `json:"fillings"`
	// Draws is the number of states that were counted, 0 where the probabilities were computed. ESS
	// and RHat are the effective number of states for the mean energy, and the split R-hat of the
	// energies; nil where not known.
	Draws int      `json:"draws"`
	ESS   *float64 `json:"ess,omitempty"`
	RHat  *float64 `json:"r_hat,omitempty"`
	// Warning says why the numbers may be wrong; "" for no reason to think so.
	Warning string `json:"warning,omitempty"`
}

// A Marginal is a distribution over texts.
type Marginal struct {
	Likeliest []Estimate `json:"likeliest"`
	// Distinct is the number of different texts, Rest the probability of those not listed, in [0,1].
	Distinct int     `json:"distinct"`
	Rest     float64 `json:"rest"`
}

// An Estimate is the probability of a text, from 0 to 1.
type Estimate struct {
	Text        string  `json:"text"`
	Probability float64 `json:"probability"`
	// Error is its standard error, 0 where the probability was computed, ESS the effective number of
	// states, RHat the split R-hat of having the text; nil where not known.
	Error *float64 `json:"standard_error,omitempty"`
	ESS   *float64 `json:"ess,omitempty"`
	RHat  *float64 `json:"r_hat,omitempty"`
}

// check returns the first member whose value makes no sense, and why.
func (m *Marginals) check() (field, reason string) {
	if m == nil {
		return "", ""
	}
	if m.Draws < 0 {
		return "marginals.draws", fmt.Sprintf("%d is below 0", m.Draws)
	}
	for i := range m.Blanks {
		if reason := m.Blanks[i].check(); reason != "" {
			return fmt.Sprintf("marginals.blanks[%d]", i), reason
		}
	}
	return "marginals.fillings", m.Fillings.check()
}

func (m *Marginal) check() string {
	if m.Distinct < 0 {
		return fmt.Sprintf("distinct: %d is below 0", m.Distinct)
	}
	if !(m.Rest >= 0 && m.Rest <= 1) {
		return fmt.Sprintf("rest: %v is not from 0 to 1", m.Rest)
	}
	for i, e := range m.Likeliest {
		if !(e.Probability >= 0 && e.Probability <= 1) {
			return fmt.Sprintf("likeliest[%d].probability: %v is not from 0 to 1", i, e.Probability)
		}
		for _, v := range []*float64{e.Error, e.ESS, e.RHat} {
			if v != nil && !(*v >= 0) {
				return fmt.Sprintf("likeliest[%d]: %v is below 0", i, *v)
			}
		}
	}
	return ""
}
