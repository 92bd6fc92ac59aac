package infill

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MinAnneal and MaxAnneal bound the temperatures of a schedule.
const (
	MinAnneal = 1e-6
	MaxAnneal = 1e6
)

// A Shape says how the temperature goes from the first step to the last.
type Shape int

const (
	// ShapeGeometric multiplies T by the same factor from step to step.
	ShapeGeometric Shape = iota
	// ShapeLinear takes the same number off T.
	ShapeLinear
	// ShapeInverse adds the same number to 1/T.
	ShapeInverse
)

var shapeNames = []string{"geometric", "linear", "inverse"}

// ShapeNames lists the words for the values of Shape, in their order.
func ShapeNames() []string { return slices.Clone(shapeNames) }

// String returns the word of ShapeNames.
func (s Shape) String() string {
	if s >= 0 && int(s) < len(shapeNames) {
		return shapeNames[s]
	}
	return fmt.Sprintf("shape(%d)", int(s))
}

// Anneal is a schedule of temperatures: step t of n, from 1 on, is made at T_t, and is one of the
// sampler for exp(U/T_t). The first step is made at From and the last at To. T does not stay at To
// any longer.
//
// A schedule of a paper, see AnnealNames, goes on from step to step by its own rule, however many
// steps there are. It has no To.
type Anneal struct {
	Shape    Shape
	From, To float64 // MinAnneal to MaxAnneal
	// Paper is a name of AnnealNames. The other fields are then zero.
	Paper string
}

// A published schedule is From·Rate^(t−1), or 1/T = PerStep·t.
type published struct {
	name       string
	from, rate float64
	perStep    float64
}

// The schedules of the SGDLD paper, appendix C. Where it counts t from is said in C.5 alone: 1. In
// C.3 and C.4 the first step has t = 0 here, so that it is made at τ₀.
var publishedSchedules = []published{
	{name: "sgdld-c3-200", from: 200, rate: 0.999},
	{name: "sgdld-c3-500", from: 500, rate: 0.999},
	{name: "sgdld-c3-1000", from: 1000, rate: 0.999},
	{name: "sgdld-c4", from: 5, rate: 0.96},
	{name: "sgdld-c5", perStep: 0.1},
}

// AnnealNames lists the schedules of papers.
func AnnealNames() []string {
	var names []string
	for _, p := range publishedSchedules {
		names = append(names, p.name)
	}
	return names
}

func publishedBy(name string) *published {
	i := slices.IndexFunc(publishedSchedules, func(p published) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return &publishedSchedules[i]
}

// ParseAnneal reads FROM..TO, FROM..TO:SHAPE or a name of AnnealNames, as String writes them. The
// error is an ErrOption.
func ParseAnneal(s string) (*Anneal, error) {
	a, err := parseAnneal(s)
	if err == nil {
		err = a.check()
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

func parseAnneal(s string) (*Anneal, error) {
	if publishedBy(s) != nil {
		return &Anneal{Paper: s}, nil
	}
	wrong := func() (*Anneal, error) {
		return nil, fmt.Errorf("%w: annealing %.60q, want FROM..TO, with :%s after it or not, or %s",
			ErrOption, s, strings.Join(shapeNames, ", :"), strings.Join(AnnealNames(), ", "))
	}
	span, shape, shaped := strings.Cut(s, ":")
	from, to, ok := strings.Cut(span, "..")
	if !ok {
		return wrong()
	}
	a := &Anneal{}
	if shaped {
		i := slices.Index(shapeNames, shape)
		if i < 0 {
			return wrong()
		}
		a.Shape = Shape(i)
	}
	var err [2]error
	a.From, err[0] = strconv.ParseFloat(from, 64)
	a.To, err[1] = strconv.ParseFloat(to, 64)
	if err[0] != nil || err[1] != nil {
		return wrong()
	}
	return a, nil
}

// String is the schedule as ParseAnneal reads it, "" for none.
func (a *Anneal) String() string {
	switch {
	case a == nil:
		return ""
	case a.Paper != "":
		return a.Paper
	}
	s := strconv.FormatFloat(a.From, 'g', -1, 64) + ".." + strconv.FormatFloat(a.To, 'g', -1, 64)
	if a.Shape != ShapeGeometric {
		s += ":" + a.Shape.String()
	}
	return s
}

// Temperature is T of step t of n, both from 1 on. What a paper's schedule has below MinAnneal is
// MinAnneal.
func (a *Anneal) Temperature(t, n int) float64 {
	if p := publishedBy(a.Paper); p != nil {
		if p.perStep > 0 {
			return max(MinAnneal, 1/(p.perStep*float64(t)))
		}
		return max(MinAnneal, p.from*math.Pow(p.rate, float64(t-1)))
	}
	switch {
	case t >= n && n > 1:
		return a.To
	case t <= 1 || a.From == a.To:
		return a.From
	}
	f := float64(t-1) / float64(n-1)
	switch a.Shape {
	case ShapeLinear:
		return a.From + f*(a.To-a.From)
	case ShapeInverse:
		return 1 / ((1-f)/a.From + f/a.To)
	default:
		return a.From * math.Pow(a.To/a.From, f)
	}
}

func (a *Anneal) check() error {
	if a.Paper != "" {
		if publishedBy(a.Paper) == nil || a.From != 0 || a.To != 0 || a.Shape != 0 {
			return fmt.Errorf("%w: schedule %.60q, want one of %s, without temperatures", ErrOption,
				a.Paper, strings.Join(AnnealNames(), ", "))
		}
		return nil
	}
	if a.Shape < ShapeGeometric || a.Shape > ShapeInverse {
		return fmt.Errorf("%w: %v of the temperatures, want %s", ErrOption, a.Shape,
			strings.Join(shapeNames, ", "))
	}
	for _, t := range []float64{a.From, a.To} {
		if !(t >= MinAnneal && t <= MaxAnneal) {
			return fmt.Errorf("%w: annealing by a temperature of %v, want %v to %v", ErrOption, t,
				MinAnneal, MaxAnneal)
		}
	}
	return nil
}

// checkAnneal refuses what has no meaning while the temperature changes.
func (o *Options) checkAnneal() error {
	a := o.Anneal
	if a == nil {
		return nil
	}
	switch {
	case o.Temperature != 0 && o.Temperature != DefaultTemperature: // 1 is what none means
		return fmt.Errorf("%w: a temperature of %v and annealing; give one of them", ErrOption,
			o.Temperature)
	case o.NoSteps:
		return fmt.Errorf("%w: annealing goes by steps, and there are none; make some", ErrOption)
	case o.Budget != BudgetSteps:
		return fmt.Errorf("%w: annealing needs to know how many steps there are; leave the budget at "+
			"steps", ErrOption)
	case o.Marginals:
		return fmt.Errorf("%w: annealed chains draw from no one distribution, so there are no "+
			"probabilities; give a temperature in place of annealing", ErrOption)
	case o.Normalize:
		return fmt.Errorf("%w: log Z is that of one temperature, and annealed chains have many; give a "+
			"temperature in place of annealing", ErrOption)
	case o.Collect == CollectChain:
		return fmt.Errorf("%w: the states along an annealed chain are of many temperatures, not draws; "+
			"collect those visited, or the last", ErrOption)
	case o.Method == MethodExact || o.Method == MethodSearch:
		return fmt.Errorf("%w: what is computed or searched is not annealed; sample", ErrOption)
	}
	return a.check()
}

// firstTemperature is T of the starts, and of the first step.
func (o *Options) firstTemperature() float64 {
	if o.Anneal == nil {
		return o.Temperature
	}
	return o.Anneal.Temperature(1, o.Steps)
}

// cool sets the temperature of a part's next step.
func (p *plan) cool(ctx context.Context, pt *part) error {
	if p.opt.Anneal == nil {
		return nil
	}
	t := p.opt.Anneal.Temperature(pt.run.Done()+1, p.opt.Steps)
	if t == pt.tgt.temp {
		return nil
	}
	f := pt.tgt.temp / t // U/T is so much larger then, with its gradients and ratios
	pt.tgt.temp = t
	return pt.run.Rescale(ctx, f)
}
