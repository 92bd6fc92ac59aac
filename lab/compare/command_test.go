package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"infill/lab/internal/kernels"
)

// lab runs the command and returns what it printed.
func lab(args ...string) (out, errs string, err error) {
	var o, e bytes.Buffer
	err = Command(context.Background(), args, nil, &o, &e)
	return o.String(), e.String(), err
}

func TestCommand(t *testing.T) {
	t.Parallel()
	svg := filepath.Join(t.TempDir(), "b.svg")
	out, _, err := lab("-sampler", "dmala:step-size=.4", "-sampler", "gwg", "-steps", "200",
		"-burn-in", "50", "-chains", "3", "-svg", svg, "ising:rows=3,cols=3")
	if err != nil || !strings.Contains(out, "dmala:step-size=.4") || !strings.Contains(out, "gwg") {
		t.Fatalf("%v: %s", err, out)
	}
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "<svg") {
		t.Errorf("%v", err)
	}
	for _, bad := range [][]string{{}, {"izing"}, {"ising:rows=x"}, {"-sampler", "dmalla", "ising"},
		{"-json", "-markdown", "ising"}} {
		if out, _, err := lab(bad...); err == nil || out != "" {
			t.Errorf("%v: %q", bad, out)
		}
	}
	out, _, err = lab("-steps", "20", "-json", "ising:rows=2,cols=2")
	var res struct{ Samplers []struct{ Sampler string } }
	if jsonErr := json.Unmarshal([]byte(out), &res); err != nil || jsonErr != nil || len(res.Samplers) != 3 {
		t.Errorf("%v, %v: %s", err, jsonErr, out)
	}
}

// Every target and sampler that the help writes out is one that it takes.
func TestHelpsExamples(t *testing.T) {
	t.Parallel()
	_, help, _ := lab("-h")
	known := map[string]bool{}
	found := regexp.MustCompile(`\b[a-z0-9-]+:[a-z-]+=[^\s:)]+`).FindAllString(help, -1)
	for _, spec := range found {
		name, _, _ := strings.Cut(spec, ":")
		known[name] = true
		if slices.Contains(kernels.Names(), name) {
			if _, err := ParseEntry(spec); err != nil {
				t.Errorf("%s: %v", spec, err)
			}
		} else if _, err := ParseProblem(spec); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for _, name := range append(ProblemNames(), "dmala") {
		if !known[name] {
			t.Errorf("%s is not among the examples %q", name, found)
		}
	}
}
