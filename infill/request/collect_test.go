package request

import (
	"errors"
	"testing"

	"infill/infill/text"
)

// Nonsense and too many states are refused.
func TestCollectOptions(t *testing.T) {
	t.Parallel()
	for _, opt := range []Options{
		{Results: ResultOptions{Collect: -1}}, {Results: ResultOptions{Collect: 3}},
		{Results: ResultOptions{Thin: 2}}, {Results: ResultOptions{Collect: CollectChain, Thin: -1}},
		{Results: ResultOptions{Collect: CollectChain, Thin: 1},
			Sampling: SamplingOptions{Steps: Ranges.Steps.Max}},
		{Results: ResultOptions{Collect: CollectChain}, Sampling: SamplingOptions{NoSteps: true}},
		// 5 after the burn-in
		{Results: ResultOptions{Collect: CollectChain, Thin: 6}, Sampling: SamplingOptions{Steps: 9}},
		{Results: ResultOptions{Collect: CollectChain},
			Sampling: SamplingOptions{Chains: Ranges.Chains.Max, Steps: 4 * 25 * 25, Budget: BudgetRows}},
	} {
		if err := opt.Prepare(); !errors.Is(err, text.ErrOption) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	for _, fine := range []Options{
		{Results: ResultOptions{Collect: CollectChain}, Sampling: SamplingOptions{Chains: 100,
			Steps: Ranges.Steps.Max}},
		{Results: ResultOptions{Collect: CollectChain, Thin: 5}, Sampling: SamplingOptions{Steps: 9}},
		{Results: ResultOptions{Collect: CollectChain, Thin: 60},
			Sampling: SamplingOptions{Steps: 9, Budget: BudgetRows}}, // a budget may buy more steps
	} {
		if err := fine.Prepare(); err != nil {
			t.Errorf("%+v: %v", fine, err)
		}
	}
}
