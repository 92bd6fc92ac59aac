package protocols

// A key names a run.
type key struct {
	Model    string  `json:"model"`
	Data     string  `json:"data"`                // names of the files of sentences
	MaskRate float64 `json:"mask_rate,omitempty"` // share of the words that are blank; 0: as given
	Vocab    string  `json:"vocab,omitempty"`     // what may fill a blank, as -vocab; empty: words
	// Precision is the precision of the chains: empty for fp32, or bf16, which earlier builds had.
	// Scores are in fp32 in any case.
	Precision string `json:"precision,omitempty"`
	Protocol  string `json:"protocol"`
	Budget    string `json:"budget"`
	Steps     int    `json:"steps"`
	Of        int    `json:"of,omitempty"` // steps that the chains made, if more than Steps
	Chains    int    `json:"chains"`
	Sampler   string `json:"sampler"`
	Sentence  string `json:"sentence"`
	Seed      uint64 `json:"seed"`
}

// A state is a text that chains ended in.
type state struct {
	Text  string  `json:"text"`
	Score float64 `json:"score"` // U in nats
	Count int     `json:"count"` // how many ended there
}

// A record is what came of a run.
type record struct {
	key
	Blanks int    `json:"blanks"`
	Gold   string `json:"gold,omitempty"`
	// Seconds is the time of the processor, all threads together. Where another run of the same chain
	// saved the work, they are this run's share of that run's seconds.
	Seconds float64 `json:"cpu_seconds"`
	Evals   int     `json:"evaluations"`
	Rows    int     `json:"rows"`
	Made    int     `json:"made_steps"` // of every chain
	Moves   float64 `json:"moves"`      // share of steps after the burn-in that proposed a move
	// RHat is the rank-normalised R-hat of U over the second half of the steps; 0: not measured.
	RHat   float64 `json:"rhat,omitempty"`
	States []state `json:"states"` // best first
}
