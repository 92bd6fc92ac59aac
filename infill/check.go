package infill

import (
	"cmp"
	"fmt"
	"strings"

	"infill/infill/internal/text"
	"infill/mlm"
	"infill/samplers"
)

// Check finds options out of their range, which [Engine.Fill] refuses whatever the text is. The
// error is ErrOption. Settings of the sampler are checked by Fill, when it knows what is sampled.
func (o Options) Check() error { return o.fill() }

// fill checks the options and sets the defaults. Then 0 stands for NoSteps and for AllFillings.
func (o *Options) fill() error {
	for _, check := range []func() error{o.checkRanges, o.checkChoices, o.checkTogether} {
		if err := check(); err != nil {
			return err
		}
	}
	*o = o.Complete()
	o.Sampling.Steps, o.Results.Top = max(0, o.Sampling.Steps), max(0, o.Results.Top)
	if err := o.checkThin(); err != nil {
		return err
	}
	if o.Method == MethodSample {
		if err := o.checkMarginals(); err != nil {
			return err
		}
	}
	return checkTerms(o.Words.Terms)
}

// checkRanges refuses numbers out of their range.
func (o *Options) checkRanges() error {
	all := &Ranges
	for _, r := range []Range[int]{all.MinDistance, all.MinEdits, all.MaxEdits, all.Rows,
		all.Context, all.Steps, all.Chains, all.Shortlist, all.Top, all.Thin} {
		if err := r.check(o); err != nil {
			return err
		}
	}
	return all.Temperature.check(o)
}

// checkChoices refuses numbers that stand for no word.
func (o *Options) checkChoices() error {
	for _, c := range []struct {
		what  string
		value int
		names []string
	}{
		{"method", int(o.Method), methodNames},
		{"vocabulary", int(o.Words.Vocab), VocabAll.Names()},
		{"effort", int(o.Search.Effort), effortNames},
		{"budget", int(o.Sampling.Budget), BudgetSteps.Names()},
		{"gradient", int(o.Sampling.Gradient), mlm.Full.Names()},
		{"start", int(o.Sampling.Start), startNames},
		{"score", int(o.Results.Score), scoringNames[:ScorePLL+1]},
		{"case", int(o.Results.Case), CaseAuto.Names()},
		{"collect", int(o.Results.Collect), collectNames},
		{"select", int(o.Results.Select), SelectDiverse.Names()},
		{"long", int(o.Long), LongError.Names()},
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
	switch {
	case o.Results.Marginals && o.Sampling.Steps == NoSteps:
		return fmt.Errorf("%w: probabilities are those of the states that steps lead to, and NoSteps; "+
			"leave one out",
			text.ErrOption)
	case (o.Sampling.Start == StartGiven) != (o.Sampling.Starts != nil):
		return fmt.Errorf("%w: StartGiven goes with Starts", text.ErrOption)
	case o.Method == MethodSearch && o.probabilities():
		return fmt.Errorf("%w: a temperature, marginals and log Z are those of draws, and MethodSearch "+
			"makes none; sample, or leave them out", text.ErrOption)
	}
	return o.Words.Filter.check()
}

// Complete returns the options as [Engine.Fill] runs them: defaults stand in place of the zero
// values of Method, Rows, Context, Sampler, Steps, Chains, Top and Temperature. Ranges are not
// checked.
func (o Options) Complete() Options {
	o.Method = o.method()
	if o.Results.Marginals || o.Results.Normalize {
		o.Results.Score = ScorePLL
	}
	o.Search.Rows = cmp.Or(o.Search.Rows, defaultRows)
	o.Search.Context = cmp.Or(o.Search.Context, defaultContext)
	if o.Sampling.Sampler == nil {
		o.Sampling.Sampler = &samplers.Rows{}
	}
	o.Sampling.Steps = cmp.Or(o.Sampling.Steps, o.defaultSteps())
	o.Sampling.Chains = cmp.Or(o.Sampling.Chains, DefaultChains)
	o.Sampling.Temperature = cmp.Or(o.Sampling.Temperature, defaultTemperature)
	o.Results.Top = cmp.Or(o.Results.Top, defaultTop)
	return o
}

func (o *Options) defaultSteps() int {
	if o.Results.Marginals || o.Results.Normalize {
		return PublishedSteps
	}
	return DefaultSteps
}

// Thinning is the number of steps from one state that CollectChain takes to the next, where
// Complete has filled in Steps.
func (o *Options) Thinning() int {
	if o.Results.Thin > 0 {
		return o.Results.Thin
	}
	return max(1, (o.Sampling.Steps-o.Burnin())/keptOfChain)
}

// Burnin is the number of first steps in which the sampler adapts: half of Steps, which Complete
// has filled in. Their states are not draws of π.
func (o *Options) Burnin() int { return o.Sampling.NumSteps() / 2 }

// checkThin refuses to keep more states than maxKept.
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
		return fmt.Errorf("%w: states along chains are those of steps, and there are none; make some, "+
			"or collect the last", text.ErrOption)
	case o.Sampling.Budget == BudgetSteps && o.Results.Thin > after:
		return fmt.Errorf("%w: thinning by %d steps takes no state of a chain, which has %d after its "+
			"burn-in; thin by at most that many, or make more steps", text.ErrOption, o.Results.Thin, after)
	}
	most := o.Sampling.Steps
	if o.Sampling.Budget != BudgetSteps {
		most *= maxStretch
	}
	if n := (most - o.Burnin()) / o.Thinning() * o.Sampling.Chains; n > maxKept {
		return fmt.Errorf("%w: up to %d states along the chains, want at most %d; take one in more "+
			"steps, or fewer chains", text.ErrOption, n, maxKept)
	}
	return nil
}
