package profile

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"infill/infill"
	"infill/samplers"
)

const hash = "sha256:53c0cfaf32fd07a7806df9856b8dd6d8196b3448af86edbe4f2830cbb06899fe"

func example() *Profile {
	share := .5
	return &Profile{
		Format: Format, Version: "v1", Model: hash, Sampler: "dmala", Gradient: "full",
		Params: map[string]string{"balance": "sqrt"}, Settings: map[string]string{"steps": "200"},
		Corpus: Corpus{SHA256: hash, Texts: 10, Sampled: 5},
		Tuned: []Entry{
			{Coordinates: 2, Texts: 3, Chains: 24, Values: map[string]float64{"step-size": .25}, Acceptance: &share},
			{Coordinates: 8, Texts: 2, Chains: 16, Values: map[string]float64{"step-size": .125}},
		},
	}
}

// A profile is read back as it was written.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	p := example()
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"", "\ufeff"} {
		q, err := Decode(bytes.NewReader(append([]byte(before), b...)))
		if err != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("%v\n%+v\n%+v", err, p, q)
		}
	}
}

// What is not a profile is refused, with what is wrong.
func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	b, err := example().Encode()
	if err != nil {
		t.Fatal(err)
	}
	good := string(b)
	for _, c := range [][3]string{
		{good, "", "cut off"}, {good, good[:100], "cut off"}, {good, good + "{}", "something follows"},
		{good, "[]", "does not belong"}, {good, strings.Repeat("[", 100), "nested"},
		{good, strings.Repeat(" ", maxBytes+1), "more than"},
		{`"format": 1`, `"format": 2`, "its format is 2"}, {`"format": 1`, `"format": 1, "format": 1`, `"format" stands there twice`},
		{`"step-size": 0.25`, `"step-size": 0.25, "step-size": 1`, "twice"},
		{`"version"`, `"versions"`, "versions"}, {`"model": "sha256:53`, `"model": "sha256:5`, "model is"},
		{`"sampler": "dmala"`, `"sampler": "dmalo"`, "dmala"}, {`"sampler": "dmala"`, `"sampler": "rows"`, "balance"},
		{`"gradient": "full"`, `"gradient": "half"`, "forward"},
		{`"coordinates": 8`, `"coordinates": 2`, "2 coordinates after 2"}, {`"coordinates": 2`, `"coordinates": 0`, "0 coordinates"},
		{`"step-size": 0.25`, `"step-size": 0`, "above 0"}, {`"step-size": 0.25`, `"rate": 0.25`, "rate"},
		{`"step-size": 0.25`, ``, "no values"}, {`"step-size": 0.25`, `"step-size": "a"`, "does not belong"},
		{good, `{"format": 1, "model": "` + hash + `", "corpus": {"sha256": "` + hash + `"}, "gradient": "full", "sampler": "rows"}`, "nothing was tuned"},
	} {
		bad := strings.Replace(good, c[0], c[1], 1)
		if bad == good {
			t.Fatalf("%q changes nothing", c[1])
		}
		if p, err := Decode(strings.NewReader(bad)); !errors.Is(err, ErrProfile) || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%.60q: %v, %v, want %q", c[1], p, err, c[2])
		}
	}
}

// A number of coordinates that nothing was tuned for takes the values of the nearest, by ratio.
func TestAt(t *testing.T) {
	t.Parallel()
	p := example()
	make, err := p.Samplers()
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]float64{1: .25, 2: .25, 3: .25, 4: .25, 5: .125, 8: .125, 100: .125} {
		s, ok := make(n).(*samplers.DMALA)
		if !ok || s.StepSize != want || s.Balance != samplers.Sqrt {
			t.Errorf("%d coordinates: %+v", n, s)
		}
	}
}

// Texts of one number of coordinates count alike, by geometric means.
func TestPool(t *testing.T) {
	t.Parallel()
	var pool Pool
	if pool.Entries() != nil {
		t.Error("entries of nothing")
	}
	pool.Add([]infill.Tuning{{Coordinates: 3, Chains: 8, Values: map[string]float64{"rate": .2},
		Stats: samplers.Stats{Steps: 80, Moved: 40, Accepted: 10}}})
	pool.Add([]infill.Tuning{
		{Coordinates: 1, Chains: 2, Values: map[string]float64{"rate": .7}},
		{Coordinates: 3, Chains: 2, Values: map[string]float64{"rate": .8},
			Stats: samplers.Stats{Steps: 20, Moved: 10, Accepted: 10}},
	})
	e := pool.Entries()
	if len(e) != 2 || e[0].Coordinates != 1 || e[0].Acceptance != nil || math.Abs(e[0].Values["rate"]-.7) > 1e-12 {
		t.Fatalf("%+v", e)
	}
	if x := e[1]; x.Texts != 2 || x.Chains != 10 || math.Abs(x.Values["rate"]-.4) > 1e-12 ||
		*x.Acceptance != .4 || *x.MoveShare != .5 {
		t.Errorf("%+v", x)
	}
}

// No bytes panic, and what is read can be used and written.
func FuzzDecode(f *testing.F) {
	b, err := example().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format":1,"tuned":[{"coordinates":1e9,"values":{"rate":1e-300}}]}`))
	f.Add([]byte(`[[[[[[[[[[[[`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, ErrProfile) {
				t.Errorf("%v", err)
			}
			return
		}
		make, err := p.Samplers()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 7, 1 << 30} {
			if make(n) == nil {
				t.Errorf("no sampler for %d coordinates", n)
			}
		}
		again, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if q, err := Decode(bytes.NewReader(again)); err != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("%v\n%+v\n%+v", err, p, q)
		}
	})
}

// A profile without entries, and a reader that is not there, panicked.
func TestEmptyProfile(t *testing.T) {
	var p Profile
	if p.At(3) != nil {
		t.Error("an entry of none")
	}
	if _, err := p.Samplers(); !errors.Is(err, ErrProfile) {
		t.Errorf("samplers of no entry: %v", err)
	}
	if _, err := Decode(nil); !errors.Is(err, ErrProfile) {
		t.Errorf("no reader: %v", err)
	}
}
