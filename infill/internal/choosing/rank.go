package choosing

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/infill/text"
	"infill/mlm"
)

// diversityWeight is λ of ResultOptions.Diverse, in nats per token. The first filling
// is the best; each further one maximises
//
//	score / n − λ · (largest overlap with a filling already chosen)
//
// where n is the number of tokens of the best filling, or of each itself where fillings are ranked
// per token, and the overlap of two fillings is the number of tokens they share (with
// multiplicity) over the number of tokens of the longer one, from 0 to 1. This
// is maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) with
// shared tokens for similarity: a filling that repeats all tokens of another
// has to be λ nats per token better than one that repeats none.
const diversityWeight = 2.0

// A Chooser makes the result of a task of the fillings that were found.
type Chooser struct {
	*target.Task
	Sieve *Sieve // by the text before words were masked; nil: it is not known
	twice func(text string, spans [][2]int) bool
}

// New is the chooser of a task. score scores the words that stood in its blanks.
func New(p *target.Task, score func(text string, spans [][2]int) (*float64, error)) (*Chooser,
	error) {
	s, err := newSieve(p.Template, p.Opt, score)
	c := &Chooser{Task: p, Sieve: s}
	if w := &p.Opt.Words; w.NoRepeat == text.RepeatBlanks {
		c.twice = p.Template.Twice(w.Function)
	}
	return c, err
}

// Twice reports whether a filling has a word again that text.RepeatBlanks allows once.
func (p *Chooser) Twice(f *request.Filling) bool {
	return p.twice != nil && p.twice(f.Text, f.Spans)
}

// errTwice is why fillings have a word twice in spite of text.RepeatBlanks.
var errTwice = errors.New("every filling that was found has a word in two blanks")

// WarnTwice warns that every filling has a word twice.
func WarnTwice(r *request.Result) { r.Warnings = append(r.Warnings, errTwice) }

// NewResult is a result without fillings.
func (p *Chooser) NewResult() *request.Result {
	res := &request.Result{MoveShare: math.NaN(), Acceptance: math.NaN(), PerToken: p.PerToken,
		Lengths: p.LengthsFrom}
	if p.Sieve != nil {
		res.OriginalScore = p.Sieve.score
	}
	if p.Template.Window != [2]int{0, len(p.Template.Text)} {
		w := p.Template.Window
		res.Window = &w
	}
	return res
}

// Choose keeps the fillings that Options.Results.Top and Options.Results.Diverse ask for, in the
// order of rank.
func (p *Chooser) Choose(res *request.Result, rank func([]request.Filling)) {
	rank(res.Fillings)
	if n := p.Opt.Results.Top; !p.Opt.Results.All && len(res.Fillings) > n {
		if p.Opt.Results.Diverse {
			res.Fillings = diverse(res.Fillings, n, p.PerToken)
			rank(res.Fillings)
		}
		res.Fillings = res.Fillings[:n]
	}
	for i := range res.Fillings {
		res.Fillings[i].Recut = target.Recut(p.Whole, p.Base.Tokenizer(), &res.Fillings[i])
	}
}

// WarnRefused warns of n things whose energy or gradient is not a number.
func WarnRefused(r *request.Result, n int, what string) {
	if n > 0 {
		r.Warnings = append(r.Warnings, fmt.Errorf("%d %s were refused: %w", n, what, mlm.ErrNotFinite))
	}
}

// rank sorts fillings, best first.
func rank(f []request.Filling, perToken bool) {
	sort.SliceStable(f, func(a, b int) bool {
		if perToken {
			return f[a].ScorePerToken > f[b].ScorePerToken
		}
		return f[a].Score > f[b].Score
	})
}

// Chosen are the fillings of a result in the order in which they were chosen, diverse as
// ResultOptions.Diverse has them.
func Chosen(r *request.Result, different bool) []request.Filling {
	if different {
		return diverse(r.Fillings, len(r.Fillings), r.PerToken)
	}
	return r.Fillings
}

// diverse chooses n of the ranked fillings as DiversityWeight says; of equals
// the better ranked goes first.
func diverse(f []request.Filling, n int, perToken bool) []request.Filling {
	if n == 0 {
		return nil
	}
	overlap := make([]float64, len(f)) // largest with a chosen one
	used := make([]bool, len(f))
	var out []request.Filling
	length := float64(len(f[0].IDs))
	value := func(f *request.Filling) float64 {
		if perToken {
			return f.ScorePerToken
		}
		return f.Score / length
	}
	for len(out) < n {
		best, bestV := -1, 0.0
		for i := range f {
			v := value(&f[i]) - diversityWeight*overlap[i]
			if !used[i] && (best < 0 || v > bestV) {
				best, bestV = i, v
			}
		}
		used[best] = true
		out = append(out, f[best])
		for i := range f {
			overlap[i] = max(overlap[i], shared(f[i].IDs, f[best].IDs))
		}
	}
	return out
}

// shared is the overlap of two bags of tokens.
func shared(a, b []int32) float64 {
	count := map[int32]int{}
	for _, id := range a {
		count[id]++
	}
	n := 0
	for _, id := range b {
		if count[id] > 0 {
			count[id]--
			n++
		}
	}
	return float64(n) / float64(max(len(a), len(b)))
}
