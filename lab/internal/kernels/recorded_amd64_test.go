package kernels

import (
	"bufio"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

// writeDraws makes the test below write its file instead of comparing with it.
var writeDraws = flag.Bool("write-draws", false, "write testdata/draws.txt")

// TestRecordedDraws checks that every sampler makes, from the same seed, the
// draws that it made when testdata/draws.txt was written, which was before the lab's own left package samplers: the
// states of all steps, and what it adapted. A change there changes the pages of the notebook, and of
// the program's samplers the results of users, which need a line in the changelog. The file holds for one processor family: elsewhere the
// mathematical functions may differ in the last digit.
func TestRecordedDraws(t *testing.T) {
	t.Parallel()
	const file = "testdata/draws.txt"
	var got strings.Builder
	problems := recordedTargets(t)
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		for _, spec := range recordedSamplers {
			if line := recordedRun(t, problems[name], spec); line != "" {
				fmt.Fprintf(&got, "%s %s %s\n", name, spec, line)
			}
		}
	}
	if *writeDraws {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	want := bufio.NewScanner(f)
	n := 0
	for line := range strings.Lines(got.String()) {
		line = strings.TrimSuffix(line, "\n")
		if !want.Scan() {
			t.Fatalf("no line in %s for: %s", file, line)
		}
		if n++; line != want.Text() {
			t.Errorf("drew\n%s\nrecorded\n%s", line, want.Text())
		}
	}
	if want.Scan() || n < 200 {
		t.Errorf("%d runs, and the file goes on with %q", n, want.Text())
	}
}

// recordedSamplers are all samplers, each with its defaults and with other
// settings of what changes its course.
var recordedSamplers = []string{
	"gibbs", "gibbs scan=systematic", "gibbs-mh", "gibbs-mh scan=systematic",
	"rows", "rows rate=0.3", "rows target-acceptance=0.4",
	"dula step-size=0.4", "dula step-size=0.3 batch=3", "dula balance=ratio step-size=1",
	"dmala", "dmala step-size=0.5", "dmala balance=max", "dmala balance=min target-acceptance=0.8",
	"gwg", "gwg draws=3 balance=ratio", "dlmc", "dlmc time=0.5 balance=max",
	"dlmc euler=yes", "dlmc euler=yes time=0.4 balance=min",
	"acs alpha-ceil=5", "acs alpha-max=3 alpha-min=0.2 cycle=7 power=4", "acs alpha-ceil=5 fixed-beta=yes",
	"sgdld", "sgdld jump=0.3 batch=4 cache=no",
	"sgdld rates=taylor",
	"rwm", "rwm flips=2.5", "gwg-x", "pas", "pas flips=1.7", "pas flips=3 balance=ratio",
	"dlmcf", "dlmcf time=0.4 balance=min", "ab", "ab beta=0.7", "ab step-size=1",
	"exact-gibbs", "exact-gibbs scan=systematic", "block-gibbs", "hb", "hb radius=2 block=3",
	"lb1", "lb1 balance=ratio",
}

// recordedTargets are small targets of every kind of coordinate, and one with
// more categories than a block of the factorised draw.
func recordedTargets(t *testing.T) map[string]samplers.Target {
	out := map[string]samplers.Target{}
	add := func(name string, target samplers.Target, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out[name] = target
	}
	rng := rand.New(rand.NewPCG(1, 2))
	spins, err := targets.NewIsing(3, 4, true, 0.1, []float64{0.3}, true)
	add("spins", spins, err)
	potts, err := targets.NewPotts(3, 3, 4, false, 0.7, []float64{0, 0.2, -0.3, 0.1})
	add("potts", potts, err)
	grid, err := targets.NewModes(2, 9, 3, nil)
	add("grid", grid, err)
	regression, err := targets.NewLogReg(rng, 60, 6, 0.3)
	add("regression", regression, err)
	theta := make([][]float64, 2)
	for i := range theta {
		for range 700 {
			theta[i] = append(theta[i], rng.NormFloat64())
		}
	}
	wide, err := targets.NewCategorical(theta)
	add("wide", wide, err)
	latent, err := targets.NewGaussianBernoulli([]float64{1, 0.3, 0.3, 1}, []float64{-0.6, -0.5})
	add("latent", latent, err)
	return out
}

// recordedRun is the fingerprint of a run of two chains, "" where the target
// lacks what the sampler needs.
func recordedRun(t *testing.T, target samplers.Target, spec string) string {
	t.Helper()
	words := strings.Fields(spec)
	params := map[string]string{}
	for _, w := range words[1:] {
		k, v, _ := strings.Cut(w, "=")
		params[k] = v
	}
	s, err := New(words[0], params)
	if err != nil {
		t.Fatal(err)
	}
	d := target.Domain()
	starts := [][]int32{make([]int32, d.Len()), make([]int32, d.Len())}
	for i := range starts[1] {
		starts[1][i] = int32(d.K(i) / 2)
	}
	hash := sha256.New()
	accepted := 0
	var tuned []string
	for _, burnin := range []int{0, 130} {
		run, err := samplers.Start(context.Background(), s, target, starts, samplers.Options{
			Seed: 7, ID: "recorded", First: 3, Burnin: burnin})
		if err != nil {
			return ""
		}
		for range 160 {
			if err := run.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(hash, run.X)
		}
		for _, st := range run.Stats {
			accepted += st.Accepted
		}
		tuning := run.Tuning(1)
		for _, name := range slices.Sorted(maps.Keys(tuning)) {
			tuned = append(tuned, fmt.Sprintf("%s=%.6g", name, tuning[name]))
		}
	}
	return fmt.Sprintf("%x %d %s", hash.Sum(nil)[:8], accepted, strings.Join(tuned, " "))
}
