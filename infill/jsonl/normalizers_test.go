package jsonl

import (
	"bytes"
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
	rec := Filled("a [MASK*1-2]", &infill.Options{Sampler: &samplers.Rows{}}, &infill.Result{
		Fillings: []infill.Filling{
			{Text: "a dog", LogProbability: -1.5}, {Text: "a cat", LogProbability: nan},
		},
		Normalizers: []infill.Normalizer{
			{Lengths: []int{1}, LogZ: .5, Error: .25, ESS: 7, Chains: 13, Below: .25, Above: .75},
			{Lengths: []int{2}, LogZ: nan, Error: nan, ESS: nan, Chains: 12, Below: nan, Above: nan},
		},
		MoveShare: nan, Acceptance: nan,
	})
	b, err := Append(nil, rec)
	want := `"normalizers":[{"lengths":[1],"log_z":0.5,"standard_error":0.25,"ess":7,"chains":13,"below":0.25,"above":0.75},` +
		`{"lengths":[2],"chains":12}]`
	if err != nil || !strings.Contains(string(b), want) ||
		strings.Count(string(b), `"log_probability":-1.5,`) != 1 || strings.Count(string(b), "log_prob") != 1 {
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
		`"lengths":[2]`:         {`"lengths":[-2]`, "normalizers[1]"},
		`"standard_error":0.25`: {`"standard_error":-1`, "normalizers[0]"},
		`"ess":7`:               {`"ess":-7`, "normalizers[0]"},
		`"chains":12`:           {`"chains":-12`, "normalizers[1]"},
		`"log_z":0.5`:           {`"log_zed":0.5`, "normalizers[0].log_zed"},
	} {
		line := strings.Replace(string(b), old, bad[0], 1)
		if _, err := (Decoder{}).Record(1, []byte(line)); err == nil || !strings.Contains(err.Error(), `"`+bad[1]+`"`) {
			t.Errorf("%s: %v", bad[0], err)
		}
	}
	plain, err := Append(nil, Filled("a [MASK]", &infill.Options{Sampler: &samplers.Rows{}},
		&infill.Result{Fillings: []infill.Filling{{Text: "a dog"}}, MoveShare: nan, Acceptance: nan}))
	if err != nil || strings.Contains(string(plain), "normalizers") || strings.Contains(string(plain), "log_prob") {
		t.Errorf("%s %v", plain, err)
	}
}
