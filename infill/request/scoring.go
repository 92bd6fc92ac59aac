package request

import "infill/internal/nearest"

// Scoring names the score that ranks fillings. Scores are sums of log f(token | a context) over the
// tokens of all blanks, in nats. They differ in the other filled tokens that the context shows.
type Scoring int

const (
	// ScoreBlended is ½U + ¼L + ¼R. U is the pseudo-log-likelihood. L is the chain rule from the
	// left, where a token sees the filled ones before it and masks in place of those after it, and R
	// is that from the right. U alone likes words that only support each other, and gives the later
	// pieces of a word for nothing (Kauf and Ivanova, "A better way to do masked language model
	// scoring", ACL 2023). Blanks of open lengths add Parts.Length to it.
	ScoreBlended Scoring = iota
	// ScorePLL is U, the pseudo-log-likelihood (Salazar et al., "Masked language model scoring", ACL
	// 2020): a token sees all others.
	ScorePLL
	// ScoreWithinWord is U with the later pieces of the same word masked too: PLL-word-l2r of Kauf
	// and Ivanova. It is for whole texts, see Engine.Score.
	ScoreWithinWord
)

// Names lists the words for the values of Scoring, in their order.
func (Scoring) Names() []string { return []string{"blended", "pll", "within-word"} }

// String returns the word of Names.
func (s Scoring) String() string { return nearest.Of(s.Names(), "scoring", s) }

// The weights of ScoreBlended.
const (
	blendU    = 0.5
	blendSide = 0.25
)

// Parts are the sums that a score is made of, in nats.
type Parts struct {
	PLL   float64 `json:"pll"`   // U
	Left  float64 `json:"left"`  // L, the chain rule from the left
	Right float64 `json:"right"` // R, the chain rule from the right
	// Length is, where a blank's number of pieces n is open, log P(n | text) + ¾·n, summed over the
	// blanks. Otherwise it is 0.
	Length float64 `json:"length,omitempty"`

	// Finished says that these are of the finished text, as the tokenizer cuts it.
	Finished bool `json:"-"`
}

// Of is the score of parts.
func (s Scoring) Of(p Parts) float64 {
	if s == ScoreBlended {
		return blendU*p.PLL + blendSide*(p.Left+p.Right) + p.Length
	}
	return p.PLL
}
