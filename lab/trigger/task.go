package trigger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"infill/mlm"
	"infill/tokenize"
)

// Places of a template.
const (
	TriggerPlace = "{trigger}"
	TextPlace    = "{text}"
	MaskPlace    = "[MASK]"
)

// DefaultTemplate is the template of [Options] that have none.
const DefaultTemplate = "{trigger} {text} It was [MASK]."

// Errors that callers branch on. Others come from Read, package mlm or the context.
var (
	// ErrTemplate: the template lacks a place or has one twice.
	ErrTemplate = errors.New("bad template")
	// ErrLabels: the labels or their words cannot be used.
	ErrLabels = errors.New("bad labels")
	// ErrOption: an option is out of range.
	ErrOption = errors.New("bad option")
)

// A WordError is a label whose word cannot be said, since it is not one of the vocabulary. Another
// word for the label helps. It wraps ErrLabels.
type WordError struct{ Label, Word string }

// Error says what is wrong and what helps.
func (e *WordError) Error() string {
	return fmt.Sprintf("%v: %q, for the label %q, is not one word of the model's vocabulary; give "+
		"another", ErrLabels, e.Word, e.Label)
}

// Unwrap returns the sentinel.
func (e *WordError) Unwrap() error { return ErrLabels }

// A row is a text in the template, as token ids.
type row struct {
	ids    []int32
	blanks []int // positions of the trigger, ascending
	ask    int   // position of the mask
	label  int
}

// A task is what is tuned for: the sentences of some labels, and the words of these.
type task struct {
	model  *mlm.Model
	tok    *tokenize.Tokenizer
	labels []string
	words  []int32 // of each label
	kind   Objective
	cut    int // texts that were shortened
}

// wordsOf finds the word of every label among the whole words of the vocabulary.
func (t *task) wordsOf(verbalizer map[string]string) error {
	ids := map[string]int32{}
	for _, id := range t.tok.WholeWords() {
		text, _ := t.tok.Surface(id)
		ids[text] = id
	}
	for label := range verbalizer {
		if !slices.Contains(t.labels, label) {
			return fmt.Errorf("%w: a word is given for %q, which no text has; the labels are %q",
				ErrLabels, label, t.labels)
		}
	}
	if len(t.labels) < 2 {
		return fmt.Errorf("%w: all texts have the label %q; two are needed", ErrLabels, t.labels[0])
	}
	for _, label := range t.labels {
		word, ok := verbalizer[label]
		if !ok {
			word = label
		}
		if t.tok.Lowercase() {
			word = strings.ToLower(word)
		}
		id, ok := ids[word]
		if !ok {
			return &WordError{Label: label, Word: word}
		}
		if n := slices.Index(t.words, id); n >= 0 {
			return fmt.Errorf("%w: %q and %q have the same word, %q", ErrLabels, t.labels[n], label, word)
		}
		t.words = append(t.words, id)
	}
	return nil
}

// parts cuts a template at its places.
func parts(template string) error {
	for _, place := range []string{TriggerPlace, TextPlace, MaskPlace} {
		if n := strings.Count(template, place); n != 1 {
			return fmt.Errorf("%w: %q has %s %d times, wanted is once", ErrTemplate, template, place, n)
		}
	}
	return nil
}

// rows puts the texts into the template, with k masks in the place of the trigger. Without any
// its place goes, with the space behind it.
func (t *task) rows(template string, examples []Example, k, most int) ([]row, error) {
	mask := t.tok.Token(t.tok.MaskID())
	if k == 0 {
		for _, place := range []string{TriggerPlace + " ", " " + TriggerPlace, TriggerPlace} {
			template = strings.Replace(template, place, "", 1)
		}
	}
	triggers := strings.TrimSuffix(strings.Repeat(mask+" ", k), " ")
	t.cut = 0
	out := make([]row, len(examples))
	for n, e := range examples {
		text, err := t.shortened(e.Text, most)
		if err != nil {
			return nil, fmt.Errorf("the text of line %d: %w", e.Line, err)
		}
		// The places are found by their bytes: a text may itself have masks.
		var whole strings.Builder
		var at []int // of the masks of the trigger
		ask := 0
		for rest := template; rest != ""; {
			switch {
			case strings.HasPrefix(rest, TriggerPlace):
				for i := range k {
					at = append(at, whole.Len()+i*(len(mask)+1))
				}
				whole.WriteString(triggers)
				rest = rest[len(TriggerPlace):]
			case strings.HasPrefix(rest, TextPlace):
				whole.WriteString(text)
				rest = rest[len(TextPlace):]
			case strings.HasPrefix(rest, MaskPlace):
				ask = whole.Len()
				whole.WriteString(mask)
				rest = rest[len(MaskPlace):]
			default:
				whole.WriteByte(rest[0])
				rest = rest[1:]
			}
		}
		enc, err := t.tok.EncodeBlanks(whole.String())
		if err != nil {
			return nil, fmt.Errorf("the text of line %d: %w", e.Line, err)
		}
		r := row{ids: enc.IDs, ask: -1, label: slices.Index(t.labels, e.Label)}
		for i, id := range enc.IDs {
			if id != t.tok.MaskID() {
				continue
			}
			if enc.Spans[i][0] == ask {
				r.ask = i
			} else if slices.Contains(at, enc.Spans[i][0]) {
				r.blanks = append(r.blanks, i)
			}
		}
		if limit := t.model.MaxLength(); limit > 0 && len(r.ids) > limit {
			return nil, fmt.Errorf("%w: line %d has %d pieces in the template, the model takes %d",
				ErrOption, e.Line, len(r.ids), limit)
		}
		if r.ask < 0 || len(r.blanks) != k {
			return nil, fmt.Errorf("%w: %q does not keep its masks apart from what is beside them",
				ErrTemplate, template)
		}
		out[n] = r
	}
	return out, nil
}

// shortened is a text cut to most pieces.
func (t *task) shortened(text string, most int) (string, error) {
	enc, err := t.tok.Pieces(text)
	if err != nil || len(enc.IDs) <= most {
		return text, err
	}
	t.cut++
	return text[:enc.Spans[most-1][1]], nil
}

// value is the objective and its derivative by each label's log-probability.
func (t *task) value(logp []float64, label int) (v float64, d []float64) {
	d = make([]float64, len(logp))
	d[label] = 1
	if t.kind == Word {
		return logp[label], d
	}
	lse := logSum(logp)
	for c, l := range logp {
		d[c] -= math.Exp(l - lse)
	}
	return logp[label] - lse, d
}

func logSum(x []float64) float64 {
	top := slices.Max(x)
	s := 0.0
	for _, v := range x {
		s += math.Exp(v - top)
	}
	return top + math.Log(s)
}

// atOnce is how many rows are asked about at the same time, so that they share batches.
const atOnce = 64

// evaluate scores rows with a trigger of tokens.
func (t *task) evaluate(ctx context.Context, rows []row, trigger []int32) (Measure, error) {
	found := make([][]float64, len(rows))
	errs := make([]error, len(rows))
	var all sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for n := range rows {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			found[n], errs[n] = t.logProbs(ctx, &rows[n], trigger)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return Measure{}, err
	}
	return t.measure(rows, found), nil
}

// logProbs is log f of the labels' words.
func (t *task) logProbs(ctx context.Context, r *row, trigger []int32) ([]float64, error) {
	s := &mlm.Sentence{IDs: slices.Clone(r.ids), Blanks: []int{r.ask}}
	for j, at := range r.blanks {
		s.IDs[at] = trigger[j]
	}
	states, which := make([][]int32, len(t.words)), make([]int, len(t.words))
	for c, w := range t.words {
		states[c] = []int32{w}
	}
	lp := make([]float32, len(t.words))
	if err := t.model.TokenLogProb(ctx, s, states, which, lp); err != nil {
		return nil, err
	}
	out := make([]float64, len(lp))
	for c, v := range lp {
		out[c] = float64(v)
	}
	return out, nil
}

// measure sums up rows by the log-probabilities of the labels' words.
func (t *task) measure(rows []row, found [][]float64) Measure {
	m := Measure{Sentences: len(rows)}
	right := 0
	for n, lp := range found {
		v, _ := t.value(lp, rows[n].label)
		m.Objective += v / float64(len(rows))
		best := 0
		for c := range lp {
			if lp[c] > lp[best] {
				best = c
			}
		}
		if best == rows[n].label {
			right++
		}
	}
	m.Accuracy = float64(right) / float64(len(rows))
	m.SE = math.Sqrt(m.Accuracy * (1 - m.Accuracy) / float64(len(rows)))
	return m
}
