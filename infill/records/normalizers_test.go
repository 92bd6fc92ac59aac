package records

import (
	"math"
	"strings"
	"testing"

	"infill/infill"
	"infill/samplers"
)

// Log-normalisers are written, and read back to the same bytes. What is not known is left out.
func TestNormalizers(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	rec := ofResult("a [MASK*1-2]",
		&infill.Options{Sampling: infill.SamplingOptions{Sampler: &samplers.Rows{}}}, &infill.Result{
			Fillings: []infill.Filling{
				{Text: "a dog", LogProbability: -1.5}, {Text: "a cat", LogProbability: nan},
			},
			Normalizers: []infill.Normalizer{
				{Lengths: []int{1}, LogZ: pointer(.5), Error: pointer(.25), ESS: pointer(7.), Chains: 13,
					Below: pointer(.25), Above: pointer(.75)},
				{Lengths: []int{2}, Chains: 12},
			},
			MoveShare: nan, Acceptance: nan,
		})
	want := `"normalizers":[{"lengths":[1],"log_z":0.5,"standard_error":0.25,"ess":7,"chains":13,"below":0.25,"above":0.75},` +
		`{"lengths":[2],"chains":12}]`
	line := bytesAgain(t, rec, want)
	if strings.Count(line, `"log_probability":-1.5,`) != 1 || strings.Count(line, "log_prob") != 1 {
		t.Errorf("not one log-probability: %s", line)
	}
	refused(t, line,
		spoilt{`"lengths":[2]`, `"lengths":[-2]`, "normalizers[1]"},
		spoilt{`"standard_error":0.25`, `"standard_error":-1`, "normalizers[0]"},
		spoilt{`"ess":7`, `"ess":-7`, "normalizers[0]"},
		spoilt{`"chains":12`, `"chains":-12`, "normalizers[1]"},
		spoilt{`"log_z":0.5`, `"log_zed":0.5`, "normalizers[0].log_zed"},
	)
	rec = ofResult("a [MASK]",
		&infill.Options{Sampling: infill.SamplingOptions{Sampler: &samplers.Rows{}}},
		&infill.Result{Fillings: []infill.Filling{{Text: "a dog"}}, MoveShare: nan, Acceptance: nan})
	plain, err := rec.Append(nil)
	if err != nil || strings.Contains(string(plain), "normalizers") || strings.Contains(string(plain), "log_prob") {
		t.Errorf("%s %v", plain, err)
	}
}
