package jsonl

import (
	"fmt"

	"infill/infill"
)

// badMarginals returns the first member whose value makes no sense, and why.
func badMarginals(m *infill.Marginals) (field, reason string) {
	if m == nil {
		return "", ""
	}
	if m.Draws < 0 {
		return "marginals.draws", fmt.Sprintf("%d is below 0", m.Draws)
	}
	for i := range m.Blanks {
		if reason := badMarginal(&m.Blanks[i]); reason != "" {
			return fmt.Sprintf("marginals.blanks[%d]", i), reason
		}
	}
	return "marginals.fillings", badMarginal(&m.Fillings)
}

func badMarginal(m *infill.Marginal) string {
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
