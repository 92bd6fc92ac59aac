package settings

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"infill/infill"
	"infill/samplers"
)

// Every setting of the table can be that of a run, in both forms, and means what its flag means.
func TestRunTakesAnySetting(t *testing.T) {
	t.Parallel()
	base := Defaults()
	for _, s := range FillTable() {
		value := s.Value(base)
		text := value.String()
		switch {
		case value.Kind == reflect.Bool:
			text = "true"
		case value.Choices != nil:
			text = value.Choices[len(value.Choices)-1]
		case value.Kind == reflect.Slice:
			text = map[string]string{"energy": "words:x=1", "param": "x=1"}[s.Name]
		case value.Kind == reflect.String:
			text = map[string]string{"sampler": "dmala", "balance": "min"}[s.Name]
		}
		if text == "" {
			text = "1"
		}
		want := Defaults()
		if s.Set(want, text) != nil {
			continue // its text is of another kind
		}
		for _, run := range []string{
			s.Name + "=" + text, strings.ReplaceAll(s.Name, "-", "_") + "=" + text,
			s.Field() + "=" + text,
		} {
			r, err := ParseRun(run)
			if err != nil {
				t.Errorf("%s: %v", run, err)
				continue
			}
			got, err := base.ForRun(r)
			if err != nil { // for files that are not there, masks, and parameters of other samplers
				if !errors.Is(err, ErrSetting) && !errors.Is(err, samplers.ErrUnknown) {
					t.Errorf("%s: %v", run, err)
				}
				continue
			}
			if g, w := s.Value(got).String(), s.Value(want).String(); g != w {
				t.Errorf("%s: %s, want %s", run, g, w)
			}
		}
	}
	if !reflect.DeepEqual(base, Defaults()) {
		t.Error("the settings beside the runs have changed")
	}
}

func TestParseRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, name, model string }{
		{"fill", "", ""},
		{" fill  steps=3 chains=2 ", "steps=3 chains=2", ""},
		{"steps=3 name=short", "short", ""},
		{"vocab=all model=a/b=c", "vocab=all", "a/b=c"},
		{"model=small", "", "small"},
		{`{}`, "", ""},
		{`{"steps":3,"no_repeat":"text","ban":["a b","c"]}`, `steps=3 no-repeat=text ban=["a b","c"]`, ""},
		{`{"name":"my run","model":"small","vocab":"all"}`, "my run", "small"},
		{"param=a=1 param=b=2", "param=a=1 param=b=2", ""},
		{"no_repeat=text", "no-repeat=text", ""},
	} {
		r, err := ParseRun(c.text)
		if err != nil || r.Name != c.name || r.Model != c.model {
			t.Errorf("%q: %+v, %v", c.text, r, err)
		}
	}
	for text, says := range map[string]string{
		"":                         "want",
		"  ":                       "a run without a word",
		"fil":                      `did you mean "fill"`,
		"stps=3":                   `did you mean "steps"`,
		"qqqqqqqqqqqq=3":           "want a setting",
		"qqqqqqqqqqqq":             "want settings as NAME=VALUE",
		"steps=3 steps=4":          "twice",
		"alone":                    "want settings as NAME=VALUE",
		"name=":                    "empty",
		`{"steps":3`:               "not one JSON object",
		`{"steps":3} x`:            "not one JSON object",
		`{"steps":}`:               "not a JSON object",
		`{"steps":3,"steps":4}`:    "twice",
		`{"name":3}`:               "want a text",
		`{"way":"fill"}`:           `nothing is called "way"`,
		`{"energy":[],"energy":1}`: "twice",
	} {
		_, err := ParseRun(text)
		if text == "" {
			says = "a run without a word"
		}
		if !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

// A Run is the settings beside it with its own in their places.
func TestForRun(t *testing.T) {
	t.Parallel()
	base := Defaults()
	for name, text := range map[string]string{"sampler": "dmala", "step-size": "0.3", "ban": "x,y",
		"steps": "7"} {
		if err := FillTable().Find(name).Set(base, text); err != nil {
			t.Fatal(err)
		}
	}
	run := func(text string) *Fill {
		t.Helper()
		r, err := ParseRun(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := base.ForRun(r)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	v := run("chains=3")
	if v.Sampling.Sampler != "dmala" || v.Sampling.StepSize != "0.3" ||
		v.Options.Sampling.Chains != 3 || v.Options.Sampling.Steps != 7 {
		t.Errorf("%+v", v)
	}
	if v := run("sampler=gibbs"); v.Sampling.StepSize != "" {
		t.Error("a sampler has the step size of another")
	}
	for _, text := range []string{"ban=z ban=w", `{"ban":["z","w"]}`} {
		if v := run(text); !slices.Equal(v.Words.Ban, []string{"z", "w"}) {
			t.Errorf("%s: %q in place of others", text, v.Words.Ban)
		}
	}
	if v := run("sampler=gwg param=draws=2"); !slices.Equal(v.Sampling.Params,
		[]string{"draws=2"}) {
		t.Errorf("%q", v.Sampling.Params)
	}
	if !slices.Equal(base.Words.Ban, []string{"x", "y"}) ||
		base.Options.Sampling.Chains != infill.DefaultChains {
		t.Error("the settings beside the runs have changed")
	}
	for text, says := range map[string]string{
		"steps=x": "want a whole number", `{"steps":"x"}`: `"steps" is "x", want`,
		"sampler=nope": "nope", "mask-rate=.5": "for all runs", "keep=a": "for all runs",
		"allow=/no/such/file": "no such file", "step-size=-1": "step-size",
	} {
		r, err := ParseRun(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := base.ForRun(r); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// Whatever is written is a run or an error, and a run says again what it is.
func FuzzParseRun(f *testing.F) {
	for _, s := range []string{"fill", "steps=3 name=x", `{"steps":3}`, `{"name":"x","ban":["a"]}`,
		"{", `{"a`, "=", "==", "a=b=c", "ban=a ban=b", `{"name":"\u0000"}`, "energy=words:x=1"} {
		f.Add(s)
	}
	base := Defaults()
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRun(text)
		if err != nil {
			if !errors.Is(err, ErrSetting) || err.Error() == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if utf8.ValidString(text) && !utf8.ValidString(r.Name) {
			t.Fatalf("%q: %+v", text, r)
		}
		if strings.Contains(text, "file") || strings.Contains(text, "profile") ||
			strings.Contains(text, "start") || strings.Contains(text, "-") {
			return // it may read what is on the disk
		}
		_, _ = base.ForRun(r)
	})
}
