package main

import (
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"infill/beam/pipeline"
	"infill/infill/settings"
)

// newSet has the flags of the SDK, as the command's set has.
func newSet() (*flag.FlagSet, *options) {
	set := flag.NewFlagSet("infill-beam", flag.ContinueOnError)
	flag.VisitAll(func(f *flag.Flag) { set.Var(f.Value, f.Name, f.Usage) })
	return set, newOptions(set)
}

// Every setting of a filling and of a model has its flag, and none is hidden by a flag of the SDK.
func TestFlagsOfSettings(t *testing.T) {
	t.Parallel()
	set, o := newSet()
	var names []string
	for _, s := range settings.FillTable() {
		names = append(names, s.Name)
	}
	for _, s := range settings.ModelTable() {
		if names = append(names, s.Name); s.Name == "input" {
			names[len(names)-1] = "model-input" // beside the file
		}
	}
	for _, name := range names {
		if f := set.Lookup(name); f == nil {
			t.Errorf("no flag --%s", name)
		} else if _, ok := f.Value.(*kept); !ok {
			t.Errorf("--%s is not the setting's", name)
		}
	}
	var help strings.Builder
	o.help(&help)
	for _, name := range append(names, beamFlags...) {
		if !strings.Contains(help.String(), "\n  --"+name+" ") {
			t.Errorf("help lacks --%s", name)
		}
	}
}

// Flags go before variables, and what was chosen is kept in its order.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{"INFILL_STEPS": "9", "INFILL_BAN": "x", "INFILL_OUTPUT": "not a setting"}
	set, o := newSet()
	if err := o.environment(func(name string) string { return env[name] }); err != nil {
		t.Fatal(err)
	}
	if err := set.Parse([]string{"--steps", "5", "--no-repeat", "text", "--limit=3"}); err != nil {
		t.Fatal(err)
	}
	o.finish()
	want := []pipeline.Setting{{Name: "steps", Text: "9"}, {Name: "ban", Text: "x"},
		{Name: "steps", Text: "5"}, {Name: "no-repeat", Text: "text"}}
	if !reflect.DeepEqual(o.chosen, want) || o.job.Output != "" || o.job.Source.Limit != 3 {
		t.Errorf("%q, %+v", o.chosen, o.job)
	}
	env["INFILL_STEPS"] = "many"
	err := o.environment(func(name string) string { return env[name] })
	if err == nil || !strings.Contains(err.Error(), "INFILL_STEPS: want a whole number") {
		t.Errorf("%v", err)
	}
}

// Not parallel: the flags of the SDK are variables of the process.
func TestInProcess(t *testing.T) {
	defer func(e, at string) {
		*jobopts.EnvironmentType, *jobopts.Endpoint = e, at
	}(*jobopts.EnvironmentType, *jobopts.Endpoint)
	for _, c := range []struct {
		runner, environment, endpoint string
		want                          bool
	}{
		{"", "", "", true},
		{"PrismRunner", "", "", true},
		{"prism", "PROCESS", "", false},
		{"prism", "", "localhost:1", false},
		{"flink", "LOOPBACK", "localhost:1", true},
		{"flink", "", "localhost:1", false},
		{"direct", "", "", true},
		{"dataflow", "", "", false},
	} {
		*jobopts.EnvironmentType, *jobopts.Endpoint = c.environment, c.endpoint
		if got := inProcess(c.runner); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestPipelineError(t *testing.T) {
	t.Parallel()
	runner := fmt.Errorf("job failed:\nplan\n\tcaused by:\nDoFn[UID:6, PID:e5, Name: f] failed:\n%s",
		"line 3: bad\nmore")
	if got := pipelineError(runner).Error(); got != "the job failed: line 3: bad\nmore" {
		t.Errorf("%q", got)
	}
	other := fmt.Errorf("no runner")
	if got := pipelineError(other); got != other {
		t.Errorf("%v", got)
	}
}
