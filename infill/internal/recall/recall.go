package recall

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"infill/mlm"
	"infill/samplers"
)

// Recall is a model that is asked nothing twice, as far as the memo reaches. Its methods give the
// bits of the model's own: a log-probability is the same number whether the model computes it
// alone, with its row, or with a gradient, and whatever else is in the call.
type Recall struct {
	*mlm.Model
	memo *Memo // nil: everything is asked
	// whole has energies evaluate rows over the vocabulary in place of single tokens, which
	// takes the same time: for samplers that ask for conditionals too.
	whole     bool
	kept      *Kept         // what is remembered of rows
	of        string        // begins the names of what is remembered: which model said it
	wider     *Recall       // r before its tokens became fewer, whose rows hold those of r; or nil
	evaluated *atomic.Int64 // rows that the model evaluated
	fresh     *atomic.Int64 // those of evaluated that Result.Rows counts
	counts    bool          // what is evaluated enters fresh, see Counting
	different *Tally        // rows that samplers asked about
}

// New is a model with a memo, nil for none, for one fill with a sampler.
func New(m *mlm.Model, o *Memo, s samplers.Sampler) *Recall {
	var needs []samplers.Need
	if s != nil {
		needs = s.Info().Needs
	}
	return &Recall{
		Model: m, memo: o, different: NewTally(TallyMost), evaluated: new(atomic.Int64),
		fresh: new(atomic.Int64),
		whole: slices.Contains(needs, samplers.NeedConditionals) ||
			slices.Contains(needs, samplers.NeedRows),
	}
}

// Counting is r for the questions that Result.Rows counts: those of samplers, of a search, and of
// Exact. Others are those of the start and of the ranking. Both share what they remember.
func (r *Recall) Counting() *Recall {
	other := *r
	other.counts = true
	return &other
}

// Evaluated is the number of rows that the model evaluated.
func (r *Recall) Evaluated() int { return int(r.evaluated.Load()) }

// Different is the number of different rows that samplers asked about.
func (r *Recall) Different() int { return r.different.Total() }

// evaluates counts rows that the model is about to evaluate.
func (r *Recall) evaluates(rows int) {
	r.evaluated.Add(int64(rows))
	if r.counts {
		r.fresh.Add(int64(rows))
	}
}

// FreshOf is Result.Fresh for a number of rows. Without a memo rows that are counted once may be
// evaluated several times, as those of a list's phrases of one token.
func (r *Recall) FreshOf(rows int) int { return min(rows, int(r.fresh.Load())) }

// Keeping is r with another set of tokens that are remembered of rows, a part of those of r. It
// counts with r.
func (r *Recall) Keeping(k *Kept) *Recall {
	other := *r
	other.kept, other.wider = k, r
	return &other
}

// name is that of what is remembered of rows.
func (r *Recall) name() string {
	if r.kept == nil {
		return r.of
	}
	return r.of + r.kept.name
}

// unroundedName begins the names of what the float32 form of a rounded model says, which shares
// the memo. No name of kept tokens is as long with it as another without.
const unroundedName = "f"

// Unrounded is r of the float32 form m of its model. It counts with r. Little is asked of m, so
// that single tokens are enough.
func (r *Recall) Unrounded(m *mlm.Model) *Recall {
	out := *r
	out.Model, out.of, out.whole, out.wider = m, unroundedName, false, nil
	return &out
}

// NoteRow enters that a sampler asks about the row of a blank. It returns the rows that this is.
func (r *Recall) NoteRow(s *mlm.Sentence, state []int32, blank int) int {
	r.different.Add(ContextKey(nil, "", s, state, blank, r.Tokenizer().MaskID()), 1)
	return 1
}

// NoteRows is noteRow of all blanks.
func (r *Recall) NoteRows(s *mlm.Sentence, state []int32) int {
	for blank := range s.Blanks {
		r.NoteRow(s, state, blank)
	}
	return len(s.Blanks)
}

// NoteGradient enters that a sampler asks for a state's gradient.
func (r *Recall) NoteGradient(s *mlm.Sentence, state []int32, mode mlm.GradientMode) int {
	if gradientRows(s, mode) {
		return r.NoteRows(s, state)
	}
	r.different.Add(stateKey(nil, "", s, state), len(s.Blanks))
	return len(s.Blanks)
}

// kinds of keys.
const (
	rowKey      = 'r' // log f of the vocabulary at a masked blank
	tokenKey    = 't' // log f of one token there
	gradientKey = 'g' // log f and ∇U of a state
)

// ContextKey appends the key of the row that masks blank i in a state: what is kept of it, the
// masked text, and the place asked about. What else is a blank of the sentence does not matter.
func ContextKey(dst []byte, name string, s *mlm.Sentence, state []int32, i int, mask int32) []byte {
	dst = binary.AppendUvarint(keyOf(dst, rowKey, name), uint64(s.Blanks[i]))
	return textKey(dst, s, state, i, mask)
}

// keyOf begins a key. The length of a name comes before it.
func keyOf(dst []byte, kind byte, name string) []byte {
	return append(append(dst, kind, byte(len(name))), name...)
}

// stateKey appends the key of a state's gradient: what is kept of it, the filled text and the
// places of its blanks.
func stateKey(dst []byte, name string, s *mlm.Sentence, state []int32) []byte {
	dst = binary.AppendUvarint(keyOf(dst, gradientKey, name), uint64(len(s.Blanks)))
	for _, p := range s.Blanks {
		dst = binary.AppendUvarint(dst, uint64(p))
	}
	return textKey(dst, s, state, -1, 0)
}

// textKey appends the text of a state, with blank i masked.
func textKey(dst []byte, s *mlm.Sentence, state []int32, i int, mask int32) []byte {
	b := 0
	for p, id := range s.IDs {
		if b < len(s.Blanks) && s.Blanks[b] == p {
			if id = state[b]; b == i {
				id = mask
			}
			b++
		}
		dst = binary.AppendUvarint(dst, uint64(uint32(id)))
	}
	return dst
}

// tokenBytes is the length of what ofToken appends.
const tokenBytes = 4

// ofToken makes the key of a row, in place, that of one token of the row.
func ofToken(key []byte, token int32) []byte {
	key[0] = tokenKey
	return binary.LittleEndian.AppendUint32(key, uint32(token))
}

// rowOfToken is the key of the row of a token's key.
func rowOfToken(key string) []byte {
	row := []byte(key[:len(key)-tokenBytes])
	row[0] = rowKey
	return row
}

// gradientRows reports whether a gradient is made of rows that each have a key of their own.
func gradientRows(s *mlm.Sentence, mode mlm.GradientMode) bool {
	return mode == mlm.Forward || len(s.Blanks) == 1
}

// A question is a masked text that a call asks about: for the row over the vocabulary, or for one
// token.
type question struct {
	key   string
	state int // one of those that meet in the text
	blank int
	users []User
}

// A User is a state, by its number, and a blank of it that share a question with others.
type User struct{ State, Blank int }

// LogProb is that of [mlm.Model].
func (r *Recall) LogProb(ctx context.Context, s *mlm.Sentence, states [][]int32,
	logProb [][]float32) error {
	if r.memo == nil {
		r.evaluates(len(states) * len(s.Blanks))
		return r.Model.LogProb(ctx, s, states, logProb)
	}
	r = r.covering(states)
	if r.whole || len(s.Blanks) == 1 {
		q := r.questions(s, states, nil, rowKey)
		return r.rows(ctx, s, states, q, func(u User, e *Entry) {
			logProb[u.State][u.Blank] = r.kept.value(e.wide, states[u.State][u.Blank])
		})
	}
	q := r.questions(s, states, nil, tokenKey)
	return r.tokens(ctx, s, states, q, func(u User, lp float32) { logProb[u.State][u.Blank] = lp })
}

// TokenLogProb is that of [mlm.Model].
func (r *Recall) TokenLogProb(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
	logProb []float32) error {
	if r.memo == nil {
		r.evaluates(len(r.questions(s, states, i, rowKey)))
		return r.Model.TokenLogProb(ctx, s, states, i, logProb)
	}
	r = r.covering(states)
	q := r.questions(s, states, i, tokenKey)
	return r.tokens(ctx, s, states, q, func(u User, lp float32) { logProb[u.State] = lp })
}

// covering is r, or where states have tokens that it does not keep, r with all tokens.
func (r *Recall) covering(states [][]int32) *Recall {
	if r.kept.covers(states) {
		return r
	}
	other := *r
	other.kept, other.wider = nil, nil
	return &other
}

// Conditional is that of [mlm.Model], for the tokens that are kept. Other values of out stay as
// they are.
func (r *Recall) Conditional(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
	out [][]float32) error {
	if r.memo == nil {
		r.evaluates(len(states))
		return r.Model.Conditional(ctx, s, states, i, out)
	}
	q := r.questions(s, states, i, rowKey)
	return r.rows(ctx, s, states, q, func(u User, e *Entry) { r.kept.spread(out[u.State], e.wide) })
}

// Rows hands take the rows of all blanks of all states, with each blank masked in turn, one after
// the other. take must not hold them.
func (r *Recall) Rows(ctx context.Context, s *mlm.Sentence, states [][]int32,
	take func(u User, row Row)) error {
	if r.memo == nil {
		return r.freshRows(ctx, s, states, take)
	}
	r = r.covering(states)
	return r.rows(ctx, s, states, r.questions(s, states, nil, rowKey), func(u User, e *Entry) {
		take(u, Row{e, r.kept})
	})
}

// RowsAt hands take, for every state c, the row of its blank at[c]. take may hold it.
func (r *Recall) RowsAt(ctx context.Context, s *mlm.Sentence, states [][]int32, at []int,
	take func(c int, row Row)) error {
	if r.memo == nil {
		r.evaluates(len(states))
		wide := Resized[float32](nil, len(states), r.VocabSize())
		err := r.Model.Conditional(ctx, s, states, at, wide)
		for c := range states {
			take(c, Row{&Entry{wide: wide[c]}, nil})
		}
		return err
	}
	return r.rows(ctx, s, states, r.questions(s, states, at, rowKey), func(u User, e *Entry) {
		take(u.State, Row{e, r.kept})
	})
}

// freshRows is Rows without a memo.
func (r *Recall) freshRows(ctx context.Context, s *mlm.Sentence, states [][]int32,
	take func(u User, row Row)) error {
	n, v := len(s.Blanks), r.VocabSize()
	wide, done := whole(len(states), n*v)
	defer done()
	err := r.Gradient(ctx, s, states, mlm.Forward, Resized[float32](nil, len(states), n), wide)
	if err != nil {
		return err
	}
	for c := range states {
		for blank := range n {
			take(User{c, blank}, Row{&Entry{wide: wide[c][blank*v : (blank+1)*v]}, nil})
		}
	}
	return nil
}

// Gradient is that of [mlm.Model], for the tokens that are kept. Other values of grad stay as they
// are.
func (r *Recall) Gradient(ctx context.Context, s *mlm.Sentence, states [][]int32,
	mode mlm.GradientMode, logProb, grad [][]float32) error {
	if r.memo == nil {
		r.evaluates(len(states) * len(s.Blanks))
		return r.Model.Gradient(ctx, s, states, mode, logProb, grad)
	}
	r = r.covering(states)
	if gradientRows(s, mode) {
		v := r.VocabSize()
		q := r.questions(s, states, nil, rowKey)
		return r.rows(ctx, s, states, q, func(u User, e *Entry) {
			logProb[u.State][u.Blank] = r.kept.value(e.wide, states[u.State][u.Blank])
			r.kept.spread(grad[u.State][u.Blank*v:(u.Blank+1)*v], e.wide)
		})
	}
	return r.gradients(ctx, s, states, mode, logProb, grad)
}

// questions lists the different questions that states ask, in the order in which they first occur:
// of all blanks, or only of blank masked[c] of state c.
func (r *Recall) questions(s *mlm.Sentence, states [][]int32, masked []int,
	kind byte) []*question {
	var out []*question
	at := map[string]*question{}
	mask := r.Tokenizer().MaskID()
	var buf []byte
	add := func(c, blank int) {
		buf = ContextKey(buf[:0], r.name(), s, states[c], blank, mask)
		if kind == tokenKey {
			buf = ofToken(buf, states[c][blank])
		}
		q := at[string(buf)]
		if q == nil {
			q = &question{key: string(buf), state: c, blank: blank}
			at[q.key] = q
			out = append(out, q)
		}
		q.users = append(q.users, User{c, blank})
	}
	for c := range states {
		if masked != nil {
			add(c, masked[c])
			continue
		}
		for blank := range s.Blanks {
			add(c, blank)
		}
	}
	return out
}

// rows answers questions for rows. take gets the entry of each user's row, with as much of it as is
// kept. It must not hold it.
func (r *Recall) rows(ctx context.Context, s *mlm.Sentence, states [][]int32, qs []*question,
	take func(u User, e *Entry)) error {
	entries, err := r.memo.Get(ctx, keysOf(qs), func(ctx context.Context, which []int,
		made []*Entry) error {
		which, made = r.fromWider(s, states, qs, which, made)
		asked, blanks := pick(qs, which, states), make([]int, len(which))
		for j, n := range which {
			blanks[j] = qs[n].blank
		}
		out, keep := r.room(made, 1)
		r.evaluates(len(which))
		err := r.Model.Conditional(ctx, s, asked, blanks, out)
		if err == nil {
			keep()
		}
		return err
	})
	if err != nil {
		return err
	}
	for n, q := range qs {
		for _, u := range q.users {
			take(u, entries[n])
		}
	}
	return nil
}

// tokens answers questions for tokens, from rows if they are there.
func (r *Recall) tokens(ctx context.Context, s *mlm.Sentence, states [][]int32, qs []*question,
	take func(u User, lp float32)) error {
	open := qs[:0]
	for _, q := range qs {
		e := r.memo.peek(rowOfToken(q.key))
		if e == nil {
			open = append(open, q)
			continue
		}
		for _, u := range q.users {
			take(u, r.kept.value(e.wide, states[u.State][u.Blank]))
		}
	}
	entries, err := r.memo.Get(ctx, keysOf(open), func(ctx context.Context, which []int,
		made []*Entry) error {
		asked, blanks, out := pick(open, which, states), make([]int, len(which)),
			make([]float32, len(which))
		texts := map[string]bool{}
		for j, n := range which {
			blanks[j] = open[n].blank
			texts[string(rowOfToken(open[n].key))] = true
		}
		r.evaluates(len(texts))
		err := r.Model.TokenLogProb(ctx, s, asked, blanks, out)
		for j := range made {
			made[j].logProb = []float32{out[j]}
		}
		return err
	})
	if err != nil {
		return err
	}
	for n, q := range open {
		for _, u := range q.users {
			take(u, entries[n].logProb[0])
		}
	}
	return nil
}

// gradients answers for states whose rows each need a backward pass.
func (r *Recall) gradients(ctx context.Context, s *mlm.Sentence, states [][]int32,
	mode mlm.GradientMode, logProb, grad [][]float32) error {
	var qs []*question
	at := map[string]*question{}
	var buf []byte
	for c, st := range states {
		buf = stateKey(buf[:0], r.name(), s, st)
		q := at[string(buf)]
		if q == nil {
			q = &question{key: string(buf), state: c}
			at[q.key] = q
			qs = append(qs, q)
		}
		q.users = append(q.users, User{State: c})
	}
	entries, err := r.memo.Get(ctx, keysOf(qs), func(ctx context.Context, which []int,
		made []*Entry) error {
		m := len(s.Blanks)
		lp := make([][]float32, len(which))
		for j, e := range made {
			e.logProb = make([]float32, m)
			lp[j] = e.logProb
		}
		wide, keep := r.room(made, m)
		r.evaluates(len(which) * m)
		err := r.Model.Gradient(ctx, s, pick(qs, which, states), mode, lp, wide)
		if err == nil {
			keep()
		}
		return err
	})
	if err != nil {
		return err
	}
	for n, q := range qs {
		for _, u := range q.users {
			copy(logProb[u.State], entries[n].logProb)
			r.kept.spreadAll(grad[u.State], entries[n].wide, len(s.Blanks))
		}
	}
	return nil
}

func keysOf(qs []*question) []string {
	keys := make([]string, len(qs))
	for n, q := range qs {
		keys[n] = q.key
	}
	return keys
}

// pick returns the states of questions, by their numbers.
func pick(qs []*question, which []int, states [][]int32) [][]int32 {
	out := make([][]int32, len(which))
	for j, n := range which {
		out[j] = states[qs[n].state]
	}
	return out
}
