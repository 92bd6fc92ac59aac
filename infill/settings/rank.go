package settings

import (
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strings"

	"infill/infill"
)

// Ranking is how texts are scored, and candidates for a blank ranked.
type Ranking struct {
	Options    infill.CandidateOptions
	Candidates []string // nil: those that the blank lists
	// Score is what texts and candidates are scored by; nil: pll for texts, blended for candidates.
	Score *infill.Scoring
	Energies
	// Pairs are the fields, or columns, of two texts whose scores are compared, the likelier first;
	// nil where single texts are scored. Shared compares by the words that both have.
	Pairs     []string
	Shared    bool
	Words     bool     // records say what each word scores, and each labelled span
	WordParts bool     // words with marks inside, such as didn't, are their parts
	Weight    *float64 // of the score beside the total of a line of an n-best list; nil: 1
	// Offsets are what offsets count: "characters", "utf16", "bytes", "off", or "" as they fit.
	Offsets string
}

// RankTable lists the settings of a [Ranking] in the order of help and documents.
func RankTable() Table[Ranking] { return slices.Clone(rankTable) }

var rankTable = Table[Ranking]{
	{
		Name: "candidates", Doc: "words or phrases to rank for the blank of the text", Arg: "WORDS",
		Line: true, record: true, bind: func(v *Ranking) *Value { return candidatesValue(&v.Candidates) },
	},
	{
		Name: "energy", Line: true, record: true, Arg: "PART=WEIGHT",
		Doc:  "parts to add to the score, with their weights",
		bind: func(v *Ranking) *Value { return partsValue(&v.Energy) }, form: (*Ranking).energyRecorded,
	},
	{
		Name: "score", Line: true, record: true, field: "scoring",
		Doc: "pll: each piece beside all others; within-word: without the later pieces of its word; " +
			"blended: in the order of the text, too. Unset: pll for texts, blended for candidates",
		bind: func(v *Ranking) *Value { return scoreValue(&v.Score) },
	},
	{
		Name: "pairs", Arg: "GOOD,BAD", record: true,
		Doc:  "compare two columns, or fields, of each line: the text that should be likelier, the other",
		bind: func(v *Ranking) *Value { return pairsValue(&v.Pairs) },
	},
	{
		Name: "shared", record: true, Doc: "compare pairs by the words that both texts have",
		bind: func(v *Ranking) *Value { return boolValue(&v.Shared) },
	},
	{
		Name: "words", Line: true, record: true,
		Doc:  "say what each word scores: its pieces, each masked together with the later ones",
		bind: func(v *Ranking) *Value { return boolValue(&v.Words) },
	},
	{
		Name: "word-parts", Line: true, record: true,
		Doc:  "words with marks inside, such as didn't and 10:30, as their parts",
		bind: func(v *Ranking) *Value { return boolValue(&v.WordParts) },
	},
	{
		Name: "weight", Doc: "of the score beside the total of a line of an n-best list; unset: 1",
		bind: func(v *Ranking) *Value { return optionalNumber(&v.Weight, math.MaxFloat64) },
	},
	{
		Name: "offsets", Line: true, record: true, field: "span_offsets", Doc: offsetsDoc,
		bind: func(v *Ranking) *Value { return offsetsValue(&v.Offsets) },
	},
	{
		Name: "normalize", record: true,
		Doc:  "candidates are ranked by the sum over their pieces: none; or by the mean: tokens",
		bind: func(v *Ranking) *Value { return eitherValue(&v.Options.PerToken, "none", "tokens") },
	},
	{
		Name: "case", record: true, Doc: "auto: with the capitals of English text; model: as given",
		bind: func(v *Ranking) *Value { return eitherValue(&v.Options.AsModel, "auto", "model") },
	},
	{
		Name: "long", record: true,
		Doc: "texts longer than the model takes: window: it sees the part around the blank, or " +
			"around each piece of a text to score; error: refuse",
		bind: func(v *Ranking) *Value { return eitherValue(&v.Options.RefuseLong, "window", "error") },
	},
}

// ScoredBy is the score of texts, or of candidates for a blank.
func (v *Ranking) ScoredBy(candidates bool) infill.Scoring {
	switch {
	case v.Score != nil:
		return *v.Score
	case candidates:
		return infill.ScoreBlended
	}
	return infill.ScorePLL
}

// scoreValue is the name of a score, or none.
func scoreValue(p **infill.Scoring) *Value {
	get := func() string {
		if *p == nil {
			return ""
		}
		return (*p).String()
	}
	return choice(infill.ScorePLL.Names(), get, func(i int) {
		s := infill.Scoring(i)
		*p = &s
	})
}

// pairsValue is two different names.
func pairsValue(p *[]string) *Value {
	v := wordsValue(p).refusing(func(s string) bool {
		a, b, two := strings.Cut(s, ",")
		return s != "" && (!two || a == "" || b == "" || a == b || strings.Contains(b, ","))
	})
	v.want = "the names of two columns, such as good,bad"
	return v
}

// candidatesValue is a list without empty words: who left one out by mistake would get a ranking
// that has fewer candidates than the list has places.
func candidatesValue(p *[]string) *Value {
	empty := func(w string) bool { return strings.TrimSpace(w) == "" }
	v := wordsValue(p).refusing(func(s string) bool {
		return !empty(s) && slices.ContainsFunc(strings.Split(s, ","), empty)
	})
	v.want += ", none of them empty"
	return v
}

// ForLine is the ranking of one line: v with the settings among the line's JSON fields. v is not
// changed. The error is an [*Error].
func (v Ranking) ForLine(fields iter.Seq2[string, json.RawMessage]) (Ranking, error) {
	err := rankTable.choose(&v, fields)
	return v, err
}
