package torch

import (
	"encoding/json"
	"os"

	"infill/lab/internal/chains"
)

// A job is what the workers of a cell are told, as a JSON file.
type job struct {
	Seed      uint64        `json:"seed"`
	Sentences []jobSentence `json:"sentences"`
	Products  [][3]int      `json:"products"` // m, k, n of the products that the peak is measured with
}

// A jobSentence is a sentence as ids, with the states that all samplers start from.
type jobSentence struct {
	Text      string    `json:"text"`
	AdaptOn   string    `json:"adapt_on,omitempty"` // text on which the step size is found; "": Text
	IDs       []int32   `json:"ids"`
	Positions []int     `json:"positions"`
	Mask      int32     `json:"mask"`
	Allowed   [][]int32 `json:"allowed"` // per blank, ascending
	States    [][]int32 `json:"states"`  // per chain
	Check     [][]int32 `json:"check"`   // states on which energies and gradients are compared
	Alpha     float64   `json:"alpha"`   // step size; 0: to be adapted
}

// products are sizes at which the models' own products run, and a square one.
var products = [][3]int{{1024, 1024, 1024}, {1024, 768, 768}, {1024, 768, 3072}, {1024, 3072, 768}}

func (j *job) write(file string) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// A command is a line to a worker. The fields that matter depend on Do.
type command struct {
	Do       string  `json:"do"`
	Sentence int     `json:"sentence"`
	Seconds  float64 `json:"seconds,omitempty"`
	Steps    int     `json:"steps,omitempty"`
	// slot: of Steps, infill only, not in Prob and Energy. Gradients: before Steps
	Warm    int    `json:"warm,omitempty"`
	File    string `json:"file,omitempty"`
	Threads int    `json:"threads,omitempty"`
	Trace   bool   `json:"trace,omitempty"` // slot: the states are wanted too; PyTorch only
}

// A slot is what a worker did in its turn.
type slot struct {
	Steps  int     `json:"steps"`
	Wall   float64 `json:"wall"`             // seconds
	CPU    float64 `json:"cpu"`              // seconds, user and system
	Moved  int     `json:"moved,omitempty"`  // proposals that differed from the state; PyTorch only
	States float64 `json:"states,omitempty"` // states evaluated; infill only
	Tokens int64   `json:"tokens,omitempty"` // tokens (rows × padded length) evaluated; infill only
	// mean probability of accepting (infill: share accepted or unmoved) of every chain
	Prob   []float64 `json:"prob"`
	Energy []float64 `json:"energy"` // mean U of every chain
	// the states, if they were wanted; PyTorch only
	Trace *chains.Trace `json:"trace,omitempty"`
}
