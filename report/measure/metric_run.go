package measure

import (
	"fmt"
	"math"
)

// moveShare is the share of steps that proposed another state.
func moveShare(m *measured) ([]Metric, error) {
	x := newMetric("move_share", "moves")
	x.Unit, x.Decimals = "%", 1
	if !math.IsNaN(m.run.MoveShare) {
		x.Value = 100 * m.run.MoveShare
	}
	x.Detail = "share of steps that proposed another state"
	return one(x)
}

// acceptance is the share of accepted proposals among those of another state.
func acceptance(m *measured) ([]Metric, error) {
	x := newMetric("acceptance", "accepted")
	x.Unit, x.Decimals = "%", 1
	if !math.IsNaN(m.run.Acceptance) {
		x.Value = 100 * m.run.Acceptance
	}
	x.Detail = "share of accepted moves among those proposed; n/a for samplers " +
		"without an acceptance step"
	return one(x)
}

// distinctFillings is the share of different fillings among the states taken.
func distinctFillings(m *measured) ([]Metric, error) {
	distinct, total := 0, m.run.taken()
	for _, s := range m.run.Sentences {
		distinct += s.Distinct
	}
	x := newMetric("distinct_fillings", "distinct fillings")
	x.Unit, x.Decimals, x.Better = "%", 1, +1
	if total > 0 {
		x.Value = 100 * float64(distinct) / float64(total)
		x.Detail = fmt.Sprintf("%d different of %d states, counted per sentence", distinct, total)
	} else {
		x.Warnings = []string{"no states were recorded"}
	}
	return one(x)
}

// ends is the number of states taken from all chains.
func (run *SamplerRun) taken() int {
	n := 0
	for _, s := range run.Sentences {
		n += s.Total
	}
	return n
}

// evaluations is the number of model evaluations.
func evaluations(m *measured) ([]Metric, error) {
	x := newMetric("evaluations", "evaluations")
	x.Value, x.Decimals = float64(m.run.Evaluations), 0
	return one(x)
}

// modelRows is the number of sequences that went through the model.
func modelRows(m *measured) ([]Metric, error) {
	x := newMetric("rows", "rows")
	x.Decimals = 0
	x.Detail = "sequences that the evaluations take: an energy one for every masked token, " +
		"a conditional one"
	if m.run.Rows > 0 {
		x.Value = float64(m.run.Rows)
	}
	return one(x)
}

// stepsOfChains is the mean number of steps of a chain.
func stepsOfChains(m *measured) ([]Metric, error) {
	x := newMetric("steps", "steps")
	x.Decimals = 1
	x.Detail = "mean over all chains"
	if chains := m.run.taken(); m.run.Steps > 0 && chains > 0 {
		x.Value = float64(m.run.Steps) / float64(chains)
	}
	return one(x)
}

// wallTime is the time that all sentences took.
func wallTime(m *measured) ([]Metric, error) {
	x := newMetric("wall", "wall time")
	x.Value, x.Unit, x.Decimals, x.Better = m.run.Wall.Seconds(), "s", 1, -1
	return one(x)
}
