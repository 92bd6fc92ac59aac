package jsonl

import "fmt"

// A Normalizer is log Z of the fillings of the same lengths: [infill.Normalizer].
type Normalizer struct {
	// Lengths are the tokens of every blank, 0 where a list decides; nil where no length is open.
	Lengths []int `json:"lengths,omitempty"`
	// LogZ is in nats, at the record's temperature, and Error its standard error, 0 where LogZ was
	// computed. ESS is the effective number of the Chains. nil where not known.
	LogZ  *float64 `json:"log_z,omitempty"`
	Error *float64 `json:"standard_error,omitempty"`
	// Below and Above are log Z by the Chains of one way alone.
	ESS    *float64 `json:"ess,omitempty"`
	Chains int      `json:"chains,omitempty"`
	Below  *float64 `json:"below,omitempty"`
	Above  *float64 `json:"above,omitempty"`
}

// check returns why a value makes no sense, "" for none that does.
func (n *Normalizer) check() string {
	for _, l := range n.Lengths {
		if l < 0 {
			return fmt.Sprintf("lengths: %d is below 0", l)
		}
	}
	switch {
	case n.Error != nil && !(*n.Error >= 0):
		return fmt.Sprintf("standard_error: %v is below 0", *n.Error)
	case n.ESS != nil && !(*n.ESS >= 0):
		return fmt.Sprintf("ess: %v is below 0", *n.ESS)
	case n.Chains < 0:
		return fmt.Sprintf("chains: %d is below 0", n.Chains)
	}
	return ""
}
