package jsonl

import (
	"encoding/json"
	"fmt"

	"infill/infill"
	"infill/infill/text"
)

// A Record is the outcome of one text: a [*Filled], a [*Scored], a [*Ranked] or a [*Failed]. Their
// fields stand in the order of the wire.
type Record interface {
	Of() *Item   // the first members of every record
	By() *Origin // the last members of every record
	// wrong is the first member whose value makes no sense beside others, and why.
	wrong() (field, reason string)
}

// An Item is the part of a record that says which text it is of.
type Item struct {
	// ID is the id of the user's line, a JSON string or number; nil for none.
	ID json.RawMessage `json:"id,omitempty"`
	// Line is the number of the line in its input, from 1; 0 where not known.
	Line int `json:"line"`
	// Text is the text with its blanks; of a line that failed, what it had.
	Text string `json:"text,omitempty"`
	// Gold is the text before words were masked. Without Masked it is the user's field of this name.
	Gold string `json:"gold,omitempty"`
}

// Of is the item itself.
func (it *Item) Of() *Item { return it }

// An Origin says where a record comes from, and has the end of every record.
type Origin struct {
	// TextField is the name that Text has in the user's line, and keeps in the record. "" is "text",
	// and so is a name that records use for something else.
	TextField string `json:"text_field,omitempty"`
	// Model is "sha256:" and the hash of the model, Version the program's.
	Model   string `json:"model,omitempty"`
	Version string `json:"version,omitempty"`
	// Left says why the text was left as it is: "null", "empty", "labels" on all of its words, or
	// "words": it has none of those to be masked.
	Left string `json:"left,omitempty"`
	// Source is what the text came from, where that is a form of another tool.
	Source *Source `json:"labelled_source,omitempty"`
	// Error says why there is no result, or none but unfinished work; nil if there is one.
	Error *Failure `json:"error,omitempty"`
	// Fields are the fields of the user's line that go with the record. Those whose names records use
	// themselves are written into one object, the member input_fields.
	Fields []Field `json:"-"`
}

// By is the origin itself.
func (o *Origin) By() *Origin { return o }

// A Machine is the computer's part in a record. Device is what evaluated the model, such as
// "cuda", and Precision is "fp16" or "int8" if the search for fillings used it. Records without
// Device are of "cpu".
type Machine struct {
	Device    string `json:"device,omitempty"`
	Precision string `json:"precision,omitempty"`
}

// A Filled is the record of a text whose blanks were filled.
type Filled struct {
	Item
	// Masked are the words of Gold that were masked.
	Masked []string `json:"masked,omitempty"`
	// OriginalScore is the score of Masked in the blanks, in nats; nil where it was not asked for.
	OriginalScore *float64 `json:"original_score,omitempty"`
	// Doubts are what may be wrong with the text, worked on all the same.
	Doubts []text.Doubt `json:"doubts,omitempty"`
	// Shown is what the model saw behind Text, a full stop, when it found and scored the fillings; ""
	// for nothing. It is not part of them.
	Shown string `json:"shown,omitempty"`
	// Window is the part of Text that the model saw, in bytes; nil means all.
	Window *Span `json:"window,omitempty"`
	// Groups are the numbers of blanks that were filled together, from the left, of a text whose
	// blanks lie too far apart for the model to see all at once; nil means all were.
	Groups []int `json:"groups,omitempty"`
	// Best is the text of the first of Fillings.
	Best string `json:"filled,omitempty"`
	// Fillings are the best fillings, best first.
	Fillings []Filling `json:"fillings,omitempty"`
	// Ranks are the places of words that were asked for, nil where nobody did.
	Ranks []infill.WordRank `json:"ranks,omitempty"`
	// Scoring is what the scores are: "blended", "pll" or "within-word". Records without it are of
	// earlier programs, which had "pll".
	Scoring string `json:"scoring,omitempty"`
	// Lengths says of blanks of open lengths how the part of scores for the length is known: "learned"
	// from this text, or "constant" for all texts. It is "" where scores have no such part.
	Lengths string `json:"lengths,omitempty"`
	// LookedAt is the share of all fillings of a single blank of open length that a search looked at,
	// at least. It is 0 for other texts.
	LookedAt float64 `json:"looked_at,omitempty"`
	// Method says how fillings were found, "search", "exact" or "sample". Ended says why they
	// are the best of unfinished work: "rows" at a search's bound of rows, "stopped" by a signal or a
	// deadline.
	Method string `json:"method,omitempty"`
	Ended  string `json:"ended,omitempty"`
	// Exact says that the fillings were computed and not sampled: they are the
	// likeliest of all, with their probabilities.
	Exact bool `json:"exact,omitempty"`
	// Rounds is the number of times that words were masked and filled to find the variants of a text,
	// 0 for other records. Missing is how many variants fewer there are than were asked for.
	Rounds  int `json:"rounds,omitempty"`
	Missing int `json:"missing,omitempty"`
	// Sampler, Steps and Chains are of a text whose fillings were drawn. Seed decided what was drawn,
	// or which words were masked.
	Sampler string  `json:"sampler,omitempty"`
	Seed    *uint64 `json:"seed,omitempty"`
	Steps   int     `json:"steps,omitempty"`
	Chains  int     `json:"chains,omitempty"`
	// Distinct is the number of different fillings among the states that Collect names, or of an exact
	// record that fit.
	Distinct int `json:"distinct,omitempty"`
	// Start says where chains began: "argmax", "original", "random" or "given". Records without it are
	// exact, or their chains began with draws of what the model says with all blanks masked.
	Start string `json:"start,omitempty"`
	// Collect says which states are the fillings: "visited", "last" or "chain". Records without it
	// are exact, or of earlier programs, which had "last".
	Collect string `json:"collect,omitempty"`
	Machine
	// Marginals are probabilities of words and texts, nil where nobody asked for them.
	Marginals *infill.Marginals `json:"marginals,omitempty"`
	// MoveShare is the share of steps after the burn-in that proposed another state, Acceptance
	// that of accepted ones among these proposals, both in [0,1]; nil without any. Records without
	// MoveShare are of earlier programs, whose Acceptance counts proposals of the state itself too.
	MoveShare  *float64 `json:"move_share,omitempty"`
	Acceptance *float64 `json:"acceptance,omitempty"`
	// StepSize and Tuned are what the sampler adapted, means over the chains.
	StepSize float64            `json:"step_size,omitempty"`
	Tuned    map[string]float64 `json:"tuned,omitempty"`
	// Shortlist is the number of candidates of a blank; 0 means no bound.
	Shortlist int `json:"shortlist,omitempty"`
	// Zero and NonFinite count the states that the sampler looked at and
	// refused: a constraint forbids them, or their energy is not a number.
	Zero      int `json:"zero_states,omitempty"`
	NonFinite int `json:"non_finite_states,omitempty"`
	// Rows is the number of sequences that the sampler asked the model about, without those of the
	// start and of the ranking. Repeated counts those among them that it had asked about before, so
	// that nothing had to be computed.
	Rows     int `json:"model_rows,omitempty"`
	Repeated int `json:"repeated_rows,omitempty"`
	Origin
}

// A Scored is the record of a text that was scored.
type Scored struct {
	Item
	Doubts []text.Doubt `json:"doubts,omitempty"` // as in Filled
	// Windows is the number of parts of the text that the model saw, each piece in the one with
	// the most context on both sides; 0 means all at once.
	Windows int `json:"windows,omitempty"`
	// Score is what Scoring says of the text in nats, ScorePerToken its mean over the pieces.
	Score         *float64 `json:"score,omitempty"`
	ScorePerToken *float64 `json:"score_per_token,omitempty"`
	// Energies are the parts of Score by name, weights included, nil without such.
	Energies map[string]float64 `json:"energies,omitempty"`
	// Pair is the text that Text was compared with. Difference is the score of Text less that of
	// Pair. Both are nil where nothing was compared.
	Pair       *Pair    `json:"pair,omitempty"`
	Difference *float64 `json:"difference,omitempty"`
	// Pieces are the scores of the word pieces, in the order of the text.
	Pieces []Piece `json:"pieces,omitempty"`
	// Words are the scores of the words, and Regions those of the labelled spans of the input's line.
	Words   []Word `json:"words,omitempty"`
	Regions []Word `json:"regions,omitempty"`
	Scoring string `json:"scoring,omitempty"` // as in Filled
	Machine
	Origin
}

// A Ranked is the record of a text with ranked candidates for its blank.
type Ranked struct {
	Item
	Doubts []text.Doubt `json:"doubts,omitempty"` // as in Filled
	// Difference is the score of the candidate that was listed first less that of the best of the
	// others; nil for a single one.
	Difference *float64 `json:"difference,omitempty"`
	// Candidates are those for the blank, best first. Their Pieces are nil where they are spelt as
	// Tokens are.
	Candidates []infill.Candidate `json:"candidates,omitempty"`
	Scoring    string             `json:"scoring,omitempty"` // as in Filled
	Machine
	Origin
}

// A Failed is the record of a text that an error befell, which Origin has.
type Failed struct {
	Item
	Origin
}

// A Filling is one way to fill the blanks of a text.
type Filling struct {
	Text string `json:"text"`
	// Tokens are the words in the model's spelling, one string for every blank.
	Tokens []string `json:"tokens"`
	// Pieces are the model's pieces in the blanks, with spaces between, and the marks of the
	// vocabulary (##, Ġ, ▁). They are nil where they are spelt as Tokens are.
	Pieces []string `json:"pieces,omitempty"`
	// Spans are the places of the fillings in Text, one for every blank.
	Spans []Span `json:"spans"`
	// Score is what Filled.Scoring says of the pieces in nats, with further parts of the energy
	// where there are Energies, ScorePerToken the same over their number; nil where not known.
	Score         *float64 `json:"score"`
	ScorePerToken *float64 `json:"score_per_token"`
	// Parts are what a blended score is made of; nil for others.
	Parts *infill.Parts `json:"parts,omitempty"`
	// Energies are the parts of Score by name, weights included, nil where the model's is the
	// only one, which is called "model". They sum to Score.
	Energies map[string]float64 `json:"energies,omitempty"`
	// Recut says that the tokenizer cuts the finished text into other pieces than
	// Tokens, so that its score is another one.
	Recut bool `json:"recut,omitempty"`
	// Edits is the edit distance of Text from the text before words were masked, in characters and
	// without regard to case; nil where none were.
	Edits *int `json:"edits,omitempty"`
	// Masks is the number of places that were masked, and Changed that of those with another word
	// than before, case apart; nil where none were.
	Masks   *int `json:"masked_places,omitempty"`
	Changed *int `json:"changed_places,omitempty"`
	// Similarity is the cosine of the vectors of Text and of the text before, by a sentence encoder:
	// −1 to 1; nil without one.
	Similarity *float64 `json:"similarity,omitempty"`
	// Round to Moved describe a variant: the round in which it was found, from 0, the groups in which
	// it was filled, the text with blanks, the words that stood in them, their score as in Filled, and
	// the fields of the input that say where something stands in the text.
	Round         int             `json:"round,omitempty"`
	Groups        []int           `json:"groups,omitempty"`
	Blanked       string          `json:"blanked,omitempty"`
	Masked        []string        `json:"masked,omitempty"`
	OriginalScore *float64        `json:"original_score,omitempty"`
	Moved         json.RawMessage `json:"moved_fields,omitempty"`
	// Labelled is the text with its labels in the form of the source.
	Labelled string `json:"labelled,omitempty"`
	// Probability is exp(Score/T) over the sum for all fillings that fit, at
	// temperature T: from 0 to 1. It is nil where not known, as after sampling.
	Probability *float64 `json:"probability,omitempty"`
	// Chain is the first chain, from 0, whose state this was, and Step the step at which it was. Count
	// is the number of chains that ended here, of "visited" states that of the chains that evaluated
	// it, along "chain" the number of states. All are 0 without chains.
	Chain int `json:"chain"`
	Step  int `json:"step"`
	Count int `json:"count"`
}

// A Piece is the score of one word piece.
type Piece struct {
	Piece string `json:"piece"`
	ID    int32  `json:"id"`
	Span  Span   `json:"span"`
	// LogProb is log f(piece | the rest, this piece masked) in nats.
	LogProb float64 `json:"log_prob"`
}

// A Source is the part of a labelled file that a text came from: Body, with what stands before and
// after it. All sources one after the other are the file. Between stands between several bodies.
type Source struct {
	Before  string `json:"before,omitempty"`
	Body    string `json:"body"`
	Between string `json:"between"`
	After   string `json:"after,omitempty"`
	// More says that the next record is of another text in the same body.
	More bool `json:"more,omitempty"`
}

// A Pair is a text that another one was compared with. Shared is the number of pieces that both
// have, where the scores are sums over these only.
type Pair struct {
	Text   string  `json:"text"`
	Score  float64 `json:"score"`
	Shared int     `json:"shared_pieces,omitempty"`
}

// A Word is the score of a word or of a region of the text.
type Word struct {
	Word  string `json:"word"`
	Label string `json:"label,omitempty"` // of a region
	// Start and End are bytes of the text, StartChar and EndChar the same in characters, the ends
	// excluded.
	Start     int `json:"start"`
	End       int `json:"end"`
	StartChar int `json:"start_char"`
	EndChar   int `json:"end_char"`
	// Pieces are what the vocabulary makes of it, with spaces between.
	Pieces string `json:"pieces"`
	// Surprisal is −Score in bits. Score is the sum over the pieces in nats, each masked with the
	// later ones of its word. Both are nil for a word without a piece of its own.
	Surprisal *float64 `json:"surprisal_bits"`
	Score     *float64 `json:"score"`
}

// A Failure is the error of a record. Code is one of those of [Code].
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// A Span is a range of bytes of a text, its end excluded.
type Span [2]int

// UnmarshalJSON takes exactly two ascending whole numbers from 0.
func (s *Span) UnmarshalJSON(b []byte) error {
	var ends []int
	if err := json.Unmarshal(b, &ends); err != nil {
		return err
	}
	if len(ends) != 2 || ends[0] < 0 || ends[1] < ends[0] {
		return fmt.Errorf("%s is not a span: want two ascending numbers of bytes", b)
	}
	*s = Span(ends)
	return nil
}

// DoubtsOf are the doubts about the text of a record.
func DoubtsOf(r Record) []text.Doubt {
	switch r := r.(type) {
	case *Filled:
		return r.Doubts
	case *Scored:
		return r.Doubts
	case *Ranked:
		return r.Doubts
	}
	return nil
}
