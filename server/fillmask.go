package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/internal/gate"
	"infill/mlm"
	"infill/tokenize"
)

// A maskItem is one answer of that task.
type maskItem struct {
	Score    float64 `json:"score"`
	Token    int32   `json:"token"`
	TokenStr string  `json:"token_str"`
	Sequence string  `json:"sequence"`
	// Tokens are the ids of a joint filling, of all blanks.
	Tokens []int32 `json:"tokens,omitempty"`
}

// maxAnswer is about how many bytes an answer of that task may have, over all texts. Each answer
// has the whole text again, so that a small request could ask for more than the memory holds. Ten
// answers for each of 50 blanks of 32 texts of 2000 bytes have half of it.
const maxAnswer = 64 << 20

// itemBytes is what an answer has beside its text, about.
const itemBytes = 100

// fillMask answers POST / and POST /models/{id} as the pipeline of Hugging Face's library does.
func (s *Server) fillMask(w http.ResponseWriter, r *http.Request) error {
	body, err := s.readBody(w, r)
	if err != nil {
		return err
	}
	q, err := decodeMask(body)
	if err != nil {
		return err
	}
	name := cmp.Or(r.PathValue("id"), q.model)
	if q.model != "" && q.model != name {
		return fail("bad_option", `"model" is %q, but the address names %q; leave one of them out`,
			short([]byte(q.model)), short([]byte(name)))
	}
	for _, text := range q.texts {
		if s.opt.LogTexts {
			s.log(r).Info("text", "path", r.URL.Path, "text", text)
		}
	}
	return s.placed(r, name, func(t *timed, m *model) error {
		if err := q.affordable(m, s.maxAnswer); err != nil {
			return err
		}
		answers := make([]any, len(q.texts))
		for i, text := range q.texts {
			if q.joint {
				answers[i], err = s.joint(t, m, q, text)
			} else {
				s.counts.texts.Add(1)
				answers[i], err = masks(t, m, q, text)
			}
			if err != nil {
				return after(t.cause(err), answers[:i])
			}
		}
		if len(answers) == 1 { // also of a list, as the pipeline does
			return writeValue(w, answers[0])
		}
		return writeValue(w, answers)
	})
}

// after is an error with the answers of the texts before.
func after(err error, answers []any) error {
	if len(answers) == 0 || errors.Is(err, errGone) {
		return err
	}
	f := *asFailure(err)
	if f.code == codeInternal {
		return err // its text is for the log
	}
	f.answers = answers
	return &f
}

// masks says of every blank what the model says with all blanks masked: a list for one blank, a
// list of lists for several. Scores are probabilities among the whole vocabulary.
func masks(t *timed, m *model, q *maskRequest, line string) (any, error) {
	tok := m.model.Tokenizer()
	tp, err := text.Parse(tok, line)
	if err != nil {
		return nil, err
	}
	for _, b := range tp.Blanks {
		if b.Name != "" || b.Min != 1 || b.Max != 1 || b.Words != nil || b.Pattern != nil ||
			b.Punctuation || b.Number {
			return nil, fail("bad_blank", `byte %d: this blank has a rule, which goes with "joint": true`,
				b.Start)
		}
	}
	targets, err := targetIDs(tok, q.targets)
	if err != nil {
		return nil, err
	}
	cut, probs, err := independent(t.works, m.model, tp)
	if err != nil {
		return nil, err
	}
	lists, err := listed(t.works, tok, cut, probs, targets, q.topK)
	if err != nil {
		return nil, err
	}
	if len(lists) == 1 {
		return lists[0], nil
	}
	return lists, nil
}

// listed are the answers for every blank. It ends with ctx, as there may be very many.
func listed(ctx context.Context, tok *tokenize.Tokenizer, cut *text.Template, probs [][]float32,
	targets []int32, topK int) ([][]maskItem, error) {
	lists := make([][]maskItem, len(probs))
	ids, at := cut.IDs, cut.Positions()
	for b := range probs {
		for _, id := range likeliest(probs[b], targets, topK) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			filled := slices.Clone(ids)
			filled[at[b]] = id
			if len(probs) == 1 {
				filled = slices.DeleteFunc(filled, func(id int32) bool { return tok.IsSpecial(id) })
			}
			lists[b] = append(lists[b], maskItem{Score: math.Exp(float64(probs[b][id])), Token: id,
				TokenStr: tok.Decode([]int32{id}), Sequence: tok.Decode(filled)})
		}
	}
	return lists, nil
}

// affordable refuses a request whose answer would be too large, before anything is worked on. A
// text that cannot be read counts nothing: its error comes in its turn.
func (q *maskRequest) affordable(m *model, most int) error {
	if q.joint {
		return nil // its work is bounded as that of /v1/fill
	}
	each := min(q.topK, m.model.VocabSize())
	if q.targets != nil {
		each = min(each, len(q.targets))
	}
	tok, size := m.model.Tokenizer(), 0
	for _, line := range q.texts {
		tp, err := text.Parse(tok, line)
		if err != nil {
			continue
		}
		cut, err := tp.Cut(m.model.MaxLength(), 0)
		if err != nil {
			continue
		}
		size += len(cut.Positions()) * each * (len(tok.Decode(cut.IDs)) + itemBytes)
	}
	if size > most {
		return fail(codeTooMuchWork, `blanks × "top_k" × bytes of the text are %d together, at most %d; `+
			`send fewer texts or ask for a smaller "top_k"`, size, most)
	}
	return nil
}

// targetIDs are the tokens of words, each once, nil for no words.
func targetIDs(tok *tokenize.Tokenizer, words []string) ([]int32, error) {
	var ids []int32
	for _, word := range words {
		id, ok := tok.ID(word)
		if enc, err := tok.Pieces(" " + strings.TrimSpace(word)); !ok && err == nil &&
			len(enc.IDs) == 1 && enc.IDs[0] != tok.UNKID() { // in the middle of a text
			id, ok = enc.IDs[0], true
		}
		if !ok {
			return nil, fail("bad_option", `"targets": %q is not one token of the model`,
				short([]byte(word)))
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// joint fills all blanks of a text together. The score of a filling is exp of the score
// that ranks it. Other parts of the energy decide which
// fillings there are and their order, but they are not probabilities and do not count in it.
func (s *Server) joint(t *timed, m *model, q *maskRequest, text string) (any, error) {
	top, err := json.Marshal(q.topK)
	if err != nil {
		return nil, err
	}
	it := input.Item{Line: 1, Text: text,
		Fields: append(slices.Clone(q.fields), jsonl.Field{Name: "top", Value: top})}
	if q.targets != nil {
		words, err := json.Marshal(q.targets)
		if err != nil {
			return nil, err
		}
		it.Fields = append(it.Fields, jsonl.Field{Name: "allow", Value: words})
	}
	r := &request{item: it}
	r.seeded()
	rec, err := s.filled(t, m, &r.item, nil)
	if err != nil {
		return nil, err
	}
	tok := m.model.Tokenizer()
	list := make([]maskItem, len(rec.Fillings))
	for i, f := range rec.Fillings {
		score := *f.Score
		if model, ok := f.Energies[infill.ModelEnergy]; ok {
			score = min(model, 0) // a difference of sums, rounded
		}
		item := maskItem{Score: math.Exp(score), Sequence: f.Text}
		words, pieces := make([]string, len(f.Spans)), f.Tokens
		if f.Pieces != nil {
			pieces = f.Pieces
		}
		for b, span := range f.Spans {
			words[b] = f.Text[span[0]:span[1]]
			for _, piece := range strings.Fields(pieces[b]) {
				id, _ := tok.ID(piece) // a piece of the model's own
				item.Tokens = append(item.Tokens, id)
			}
		}
		item.TokenStr = strings.Join(words, " ")
		if len(item.Tokens) > 0 {
			item.Token = item.Tokens[0]
		}
		list[i] = item
	}
	return list, nil
}

// independent is log f(· | every blank masked) of every blank, one token each: what a fill-mask
// pipeline gives. Of a text too long for the model it sees a part around the blanks. cut is the
// text as the model sees it.
func independent(ctx context.Context, m *mlm.Model, t *text.Template) (cut *text.Template,
	logProb [][]float32, err error) {
	if t, err = t.Apart(); err != nil {
		return nil, nil, err
	}
	if cut, err = t.Cut(m.MaxLength(), 0); err != nil {
		return nil, nil, err
	}
	s := &mlm.Sentence{IDs: cut.IDs, Blanks: cut.Positions()}
	out := make([][]float32, len(s.Blanks))
	for b := range out {
		out[b] = make([]float32, m.VocabSize())
	}
	err = gate.Compute(ctx, m, func(ctx context.Context) error { return m.Independent(ctx, s, out) })
	return cut, out, err
}

// likeliest are the n ids of the largest values, among some if there are any, the largest first and
// of equals the smaller id.
func likeliest(logProb []float32, among []int32, n int) []int32 {
	order := func(a, b int32) int {
		return cmp.Or(cmp.Compare(logProb[b], logProb[a]), cmp.Compare(a, b))
	}
	var top []int32 // sorted
	enter := func(id int32) {
		if len(top) == n && order(top[n-1], id) < 0 {
			return
		}
		at, _ := slices.BinarySearchFunc(top, id, order)
		top = slices.Insert(top, at, id)
		top = top[:min(len(top), n)]
	}
	for _, id := range among {
		enter(id)
	}
	if among == nil {
		for id := range int32(len(logProb)) {
			enter(id)
		}
	}
	return top
}

// alone are the likeliest words of every blank when all blanks are masked, one token each; none of
// a text that the model does not see as a whole.
func alone(ctx context.Context, m *mlm.Model, t *text.Template) ([][]aloneWord, error) {
	out := make([][]aloneWord, len(t.Blanks))
	_, probs, err := independent(ctx, m, t)
	if errors.Is(err, mlm.ErrTooLong) { // it is filled in groups, and never seen as a whole
		for b := range out {
			out[b] = []aloneWord{}
		}
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	tok := m.Tokenizer()
	for b := range probs {
		for _, id := range likeliest(probs[b], nil, aloneWords) {
			word, p := text.Word(tok, []int32{id}), math.Exp(float64(probs[b][id]))
			same := func(a aloneWord) bool { return a.Token == word }
			if i := slices.IndexFunc(out[b], same); i >= 0 { // with another mark
				out[b][i].P += p
			} else {
				out[b] = append(out[b], aloneWord{word, p})
			}
		}
	}
	return out, nil
}
