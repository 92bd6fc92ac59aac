package kernels

import "infill/samplers"

// stepCalls are the calls in a step of those samplers that make the same number in each, by name:
// U and ∇U, or U and the rows, at the state and at the proposal. DULA takes ∇U at the state, and
// looks at U for its tuning only. RWM takes U at both.
var stepCalls = map[string]int{
	"rows": 4, "dmala": 4, "gwg": 4, "dlmc": 4, "acs": 4, "dula": 1,
	"pas": 4, "gwg-x": 4, "ab": 4, "rwm": 2, "rmala": 4,
}

// Calls is the number of calls in the counted steps as the paper on DLMC counts them (its section
// 6.1): U and ∇U at a state are a call each, and a step calls for all that it uses, at the state
// too. So a step of DLMC has four. Of other samplers it is Stats.Evals.
func Calls(i samplers.Info, s samplers.Stats) int {
	if n := stepCalls[i.Name]; n > 0 {
		return n * s.Steps
	}
	return s.Evals
}
