package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"infill/samplers"
)

// fields runs infill fill with --json on the tiny model and returns its record,
// field by field, and what it prints on standard error without --json.
func fields(t *testing.T, args ...string) (map[string]json.RawMessage, string) {
	t.Helper()
	args = withTiny(
		append([]string{"fill", "--seed", "1", "--steps", "30", "--chains", "8"}, args...)...)
	r := infillRun("", append(args, "--json")...)
	var f map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.out), &f); r.code != 0 || err != nil {
		t.Fatalf("%v: exit %d: %v: %s%s", args, r.code, err, r.out, r.err)
	}
	return f, infillRun("", args...).err
}

// What a sampler tunes is printed, under the names that its record has; and so
// is the shortlist that was asked for.
func TestTunedAndShortlist(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] sleeps in the [MASK] ."
	step := []string{"step-size"}
	want := map[string][]string{
		"dula": step, "dmala": step, "gwg": nil, "dlmc": {"time"}, "rows": {"rate"},
		"acs":   {"alpha-max", "alpha-min", "beta-first", "beta-last"},
		"gibbs": nil, "gibbs-mh": nil, "sgdld": nil,
	}
	for _, name := range samplers.Names() {
		names, ok := want[name]
		if !ok {
			t.Errorf("%s: not tested", name)
		}
		f, said := fields(t, "--sampler", name, text)
		var tuned map[string]float64
		if f["tuned"] != nil {
			if err := json.Unmarshal(f["tuned"], &tuned); err != nil {
				t.Fatal(err)
			}
		}
		if got := slices.Sorted(maps.Keys(tuned)); !slices.Equal(got, names) {
			t.Errorf("%s: tuned %v, want %v", name, got, names)
		}
		for n, v := range tuned {
			if !(v > 0) || !strings.Contains(said, ", "+strings.ReplaceAll(n, "-", " ")+" ") {
				t.Errorf("%s: %s is %g, and the line says %q", name, n, v, said)
			}
		}
		if slices.Contains(names, "step-size") != (f["step_size"] != nil) {
			t.Errorf("%s: step_size is %s", name, f["step_size"])
		}
		if f["shortlist"] != nil || strings.Contains(said, "candidates per blank") {
			t.Errorf("%s: shortlist %q that nobody asked for; the line says %q", name, f["shortlist"], said)
		}
	}
	if f, said := fields(t, "--shortlist", "5", text); string(f["shortlist"]) != "5" ||
		!strings.Contains(said, "5 candidates per blank") {
		t.Errorf("5 candidates: %s; the line says %q", f["shortlist"], said)
	}
	r := infillRun(
		"the [MASK] sleeps .\n",
		withTiny("batch", "--quiet", "--sampler", "gwg", "--shortlist", "16", "--seed", "1", "-")...)
	if r.code != 0 || !strings.Contains(r.out, `,"shortlist":16,`) {
		t.Errorf("batch: exit %d: %s%s", r.code, r.out, r.err)
	}
}

// Proposals that a constraint forbids are counted and said.
func TestForbiddenProposals(t *testing.T) {
	t.Parallel()
	f, said := fields(t, "--no-repeat", "text", "the [MASK|dog|cat|fox] sleeps near the [MASK|dog|cat|fox] .")
	n, err := strconv.Atoi(string(f["zero_states"]))
	if err != nil || n < 5 ||
		!strings.Contains(said, strconv.Itoa(n)+" states of probability 0 refused") {
		t.Errorf("counted %s; the line says %q", f["zero_states"], said)
	}
	f, said = fields(t, "the [MASK|dog|cat|fox] sleeps near the [MASK|dog|cat|fox] .")
	if f["zero_states"] != nil || f["non_finite_states"] != nil || strings.Contains(said, "refused") {
		t.Errorf("without a constraint: %s, %q", f["zero_states"], said)
	}
	in := write(t, "in.txt", "the [MASK|dog|cat|fox] sleeps near the [MASK|dog|cat|fox] .\n")
	res, _ := comparison(t, 0, "--samplers", "dmala,gibbs-mh", "--no-repeat", "text", in)
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "dmala: ") ||
		!strings.Contains(notes, "proposals or neighbours had probability 0") {
		t.Errorf("compare says %q", notes)
	}
}

// Every parameter of the listing is taken by fill, by a line of batch and by compare.
func TestSamplerParametersOnText(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] sleeps in the [MASK] ."
	for _, info := range samplers.List() {
		args := withTiny("fill", "--seed", "1", "--steps", "4", "--chains", "2", "--sampler", info.Name)
		params := map[string]string{}
		spec := info.Name
		for _, p := range info.Params {
			params[p.Name] = p.Default
			args = append(args, "--param", p.Name+"="+p.Default)
			spec += ":" + p.Name + "=" + p.Default
		}
		if r := infillRun("", append(args, text)...); r.code != 0 {
			t.Errorf("%s with its defaults written out: exit %d: %s", info.Name, r.code, r.err)
		}
		line, err := json.Marshal(map[string]any{"text": text, "sampler": info.Name, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		if r := infillRun(string(line)+"\n", withTiny("batch", "--quiet", "--seed", "1", "--steps", "4", "--chains", "2", "-")...); r.code != 0 {
			t.Errorf("batch, %s: exit %d: %s%s", info.Name, r.code, r.out, r.err)
		}
		if _, _, err := chosenSamplers(spec); err != nil {
			t.Errorf("compare, %s: %v", spec, err)
		}
	}
}
