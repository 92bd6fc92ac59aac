package kernels

import (
	"fmt"
	"math"
	"strconv"

	"infill/samplers"
)

var inf = math.Inf(1)

// balances are the names of balancing functions, in the order of their values.
var balances = []string{samplers.Sqrt.String(), samplers.Ratio.String(), samplers.Max.String(),
	samplers.Min.String()}

func balanceParam(field func(samplers.Sampler) *samplers.Balance) samplers.Param {
	return samplers.Param{
		Name: "balance", Default: balances[0], Choices: balances, Doc: "balancing function g",
		Set: func(s samplers.Sampler, v samplers.Value) { *field(s) = samplers.Balance(v.Word) },
	}
}

func checkBalance(sampler string, b samplers.Balance) error {
	if int(b) >= len(balances) {
		return &samplers.ParamError{Sampler: sampler, Param: "balance", Value: b.String(),
			Want: fmt.Sprint(balances)}
	}
	return nil
}

func acceptParam(def float64, field func(samplers.Sampler) *float64) samplers.Param {
	return samplers.Param{
		Name: "target-acceptance", Default: fmt.Sprint(def), OpenMin: true, Max: 0.999,
		Doc: "acceptance rate that automatic values are adapted to",
		Set: func(s samplers.Sampler, v samplers.Value) { *field(s) = v.Number },
	}
}

// checkTarget checks a target acceptance rate, 0 for the default.
func checkTarget(sampler string, a, def float64) (float64, error) {
	if a == 0 {
		return def, nil
	}
	if !(a > 0 && a < 1) {
		return 0, &samplers.ParamError{Sampler: sampler, Param: "target acceptance",
			Value: fmt.Sprint(a), Want: "a number in (0, 1), or 0 for the default"}
	}
	return a, nil
}

func flipsParam(set func(samplers.Sampler, float64)) samplers.Param {
	return samplers.Param{
		Name: "flips", Default: "auto", Min: 1, Max: inf, Auto: true,
		Doc: "coordinates R that a proposal changes, on average; auto adapts it in the burn-in",
		Set: func(s samplers.Sampler, v samplers.Value) { set(s, v.Number) },
	}
}

func singlesParam(off func(samplers.Sampler) *bool) samplers.Param {
	return samplers.Param{
		Name: "singles", Default: "yes", Choices: []string{"yes", "no"},
		Doc: "one proposal in sixteen changes a single coordinate, so that every state can be " +
			"reached; no leaves it out, as the papers do",
		Set: func(s samplers.Sampler, v samplers.Value) { *off(s) = v.Word == 1 },
	}
}

func countParam(name string, def, most int, doc string,
	set func(samplers.Sampler, int)) samplers.Param {
	return samplers.Param{
		Name: name, Default: strconv.Itoa(def), Min: 1, Max: float64(most), Integer: true, Doc: doc,
		Set: func(s samplers.Sampler, v samplers.Value) { set(s, int(v.Number)) },
	}
}

// checkCount refuses negative counts and those above most.
func checkCount(sampler, param string, n, most int) error {
	if n < 0 || n > most {
		return &samplers.ParamError{Sampler: sampler, Param: param, Value: strconv.Itoa(n),
			Want: fmt.Sprintf("a whole number from 0 to %d", most)}
	}
	return nil
}
