package jsonl

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"infill/infill"
	"infill/samplers"
)

// Probabilities are written, and read back to the same bytes. What is not known is left out.
func TestMarginals(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	m := &infill.Marginals{
		Blanks: []infill.Marginal{{Distinct: 9, Likeliest: []infill.Estimate{
			{Text: "dog", Probability: .75, Error: .125, ESS: 12, RHat: 1.5},
			{Text: "cat", Probability: .125, Error: nan, ESS: nan, RHat: math.Inf(1)},
		}}},
		Fillings: infill.Marginal{Distinct: 1, Likeliest: []infill.Estimate{
			{Text: "a dog", Probability: 1, ESS: nan, RHat: nan},
		}},
		Draws: 50, ESS: 20, RHat: nan, Warning: "oh",
	}
	rec := Filled("a [MASK]", &infill.Options{Sampler: &samplers.Rows{}},
		&infill.Result{Marginals: m, MoveShare: nan, Acceptance: nan})
	b, err := Append(nil, rec)
	want := `"marginals":{"blanks":[{"likeliest":[` +
		`{"text":"dog","probability":0.75,"standard_error":0.125,"ess":12,"r_hat":1.5},` +
		`{"text":"cat","probability":0.125}],"distinct":9,"rest":0.125}],` +
		`"fillings":{"likeliest":[{"text":"a dog","probability":1,"standard_error":0}],"distinct":1,"rest":0},` +
		`"draws":50,"ess":20,"warning":"oh"}`
	if err != nil || !strings.Contains(string(b), want) {
		t.Fatalf("%v\n%s\nwant\n%s", err, b, want)
	}
	again, err := Decoder{}.Record(1, b)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Append(nil, again); err != nil || !bytes.Equal(b, second) {
		t.Errorf("%v\n%s\n%s", err, b, second)
	}
	for old, bad := range map[string][2]string{
		`"probability":0.75`:   {`"probability":1.5`, "marginals.blanks[0]"},
		`"draws":50`:           {`"draws":-1`, "marginals.draws"},
		`"rest":0}`:            {`"rest":-1}`, "marginals.fillings"},
		`"ess":12`:             {`"ess":-12`, "marginals.blanks[0]"},
		`"distinct":9`:         {`"distinct":-9`, "marginals.blanks[0]"},
		`"warning":"oh"`:       {`"warnings":"oh"`, "marginals.warnings"},
		`"standard_error":0}`:  {`"error":0}`, "marginals.fillings.likeliest[0].error"},
		`"blanks":[{`:          {`"blanks":[4,{`, "marginals.blanks[0]"},
		`"text":"dog","probab`: {`"text":7,"probab`, "marginals.blanks[0].likeliest[0].text"},
	} {
		line := strings.Replace(string(b), old, bad[0], 1)
		if _, err := (Decoder{}).Record(1, []byte(line)); err == nil || !strings.Contains(err.Error(), `"`+bad[1]+`"`) {
			t.Errorf("%s: %v", bad[0], err)
		}
	}
}
