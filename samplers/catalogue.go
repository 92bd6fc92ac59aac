package samplers

import "math"

var inf = math.Inf(1)

// The parameters that several samplers share. set is given by each.

func stepParam(set func(Sampler, float64)) Param {
	return Param{
		Name: "step-size", Default: "auto", Min: 0, OpenMin: true, Max: inf, Auto: true,
		Doc: "step size α; auto adapts it in the burn-in",
		Set: func(s Sampler, v Value) { set(s, v.Number) },
	}
}

func balanceParam(set func(Sampler, Balance)) Param {
	return Param{
		Name: "balance", Default: "sqrt", Choices: balanceNames,
		Doc: "balancing function g",
		Set: func(s Sampler, v Value) { set(s, Balance(v.Word)) },
	}
}

func acceptParam(def float64, set func(Sampler, float64)) Param {
	return Param{
		Name: "target-acceptance", Default: plain(def), Min: 0, OpenMin: true, Max: 0.999,
		Doc: "acceptance rate that automatic values are adapted to",
		Set: func(s Sampler, v Value) { set(s, v.Number) },
	}
}

func timeParam(set func(Sampler, float64)) Param {
	return Param{
		Name: "time", Default: "auto", Min: 0, OpenMin: true, Max: inf, Auto: true,
		Doc: "simulation time h; auto adapts it in the burn-in",
		Set: func(s Sampler, v Value) { set(s, v.Number) },
	}
}

func countParam(name string, def, lo, hi int, doc string, set func(Sampler, int)) Param {
	return Param{
		Name: name, Default: plain(float64(def)), Min: float64(lo), Max: float64(hi), Integer: true,
		Doc: doc,
		Set: func(s Sampler, v Value) { set(s, int(v.Number)) },
	}
}

// switchParam is a yes or no; changed is what the other word sets.
func switchParam(name string, def bool, doc string, changed func(Sampler) *bool) Param {
	words := []string{"no", "yes"}
	if def {
		words = []string{"yes", "no"}
	}
	return Param{
		Name: name, Default: words[0], Choices: words, Doc: doc,
		Set: func(s Sampler, v Value) { *changed(s) = v.Word == 1 },
	}
}

// acsParam is auto where def is 0.
func acsParam(name string, def, most float64, doc string, field func(*ACS) *float64) Param {
	text := "auto"
	if def > 0 {
		text = plain(def)
	}
	return Param{
		Name: name, Default: text, Min: 0, OpenMin: true, Max: most, Auto: def == 0, Doc: doc,
		Set: func(s Sampler, v Value) { *field(s.(*ACS)) = v.Number },
	}
}
