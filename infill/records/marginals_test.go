package records

import (
	"math"
	"testing"

	"infill/infill"
	"infill/samplers"
)

// Probabilities are written, and read back to the same bytes. What is not known is left out.
func TestMarginals(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	m := &infill.Marginals{
		Blanks: []infill.Marginal{{Distinct: 9, Rest: .125, Likeliest: []infill.Estimate{
			{Text: "dog", Probability: .75, Error: new(.125), ESS: new(12.),
				RHat: new(1.5)},
			{Text: "cat", Probability: .125},
		}}},
		Fillings: infill.Marginal{Distinct: 1, Likeliest: []infill.Estimate{
			{Text: "a dog", Probability: 1, Error: new(float64)},
		}},
		Draws: 50, ESS: new(20.), Warning: "oh",
	}
	rec := ofResult("a [MASK]",
		&infill.Options{Sampling: infill.SamplingOptions{Sampler: &samplers.Rows{}}},
		&infill.Result{Marginals: m, MoveShare: nan, Acceptance: nan})
	want := `"marginals":{"blanks":[{"likeliest":[` +
		`{"text":"dog","probability":0.75,"standard_error":0.125,"ess":12,"r_hat":1.5},` +
		`{"text":"cat","probability":0.125}],"distinct":9,"rest":0.125}],` +
		`"fillings":{"likeliest":[{"text":"a dog","probability":1,"standard_error":0}],"distinct":1,"rest":0},` +
		`"draws":50,"ess":20,"warning":"oh"}`
	line := bytesAgain(t, rec, want)
	refused(t, line,
		spoilt{`"probability":0.75`, `"probability":1.5`, "marginals.blanks[0].likeliest[0].probability"},
		spoilt{`"draws":50`, `"draws":-1`, "marginals.draws"},
		spoilt{`"rest":0}`, `"rest":-1}`, "marginals.fillings.rest"},
		spoilt{`"ess":12`, `"ess":-12`, "marginals.blanks[0].likeliest[0].ess"},
		spoilt{`"distinct":9`, `"distinct":-9`, "marginals.blanks[0].distinct"},
		spoilt{`"warning":"oh"`, `"warnings":"oh"`, "marginals.warnings"},
		spoilt{`"standard_error":0}`, `"error":0}`, "marginals.fillings.likeliest[0].error"},
		spoilt{`"blanks":[{`, `"blanks":[4,{`, "marginals.blanks[0]"},
		spoilt{`"text":"dog","probab`, `"text":7,"probab`, "marginals.blanks[0].likeliest[0].text"},
	)
}
