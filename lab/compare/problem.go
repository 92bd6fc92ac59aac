// Package compare compares samplers on targets whose truth is known: error
// against truth, effective sample size per evaluation, counted in two ways, and per second,
// acceptance and jump distance, as a table and as an SVG chart.
package compare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"infill/lab/internal/kernels"
	"infill/lab/targets"
	"infill/samplers"
)

// ErrSpec marks a target or sampler that is written wrongly.
var ErrSpec = errors.New("bad specification")

// Problem is a target and, where it is known, its truth.
type Problem struct {
	Name   string
	Target samplers.Target
	// Marginal holds P(θ_i = v) for all i and v in turn; nil when unknown.
	Marginal []float64
	Source   string // how the truth was found
}

// setting is one number of a problem's specification.
type setting struct {
	name   string
	def    float64
	doc    string
	lo, hi float64
	whole  bool
}

// maxSetting bounds the numbers of a specification, maxSeed the seeds. Floating
// point does not have all whole numbers above it.
const (
	maxSetting = 1e6
	maxSeed    = 1 << 53
)

func count(name string, def, lo float64, doc string) setting {
	return setting{name, def, doc, lo, maxSetting, true}
}

func real(name string, def, lo float64, doc string) setting {
	return setting{name, def, doc, lo, maxSetting, false}
}

func oneOrNone(name string, def float64, doc string) setting {
	return setting{name, def, doc, 0, 1, true}
}

func seed(doc string) setting { return setting{"seed", 1, doc, 0, maxSeed, true} }

// parse reads and checks one value.
func (s setting) parse(target, text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && f >= s.lo && f <= s.hi && (!s.whole || f == math.Trunc(f)) {
		return f, nil
	}
	what := "a number"
	if s.whole {
		what = "a whole number"
	}
	return 0, fmt.Errorf("%w: target %s: %s is %q, want %s from %.0f to %.0f", ErrSpec, target,
		s.name, text, what, s.lo, s.hi)
}

// values are the settings of a problem.
type values map[string]float64

func (v values) n(name string) int    { return int(v[name]) }
func (v values) on(name string) bool  { return v[name] != 0 }
func (v values) rng(n int) *rand.Rand { return rand.New(rand.NewPCG(uint64(v["seed"]), uint64(n))) }

// kind is a family of problems.
type kind struct {
	name, doc string
	settings  []setting
	make      func(v values) (*Problem, error)
}

// enumerated adds the truth by enumeration where the target is small enough.
func enumerated(t samplers.Target) *Problem {
	p := &Problem{Target: t}
	e, err := targets.Enumerate(context.Background(), t)
	if err != nil {
		return p // too large: no truth
	}
	for i := range t.Domain().Len() {
		p.Marginal = append(p.Marginal, e.Marginal(i)...)
	}
	p.Source = "enumeration"
	return p
}

// Describe lists the problems with their settings and defaults, a line each,
// as ParseProblem takes them, and what they mean.
func Describe() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		parts, docs := make([]string, len(k.settings)), make([]string, len(k.settings))
		for j, s := range k.settings {
			parts[j] = fmt.Sprintf("%s=%g", s.name, s.def)
			docs[j] = s.name + ": " + s.doc
		}
		out[i] = fmt.Sprintf("%s:%s  %s (%s)", k.name, strings.Join(parts, ","), k.doc,
			strings.Join(docs, "; "))
	}
	return out
}

// ProblemNames lists the kinds of problems.
func ProblemNames() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.name
	}
	return out
}

// ParseProblem makes a problem from "kind" or "kind:name=value,…"; settings
// that are left out keep the values that Describe shows. Counts, seeds and
// switches (0 or 1) are whole numbers. Errors wrap ErrSpec.
func ParseProblem(spec string) (*Problem, error) {
	name, params, err := parseSpec(spec)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: unknown target %q; known: %s", ErrSpec, name,
			strings.Join(ProblemNames(), ", "))
	}
	k := kinds[i]
	v := values{}
	for _, s := range k.settings {
		v[s.name] = s.def
		if text, ok := params[s.name]; ok {
			if v[s.name], err = s.parse(name, text); err != nil {
				return nil, err
			}
			delete(params, s.name)
		}
	}
	if left := slices.Sorted(maps.Keys(params)); len(left) > 0 {
		return nil, fmt.Errorf("%w: target %s has no setting %q; it is %s", ErrSpec, name, left[0],
			Describe()[i])
	}
	p, err := k.make(v)
	if err != nil {
		return nil, fmt.Errorf("%w: target %s: %w", ErrSpec, spec, err)
	}
	p.Name = spec
	return p, nil
}

// parseSpec is [samplers.ParseSpec] with errors of this package.
func parseSpec(spec string) (name string, params map[string]string, err error) {
	if name, params, err = samplers.ParseSpec(spec); err != nil {
		err = fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return name, params, err
}

// Entry is a sampler of a comparison.
type Entry struct {
	Label   string // as it was written
	Sampler samplers.Sampler
}

// ParseEntry makes a sampler from "name" or "name:param=value,…".
func ParseEntry(spec string) (Entry, error) {
	name, params, err := parseSpec(spec)
	if err != nil {
		return Entry{}, err
	}
	s, err := kernels.New(name, params)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Label: strings.TrimSpace(spec), Sampler: s}, nil
}
