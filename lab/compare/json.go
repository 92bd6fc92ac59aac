package compare

import (
	"encoding/json"
	"io"
	"math"
)

// number is a figure of a JSON record, nil where there is none.
type number *float64

func figure(x float64) number {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// resultJSON is the record that WriteJSON writes.
type resultJSON struct {
	Target string `json:"target"`
	Truth  string `json:"truth,omitempty"` // how it was found; absent when unknown
	Chains int    `json:"chains"`
	Steps  int    `json:"steps"`
	Burnin int    `json:"burn_in"`
	Seed   uint64 `json:"seed"`

	Samplers []rowJSON `json:"samplers"`
}

type rowJSON struct {
	Sampler   string   `json:"sampler"`
	Exact     bool     `json:"exact"`
	Error     number   `json:"error"`
	ESS       number   `json:"ess"`
	PerEval   number   `json:"ess_per_evaluation"`
	PerCall   number   `json:"ess_per_call"`
	PerSecond number   `json:"ess_per_second"`
	PerStep   number   `json:"ess_per_step"`
	RHat      number   `json:"r_hat"`
	MeanProb  number   `json:"mean_probability"`
	Jump      number   `json:"jump"`
	Proposed  number   `json:"proposed"`
	Evals     int      `json:"evaluations"`
	Calls     int      `json:"calls"`
	Seconds   number   `json:"seconds"`
	SE        *seJSON  `json:"standard_errors,omitempty"` // from chain to chain
	Zero      int      `json:"probability_zero"`
	NonFinite int      `json:"non_finite"`
	Warnings  []string `json:"warnings,omitempty"`
	Skipped   string   `json:"skipped,omitempty"` // why; then there are no figures
}

type seJSON struct {
	Error    number `json:"error"`
	ESS      number `json:"ess"`
	MeanProb number `json:"mean_probability"`
	Jump     number `json:"jump"`
}

// WriteJSON prints the comparison as one JSON object. A figure that does not exist
// is null: the error without truth, the ESS of weighted states, and all figures of a
// sampler that was skipped.
func (r *Result) WriteJSON(w io.Writer) error {
	out := resultJSON{
		Target: r.Problem.Name, Truth: r.Problem.Source, Chains: r.Config.Chains,
		Steps: r.Config.Steps, Burnin: r.Config.Burnin, Seed: r.Config.Seed,
	}
	for _, x := range r.Rows {
		row := rowJSON{Sampler: x.Label, Exact: x.Exact}
		if x.Skipped != nil {
			row.Skipped = x.Skipped.Error()
			out.Samplers = append(out.Samplers, row)
			continue
		}
		row.Error, row.ESS, row.RHat = figure(x.Error), figure(x.ESS), figure(x.RHat)
		row.PerEval, row.PerSecond = figure(x.PerEval), figure(x.PerSecond)
		row.PerStep, row.PerCall = figure(x.PerStep), figure(x.PerCall)
		row.MeanProb, row.Jump, row.Proposed = figure(x.MeanProb), figure(x.Jump), figure(x.Proposed)
		row.Evals, row.Calls, row.Seconds = x.Evals, x.Calls, figure(x.Seconds)
		row.SE = &seJSON{figure(x.SE.Error), figure(x.SE.ESS), figure(x.SE.MeanProb),
			figure(x.SE.Jump)}
		row.Zero, row.NonFinite = x.Zero, x.NonFinite
		for _, e := range x.Warnings {
			row.Warnings = append(row.Warnings, e.Error())
		}
		out.Samplers = append(out.Samplers, row)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
