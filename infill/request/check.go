package request

import (
	"fmt"
	"reflect"
	"strings"

	"infill/infill/text"
	"infill/mlm"
)

// Check finds options out of their range, which Engine.Fill refuses whatever the text is. The error
// is ErrOption. Settings of the sampler are checked by Fill, when the template is resolved.
func (o Options) Check() error {
	for _, check := range []func() error{o.checkRanges, o.checkChoices, o.checkTogether} {
		if err := check(); err != nil {
			return err
		}
	}
	ran := o.Complete()
	if err := ran.checkThin(); err != nil {
		return err
	}
	if ran.Method == MethodSample {
		if err := ran.CheckMarginals(); err != nil {
			return err
		}
	}
	return CheckTerms(o.Words.Terms)
}

// Prepare checks the options and makes them complete.
func (o *Options) Prepare() error {
	if err := o.Check(); err != nil {
		return err
	}
	*o = o.Complete()
	return nil
}

// checkRanges refuses numbers out of their range.
func (o *Options) checkRanges() error {
	for _, r := range reflect.ValueOf(Ranges).Fields() {
		if err := r.Interface().(interface{ check(*Options) error }).check(o); err != nil {
			return err
		}
	}
	return nil
}

// checkChoices refuses numbers that stand for no word.
func (o *Options) checkChoices() error {
	for _, c := range []struct {
		what  string
		value int
		names []string
	}{
		{"method", int(o.Method), o.Method.Names()},
		{"vocabulary", int(o.Words.Vocab), text.VocabAll.Names()},
		{"unit", int(o.Words.Unit), text.UnitWord.Names()},
		{"repeats", int(o.Words.NoRepeat), text.RepeatAny.Names()},
		{"effort", int(o.Search.Effort), EffortQuick.Names()},
		{"budget", int(o.Sampling.Budget), BudgetSteps.Names()},
		{"gradient", int(o.Sampling.Gradient), mlm.Full.Names()},
		{"start", int(o.Sampling.Start), StartMasked.Names()},
		{"score", int(o.Results.Score), ScorePLL.Names()[:ScorePLL+1]},
		{"collect", int(o.Results.Collect), CollectLast.Names()},
	} {
		if c.value < 0 || c.value >= len(c.names) {
			return fmt.Errorf("%w: %s %d, want 0 to %d for %s", text.ErrOption, c.what, c.value,
				len(c.names)-1, strings.Join(c.names, ", "))
		}
	}
	return nil
}

// checkTogether refuses options that do not go together.
func (o *Options) checkTogether() error {
	s, r := &o.Sampling, &o.Results
	switch {
	case s.Steps != 0 && s.NoSteps:
		return fmt.Errorf("%w: Steps of %d and NoSteps; give one of them", text.ErrOption, s.Steps)
	case r.Top != 0 && r.All:
		return fmt.Errorf("%w: Top of %d and All; give one of them", text.ErrOption, r.Top)
	case r.Marginals && s.NoSteps:
		return fmt.Errorf("%w: probabilities need the states that steps lead to, and there is NoSteps; "+
			"leave one out",
			text.ErrOption)
	case s.Starts != nil && s.Start != StartMasked:
		return fmt.Errorf("%w: Start %v and Starts; give one of them", text.ErrOption, s.Start)
	case o.Method == MethodSearch && o.probabilities():
		return fmt.Errorf("%w: a temperature and marginals need draws, and MethodSearch makes "+
			"none; sample, or leave them out", text.ErrOption)
	}
	return o.Words.Filter.check()
}

// checkThin refuses to keep more states than maxKept. The options are complete.
func (o *Options) checkThin() error {
	if o.Results.Collect != CollectChain {
		if o.Results.Thin != 0 {
			return fmt.Errorf("%w: thinning by %d steps is for the states along chains; collect those, or "+
				"thin nothing", text.ErrOption, o.Results.Thin)
		}
		return nil
	}
	after := o.Sampling.Steps - o.Burnin()
	switch {
	case o.Sampling.Steps == 0:
		return fmt.Errorf("%w: states along chains need steps, and there are none; make some, "+
			"or collect the last", text.ErrOption)
	case o.Sampling.Budget == BudgetSteps && o.Results.Thin > after:
		return fmt.Errorf("%w: thinning by %d steps takes no state of a chain, which has %d after its "+
			"burn-in; thin by at most that many, or make more steps", text.ErrOption, o.Results.Thin, after)
	}
	most := o.Sampling.Steps
	if o.Sampling.Budget != BudgetSteps {
		most *= MaxStretch
	}
	if n := (most - o.Burnin()) / o.Thinning() * o.Sampling.Chains; n > MaxKept {
		return fmt.Errorf("%w: up to %d states along the chains, want at most %d; take one in more "+
			"steps, or fewer chains", text.ErrOption, n, MaxKept)
	}
	return nil
}

// CheckMarginals refuses samplers whose states do not come up as π says.
func (o *Options) CheckMarginals() error {
	if o.Results.Marginals && !o.SamplerInfo().Exact {
		return fmt.Errorf("%w: probabilities need a sampler that leaves π invariant, and %s does not; "+
			"rows, gibbs-mh and dmala do", text.ErrOption, o.Sampling.Sampler.Info().Name)
	}
	return nil
}
