package server

import (
	"infill/infill"
	"infill/infill/text"
	"infill/tokenize"
	"math"
)

// aloneWords bounds the words that a stream has of a blank, foundFillings the fillings of a frame.
const (
	aloneWords    = 20
	foundFillings = 100
)

// A startEvent is the first event of a stream.
type startEvent struct {
	Blanks int `json:"blanks"`
	// Method is search, exact or sample. Chains and Steps are for sampling only.
	Method string `json:"method"`
	Chains int    `json:"chains,omitempty"`
	Steps  *int   `json:"steps,omitempty"`
	Model  string `json:"model"`
	// Alone has, for every blank, the likeliest words when all blanks are masked.
	Alone [][]aloneWord `json:"alone"`
}

type aloneWord struct {
	Token string  `json:"token"`
	P     float64 `json:"p"`
}

// A foundEvent is how far a search is.
type foundEvent struct {
	Rows     int            `json:"rows"`     // of the model, up to now
	Fillings []foundFilling `json:"fillings"` // the best up to now, best first
}

type foundFilling struct {
	Text   string   `json:"text"`
	Tokens []string `json:"tokens"`
	Spans  [][2]int `json:"spans"`
	Score  float64  `json:"score"`
}

func foundBy(p infill.Progress) *foundEvent {
	e := &foundEvent{Rows: p.Rows, Fillings: []foundFilling{}}
	for _, f := range p.Best[:min(len(p.Best), foundFillings)] {
		e.Fillings = append(e.Fillings, foundFilling{f.Text, f.Tokens, f.Spans, f.Score})
	}
	return e
}

// A stepEvent is the state of all chains after a step.
type stepEvent struct {
	Step   int        `json:"step"`
	Energy []*float64 `json:"energy"` // nats by chain, null for what is not a number
	Tokens [][]string `json:"tokens"` // by chain and blank
	// Moved is true for a chain that accepted a proposal since the event before, Accepted is the
	// share of accepted proposals among those of another state.
	Moved    []bool  `json:"moved"`
	Accepted float64 `json:"accepted"`

	accepted, proposed int
}

// stepOf makes an event of a step.
func stepOf(tok *tokenize.Tokenizer, st infill.Step) *stepEvent {
	f := &stepEvent{Step: st.Step, Moved: make([]bool, len(st.Energy))}
	copy(f.Moved, st.Accepted)
	for k, proposed := range st.Proposed {
		if proposed {
			f.proposed++
		}
		if st.Accepted[k] {
			f.accepted++
		}
	}
	for k, u := range st.Energy {
		if math.IsNaN(u) || math.IsInf(u, 0) {
			f.Energy = append(f.Energy, nil)
		} else {
			f.Energy = append(f.Energy, &u)
		}
		f.Tokens = append(f.Tokens, spelt(tok, st.Tokens(k), st.Starts(k)))
	}
	return f
}

// spelt are the words of every blank.
func spelt(tok *tokenize.Tokenizer, ids []int32, starts []int) []string {
	out := make([]string, len(starts))
	for b, from := range starts {
		to := len(ids)
		if b+1 < len(starts) {
			to = starts[b+1]
		}
		out[b] = text.Word(tok, ids[from:to])
	}
	return out
}

// join takes in what happened in an event that is left out, nil for none.
func (f *stepEvent) join(old *stepEvent) {
	if old != nil {
		for k, moved := range old.Moved {
			f.Moved[k] = f.Moved[k] || moved
		}
		f.accepted, f.proposed = f.accepted+old.accepted, f.proposed+old.proposed
	}
	if f.proposed > 0 {
		f.Accepted = float64(f.accepted) / float64(f.proposed)
	}
}

// A doneEvent is the last event of a stream.
type doneEvent struct {
	Record rawRecord `json:"record"`
}
