package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/samplers"
	"infill/tokenize/tokenizetest"
)

// A stream has the energies of a sampler that needs none, so that samplers can be compared.
func TestStreamEnergies(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	a := ask(t, "POST", h.URL+"/v1/fill",
		sentence+`, "sampler": "gibbs", "steps": 3, "chains": 4, "stream": true}`)
	steps := 0
	for _, e := range readEvents(t, a) {
		var step stepEvent
		if e.Event != "step" || json.Unmarshal(e.Data, &step) != nil {
			continue
		}
		steps++
		if len(step.Energy) != 4 || slices.Contains(step.Energy, nil) {
			t.Errorf("step %d: energies %v", step.Step, step.Energy)
		}
	}
	if steps == 0 {
		t.Errorf("no steps: %s", a.body)
	}
}

// The page's form has every setting of a request, with the type that a request wants.
func TestForm(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{Keys: []string{"0123456789abcdef"}})
	a := ask(t, "GET", h.URL+"/settings.json", "")
	var fields []struct {
		Field, Name, Type, Doc string
		Choices                []string
	}
	if err := json.Unmarshal(a.body, &fields); err != nil || a.code != http.StatusOK {
		t.Fatalf("%d %s: %v", a.code, a.body, err)
	}
	values := map[string]string{"boolean": "true", "integer": "2", "number": "0.5", "string": `"auto"`,
		"array": `["a"]`, "object": `{"a":1}`}
	seen := map[string]bool{}
	for _, f := range fields {
		seen[f.Field] = true
		set := settings.FillTable().OfLine(f.Field)
		if set == nil || set.Name != f.Name || f.Doc == "" {
			t.Errorf("%+v is not a setting", f)
			continue
		}
		value := values[f.Type]
		switch f.Field { // not every text is one of them
		case "energy":
			value = `["edit=1"]`
		case "row_context":
			value = "16"
		}
		if len(f.Choices) > 0 {
			b, err := json.Marshal(f.Choices[len(f.Choices)-1])
			if err != nil {
				t.Fatal(err)
			}
			value = string(b)
		}
		if err := set.SetJSON(settings.Defaults(), json.RawMessage(value)); err != nil {
			t.Errorf("%s: %s is refused: %v", f.Field, value, err)
		}
		if f.Field == "sampler" && len(f.Choices) != len(samplers.List()) {
			t.Errorf("samplers: %v", f.Choices)
		}
	}
	for _, set := range settings.FillTable() {
		if seen[set.Field()] != set.Line {
			t.Errorf("%s: in the form %v, in requests %v", set.Field(), seen[set.Field()], set.Line)
		}
	}
}

// Words of chains have the capitals of fillings, unless the model's spelling is asked for.
func TestStepCapitals(t *testing.T) {
	t.Parallel()
	tp, err := text.Parse(tokenizetest.Small(t), "Paris is in [MASK], as the [MASK] say.")
	if err != nil {
		t.Fatal(err)
	}
	france, _ := tp.Tok.ID("france")
	germans, _ := tp.Tok.ID("germans")
	ids := []int32{france, germans}
	st := infill.Step{Energy: []float64{-1}, Tokens: func(int) []int32 { return ids },
		Starts: func(int) []int { return []int{0, 1} }}
	for asModel, want := range map[bool]string{false: "France Germans", true: "france germans"} {
		if got := strings.Join(stepOf(tp, asModel, st).Tokens[0], " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
