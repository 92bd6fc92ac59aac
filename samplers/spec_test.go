package samplers

import (
	"errors"
	"maps"
	"testing"
)

func TestParseSpec(t *testing.T) {
	t.Parallel()
	two := map[string]string{"step-size": "0.2", "beta": "1"}
	for spec, want := range map[string]map[string]string{
		"dmala":                          {},
		" dmala ":                        {},
		"dmala:step-size=0.2:beta=1":     two,
		"dmala:step-size=0.2,beta=1":     two,
		"dmala: step-size = 0.2, beta=1": two,
		"dmala:beta=":                    {"beta": ""},
		"dmala:a=b=c":                    {"a": "b=c"},
	} {
		name, got, err := ParseSpec(spec)
		if err != nil || name != "dmala" || !maps.Equal(got, want) {
			t.Errorf("%q: %q, %v, %v", spec, name, got, err)
		}
	}
	for _, spec := range []string{"dmala:", "dmala:beta", "dmala:=1", "dmala:beta=1:beta=2",
		"dmala:beta=1, beta=2", "dmala:beta=1:", "dmala::beta=1"} {
		if name, got, err := ParseSpec(spec); !errors.Is(err, ErrParam) {
			t.Errorf("%q: %q, %v, %v", spec, name, got, err)
		}
	}
}

// FuzzParseSpec: no text makes it panic, and what it accepts comes back from its parts.
func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{"rows:rate=0.3:block=2", "a:b=c,d=e", ":", "a:=", "", "a:b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		name, params, err := ParseSpec(spec)
		if err != nil {
			return
		}
		again := name
		for k, v := range params {
			again += ":" + k + "=" + v
		}
		if n, p, err := ParseSpec(again); err != nil || n != name || !maps.Equal(p, params) {
			t.Errorf("%q gave %q and %v, and these %q, %v, %v", spec, name, params, n, p, err)
		}
	})
}
