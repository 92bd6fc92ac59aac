package settings

import (
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/text"
	"infill/internal/ort"
	"infill/mlm"
	"infill/samplers"
	"infill/tokenize"
)

// sample is a text and the JSON value that mean the same, not the default.
var samples = map[string][2]string{
	"sampler": {"gwg", `"gwg"`}, "steps": {"7", "7"}, "chains": {"3", "3"}, "top": {"2", "2"},
	"step-size": {"0.5", "0.5"}, "balance": {"ratio", `"ratio"`}, "param": {"draws=2", `{"draws":2}`},
	"shortlist": {"9", "9"}, "temperature": {"0.5", "0.5"}, "seed": {"18446744073709551615",
		"18446744073709551615"},
	"method": {"sample", `"sample"`}, "score": {"pll", `"pll"`}, "effort": {"quick", `"quick"`},
	"rows": {"50", "50"}, "row-context": {"64", "64"},
	"unit":  {"word", `"word"`},
	"vocab": {"whole-words", `"whole-words"`}, "gradient": {"forward", `"forward"`},
	"case": {"model", `"model"`}, "ban": {"dog,old cat", `["dog","old cat"]`}, "no-repeat": {"text",
		`"text"`},
	"mask-rate": {"0.25", "0.25"}, "mask-words": {"2", "2"}, "min-distance": {"3", "3"},
	"end-mark": {"auto", `"auto"`}, "long": {"error", `"error"`}, "select": {"diverse", `"diverse"`}, "rank": {"Paris,Lyon", `["Paris","Lyon"]`},
	"budget": {"rows", `"rows"`}, "collect": {"chain", `"chain"`},
	"start": {"argmax", `"argmax"`}, "thin": {"3", "3"},
	"energy": {"edit=2", `["edit=2"]`},
	"memo":   {"8", "8"}, "marginals": {"true", "true"},
	"keep": {"Ann,New York", `["Ann","New York"]`}, "mask-class": {"content", `"content"`},
	"mask-labels": {"name,place", `["name","place"]`}, "keep-labels": {"*", `["*"]`},
	"offsets": {"utf16", `"utf16"`}, "min-edits": {"3", "3"}, "max-edits": {"40", "40"},
	"max-drop": {"-1.5", "-1.5"}, "mask-file": {"words", `"words"`}, "encoder": {"enc", `"enc"`},
	"min-similarity": {"0.5", "0.5"}, "max-similarity": {"-0.25", "-0.25"},
}

// Every setting stores what its text and its JSON value say, and reads it back as it was.
func TestEverySetting(t *testing.T) {
	t.Parallel()
	for _, s := range FillTable() {
		if s.Name == "allow" || s.Name == "stop-words" || s.Name == "keep-file" {
			continue // JSON has words where a text names a file
		}
		sample, ok := samples[s.Name]
		if !ok {
			t.Errorf("%s has no sample", s.Name)
			continue
		}
		a, b := Defaults(), Defaults()
		if s.Value(a).String() == sample[0] {
			t.Errorf("%s: the sample is the default", s.Name)
		}
		if err := s.Set(a, sample[0]); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if err := s.SetJSON(b, json.RawMessage(sample[1])); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if !reflect.DeepEqual(a, b) || s.Value(a).String() != sample[0] {
			t.Errorf("%s: text gives %+v, JSON %+v", s.Name, a, b)
		}
		if err := s.SetJSON(b, json.RawMessage("null")); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: null changes it: %v", s.Name, err)
		}
	}
}

// Values out of bounds are refused in every notation, with the setting's name and what it wants.
func TestBadValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, json, want string }{
		{"steps", "-1", "-1", "a whole number from 0 to 1000000"},
		{"steps", "1.5", "1.5", "a whole number"},
		{"steps", "x", `"7"`, "a whole number"},
		{"chains", "10001", "10001", "from 1 to 10000"},
		{"temperature", "NaN", "0", "1e-300 to 1e+300"},
		{"temperature", "-Inf", "1e999", "1e-300 to 1e+300"},
		{"temperature", "1e-320", "1e-320", "1e-300 to 1e+300"},
		{"seed", "18446744073709551616", "-1", "2^64"},
		{"mask-rate", "1.01", "1.01", "0 to 1"},
		{"min-distance", "101", "101", "0 to 100"},
		{"no-repeat", "perhaps", "true", "blanks"},
		{"vocab", "letters", `"letters"`, "all"},
		{"param", "x", `{"x":[]}`, ""},
		{"sampler", "", `""`, ""},
		{"ban", "", `"dog"`, ""},
		{"energy", "edit", `["edit=1","edit"]`, "edit=WEIGHT"},
	} {
		s := FillTable().Find(c.name)
		v := Defaults()
		if c.text != "" {
			err := s.Set(v, c.text)
			checkBad(t, s.Name, err, c.want)
		}
		checkBad(t, s.Name, s.SetJSON(v, json.RawMessage(c.json)), c.want)
		if !reflect.DeepEqual(v, Defaults()) {
			t.Errorf("%s: a refused value was stored", c.name)
		}
	}
}

func checkBad(t *testing.T, name string, err error, want string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrSetting) || e.Name != name ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v", name, err)
	}
}

// Names, fields and variables are unique, and lower-case words.
func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	check := func(name, field, doc string) {
		if seen[name] || seen[field] || name == "" || doc == "" || strings.Trim(name,
			"abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("setting %q, field %q, doc %q", name, field, doc)
		}
		seen[name], seen[field] = true, true
	}
	for _, s := range FillTable() {
		check(s.Name, s.Field(), s.Doc)
	}
	for _, s := range ModelTable() {
		check(s.Name, s.Field(), s.Doc)
	}
	if s := FillTable().Find("no-repeat"); s.Field() != "no_repeat" || s.Env() != "INFILL_NO_REPEAT" {
		t.Errorf("%s, %s", s.Field(), s.Env())
	}
}

// The defaults are what the zero values of the engine's options mean, where they mean any.
func TestDefaultsAreTheEngines(t *testing.T) {
	t.Parallel()
	v := Defaults().Options
	v.Sampling.Chains -= infill.DefaultChains
	v.Results.Top -= 5
	v.Sampling.Temperature--
	v.Words.NoRepeat -= text.RepeatBlanks // which the engine leaves to programs for people
	if !reflect.DeepEqual(v, infill.Options{}) {
		t.Errorf("%+v", v)
	}
	m := ModelDefaults().Options
	if s := ModelTable().Find("ort"); s.Env() != ort.EnvLibrary {
		t.Errorf("%s and %s name one library", s.Env(), ort.EnvLibrary)
	}
	// Programs that name nothing have the processor and float32. Commands leave it to mlm.Open.
	if m.Device != mlm.AutoDevice || m.Precision != mlm.Auto || !m.Unrounded || !m.Forward {
		t.Errorf("%+v", m)
	}
	m.Threads, m.Device, m.Precision, m.Unrounded, m.Forward = 0, "", mlm.Float32, false, false
	if !reflect.DeepEqual(m, mlm.Options{}) {
		t.Errorf("%+v", m)
	}
}

// The manifest has every setting that decides results, chosen or not.
func TestRecorded(t *testing.T) {
	t.Parallel()
	got, err := FillTable().Recorded(Defaults())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"allow": "", "balance": "", "ban": "", "budget": "steps", "case": "auto", "chains": "25",
		"collect": "visited", "effort": "normal", "encoder": "", "end-mark": "none", "energy": "",
		"gradient": "full", "keep": "", "keep-file": "", "keep-labels": "",
		"long": "window", "marginals": "false", "mask-class": "all", "mask-labels": "",
		"mask-file": "", "mask-rate": "0", "mask-words": "0", "max-drop": "", "max-edits": "0", "max-similarity": "",
		"method": "search", "min-distance": "0", "min-edits": "0", "min-similarity": "",
		"no-repeat": "blanks", "param": "", "rank": "", "row-context": "128", "rows": "10000", "sampler": "rows",
		"score": "blended", "select": "likelihood", "shortlist": "0", "offsets": "auto",
		"start": "masked", "step-size": "", "steps": "20", "stop-words": "", "temperature": "1",
		"thin": "0", "top": "5", "unit": "piece", "vocab": "words",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	m := ModelDefaults()
	m.Options.Device, m.Options.Precision = mlm.CPUDevice, mlm.Float32 // as it was opened
	if got, _ := ModelTable().Recorded(m); !maps.Equal(got,
		map[string]string{"low-memory": "false", "device": "cpu", "precision": "fp32", "typography": "auto",
			"input": ""}) {
		t.Errorf("%v", got)
	}
	m.Options.Precision = mlm.Int8
	if got, _ := ModelTable().Recorded(m); got["precision"] != "int8" {
		t.Errorf("%v", got)
	}
	m.Options.Device, m.Options.Precision = "cuda", mlm.Float16
	if got, _ := ModelTable().Recorded(m); got["precision"] != "fp16" ||
		got["device"] != "cuda" {
		t.Errorf("%v", got)
	}
}

// A blank is sampled for whoever chooses a setting of the sampling, if only to its default.
func TestSamplingIsAsked(t *testing.T) {
	t.Parallel()
	sampling := []string{"sampler", "steps", "chains", "step-size", "balance", "param", "shortlist",
		"gradient", "budget", "collect", "thin", "start"}
	for _, s := range FillTable() {
		if s.Name == "allow" || s.Name == "method" || s.Name == "stop-words" || s.Name == "keep-file" {
			continue
		}
		for _, text := range []string{samples[s.Name][0], s.Value(Defaults()).String()} {
			v := Defaults()
			if s.Set(v, text) != nil {
				continue // the default of some is none
			}
			want := infill.MethodSearch
			switch {
			case slices.Contains(sampling, s.Name):
				want = infill.MethodSample
			case v.Options.Results.Marginals || v.Options.Sampling.Temperature != 1:
				want = infill.MethodExact
			}
			if got := v.method(); got != want {
				t.Errorf("%s %q: %v", s.Name, text, got)
			}
			v.Method = infill.MethodExact
			if v.method() != infill.MethodExact {
				t.Errorf("%s: what was asked for is not done", s.Name)
			}
		}
	}
}

// A setting is shown in a group that help has, and is kept from commands that there are.
func TestGroupsAndCommands(t *testing.T) {
	t.Parallel()
	for _, s := range FillTable() {
		if !slices.Contains([]string{"", words, results}, s.Group) {
			t.Errorf("%s: group %q", s.Name, s.Group)
		}
		for _, command := range strings.Fields(s.not) {
			if !slices.Contains([]string{"augment", "cloze", "compare", "score"}, command) {
				t.Errorf("%s is not of %q", s.Name, command)
			}
		}
	}
}

// No step is a number of steps that a user can ask for.
func TestNoSteps(t *testing.T) {
	t.Parallel()
	v := Defaults()
	s := FillTable().Find("steps")
	for _, text := range []string{"0", "4", "0"} {
		if err := s.Set(v, text); err != nil || s.Value(v).String() != text ||
			v.Options.Sampling.NoSteps != (text == "0") {
			t.Errorf("%s: %v, %+v", text, err, v.Options)
		}
	}
}

// The engine has the memo that a user asks for: none, some, or the default's.
func TestMemo(t *testing.T) {
	t.Parallel()
	m, err := mlm.OpenDir(t.Context(), "../../mlm/testdata/tiny-bert", mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	text, err := text.Parse(m.Tokenizer(), "the [MASK] dog and the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	s := FillTable().Find("memo")
	for given, remembers := range map[string]bool{"0": false, "1": true, "": true} {
		v := &Fill{}
		if given != "" {
			if err := s.Set(v, given); err != nil || s.Value(v).String() != given {
				t.Errorf("%s: %v, %s", given, err, s.Value(v))
			}
		}
		e := v.NewEngine(m)
		var r *infill.Result
		for range 2 {
			if r, err = e.Fill(t.Context(), text,
				infill.Options{Sampling: infill.SamplingOptions{Steps: 2, Chains: 1}}); err != nil {
				t.Fatal(err)
			}
		}
		if (r.Evaluated == 0) != remembers {
			t.Errorf("a memo of %q: %d rows evaluated when filled again", given, r.Evaluated)
		}
	}
}

// A read changes nothing, and says of options that nobody set what the engine makes of them.
func TestReadsArePure(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]infill.Options{
		"zero": {}, "all": {Results: infill.ResultOptions{All: true}},
		"none":    {Sampling: infill.SamplingOptions{NoSteps: true}},
		"refused": {Sampling: infill.SamplingOptions{Steps: -3}},
		"chosen": {Sampling: infill.SamplingOptions{Steps: 4, Chains: 3, Temperature: 0.5},
			Results: infill.ResultOptions{Top: 2}},
	} {
		v := &Fill{Options: o}
		for _, s := range FillTable() {
			_ = s.Value(v).String()
		}
		if _, err := FillTable().Recorded(v); err != nil || !reflect.DeepEqual(v.Options, o) {
			t.Errorf("%s: %v: %+v", name, err, v.Options)
		}
	}
	standard := Defaults()
	for _, s := range FillTable() {
		// The engine knows nothing of the name of a sampler, and leaves repeats to programs for people.
		if s.Name == "sampler" || s.Name == "no-repeat" {
			continue
		}
		if got, want := s.Value(&Fill{}).String(), s.Value(standard).String(); got != want {
			t.Errorf("%s of zero options reads %q, the engine runs %q", s.Name, got, want)
		}
	}
	v := &Fill{Options: infill.Options{Sampling: infill.SamplingOptions{NoSteps: true},
		Results: infill.ResultOptions{All: true}}}
	for _, name := range []string{"steps", "top"} {
		s := FillTable().Find(name)
		if got := s.Value(v).String(); got != "0" {
			t.Errorf("%s: %s", name, got)
		}
		if err := s.Set(v, "3"); err != nil || s.Value(v).String() != "3" {
			t.Errorf("%s: %v, %s", name, err, s.Value(v))
		}
	}
	if v.Options.Sampling.Steps != 3 || v.Options.Results.Top != 3 {
		t.Errorf("%+v", v.Options)
	}
}

func fields(s string) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(s), &m); err != nil {
			panic(err)
		}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

// A line has its own settings over those of the run, which stay as they are.
func TestForLine(t *testing.T) {
	t.Parallel()
	tok, err := tokenize.Load(os.DirFS("../../mlm/testdata/tiny-bert"))
	if err != nil {
		t.Fatal(err)
	}
	given := Defaults()
	given.Sampling.Sampler, given.Sampling.Balance, given.Masking.Rate, given.Words.Ban = "dmala",
		"ratio", 0.5, []string{"dog"}
	run, err := given.Prepare(tok)
	if err != nil {
		t.Fatal(err)
	}
	before := *run
	line, own, err := run.ForLine(tok,
		fields(`{"note":1,"top":3,"seed":9,"mask_words":2,"ban":["cat"]}`))
	if err != nil || !own {
		t.Fatal(err)
	}
	if o := line.Options; o.Results.Top != 3 || o.Seed != 9 || o.Words.Ban == run.Options.Words.Ban ||
		!reflect.DeepEqual(o.Sampling.Sampler, run.Options.Sampling.Sampler) ||
		!reflect.DeepEqual(line.Masking, text.Masking{Words: 2}) {
		t.Errorf("%+v", line)
	}
	if run.Options.Method != infill.MethodSearch || line.Options.Method != infill.MethodSearch {
		t.Errorf("method: %v, %v", run.Options.Method, line.Options.Method)
	}
	if line, _, err = run.ForLine(tok, fields(`{"top":3}`)); err != nil ||
		line.Options.Words.Ban != run.Options.Words.Ban {
		t.Errorf("the same words are made again: %v", err)
	}
	line, _, err = run.ForLine(tok, fields(`{"chains":25}`))
	if err != nil || line.Options.Method != infill.MethodSample {
		t.Errorf("a line that asks for chains: %v, %v", line.Options.Method, err)
	}
	line, _, err = run.ForLine(tok, fields(`{"step_size":0.25}`))
	if d, ok := line.Options.Sampling.Sampler.(*samplers.DMALA); err != nil || !ok ||
		line.given.Sampling.Balance != "" || d == run.Options.Sampling.Sampler {
		t.Errorf("%v: %+v", err, line)
	}
	if line, own, err = run.ForLine(tok,
		fields(`{"note":1,"shortlist":3,"steps":null}`)); err != nil || own || line != run {
		t.Errorf("fields that are no settings of a line: %v, %v", own, err)
	}
	if !reflect.DeepEqual(before, *run) {
		t.Errorf("the run changed: %+v", run)
	}
	for in, want := range map[string]string{
		`{"steps":-1}`:                                `bad setting: "steps" is -1, want a whole number from 0 to 1000000`,
		`{"mask_rate":0.5,"mask_words":1}`:            `bad setting: "mask_rate" and "mask_words": give one of them`,
		`{"mask_rate":0,"min_distance":1}`:            `"min_distance" goes with "mask_rate" or "mask_words"`,
		`{"sampler":"gwgg"}`:                          `bad setting: `,
		`{"step_size":"big"}`:                         "step-size",
		`{"params":{"no":1}}`:                         "no",
		`{"allow":["qqq"]}`:                           `bad setting: "allow": `,
		`{"vocab":"` + strings.Repeat("x", 99) + `"}`: "x…, want all or whole-words or words",
	} {
		if _, own, err := run.ForLine(tok, fields(in)); !own || !errors.Is(err, ErrSetting) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// Whoever shows an error spells the settings.
func TestSpell(t *testing.T) {
	t.Parallel()
	v := Defaults()
	v.Options.Words.MinDistance = 1
	var e *Error
	if err := v.Check(); !errors.As(err, &e) {
		t.Fatal(err)
	}
	got := e.Spell(func(name string) string { return "<" + name + ">" })
	if !strings.HasPrefix(got, "<min-distance> goes with <mask-rate> or <mask-words>: ") {
		t.Errorf("%s", got)
	}
	// What a line chose is spelt as the line has it, whoever shows it.
	_, _, err := (&Filling{given: *v}).ForLine(nil, fields(`{"steps":-1}`))
	if !errors.As(err, &e) || e.Spell(func(string) string { return "?" }) !=
		`"steps" is -1, want a whole number from 0 to 1000000` {
		t.Errorf("%v", err)
	}
	e = v.Check().(*Error)
	if !strings.HasPrefix(e.Error(), "bad setting: min-distance goes with mask-rate or mask-words: ") {
		t.Errorf("%v", e)
	}
}

// Any JSON value is stored or refused, and what was stored can be read again.
func FuzzSetJSON(f *testing.F) {
	for _, s := range samples {
		f.Add(s[1])
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return
		}
		for _, s := range FillTable() {
			v := Defaults()
			if err := s.SetJSON(v, json.RawMessage(raw)); err != nil {
				checkBad(t, s.Name, err, "want")
				continue
			}
			if x := v.Options.Sampling.Temperature; math.IsNaN(x) || x <= 0 {
				t.Errorf("temperature %v", x)
			}
			if k := s.Value(v); k.Kind != reflect.Int && k.Kind != reflect.Float64 && k.Choices == nil {
				continue
			}
			if err := s.Set(Defaults(), s.Value(v).String()); err != nil {
				t.Errorf("%s: %s cannot be read again: %v", s.Name, s.Value(v), err)
			}
		}
	})
}

// The number of steps that nobody chose is larger where probabilities are estimated.
func TestStepsOfProbabilities(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "marginals"} {
		v := Defaults()
		want := infill.DefaultSteps
		if name != "" {
			want = infill.PublishedSteps
			if err := FillTable().Find(name).Set(v, "true"); err != nil {
				t.Fatal(err)
			}
		}
		if got := FillTable().Find("steps").Value(v).String(); got != strconv.Itoa(want) {
			t.Errorf("%q: %s steps, want %d", name, got, want)
		}
		if got := v.Options.Complete().Sampling.Steps; got != want {
			t.Errorf("%q: %d steps are made, want %d", name, got, want)
		}
		if err := FillTable().Find("steps").Set(v, "0"); err != nil ||
			v.Options.Complete().Sampling.Steps != 0 {
			t.Errorf("%q: %d steps in place of none, %v", name, v.Options.Complete().Sampling.Steps, err)
		}
	}
}
