package recall

import (
	"context"
	"slices"

	"infill/mlm"
)

// A question is a masked text that a call asks about.
type question struct {
	key   string
	state int // one of those that meet in the text
	blank int
	users []user
}

// A user is a state, by its number, and a blank of it that share a question with others.
type user struct{ state, blank int }

// LogProb answers as [mlm.Model] does.
func (r *Recall) LogProb(ctx context.Context, s *mlm.Sentence, states [][]int32,
	logProb [][]float32) error {
	if r.memo == nil {
		r.evaluates(len(states) * len(s.Blanks))
		return r.model.LogProb(ctx, s, states, logProb)
	}
	r = r.covering(states)
	return r.rows(ctx, s, states, r.questions(s, states, nil), func(u user, row Row) {
		logProb[u.state][u.blank] = row.Value(states[u.state][u.blank])
	})
}

// TokenLogProb answers as [mlm.Model] does.
func (r *Recall) TokenLogProb(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
	logProb []float32) error {
	if r.memo == nil {
		r.evaluates(len(r.questions(s, states, i)))
		return r.model.TokenLogProb(ctx, s, states, i, logProb)
	}
	tokens := make([]int32, len(states))
	for c, state := range states {
		tokens[c] = state[i[c]]
	}
	r = r.covering([][]int32{tokens})
	return r.rows(ctx, s, states, r.questions(s, states, i), func(u user, row Row) {
		logProb[u.state] = row.Value(tokens[u.state])
	})
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

// Conditional answers as [mlm.Model] does, for the tokens that are kept. Other values of out stay
// as they are.
func (r *Recall) Conditional(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
	out [][]float32) error {
	if r.memo == nil {
		r.evaluates(len(states))
		return r.model.Conditional(ctx, s, states, i, out)
	}
	q := r.questions(s, states, i)
	return r.rows(ctx, s, states, q, func(u user, row Row) { row.spread(out[u.state]) })
}

// Rows hands take the rows of all blanks of all states, with each blank masked in turn, one after
// the other. take must not hold them.
func (r *Recall) Rows(ctx context.Context, s *mlm.Sentence, states [][]int32,
	take func(state, blank int, row Row)) error {
	if r.memo == nil {
		n, v := len(s.Blanks), r.VocabSize()
		wide, done := whole(len(states), n*v)
		defer done()
		err := r.Gradient(ctx, s, states, mlm.Forward, rowsOf(len(states), n), wide)
		if err != nil {
			return err
		}
		for c := range states {
			for blank := range n {
				take(c, blank, Row{&entry{wide: wide[c][blank*v : (blank+1)*v]}, nil})
			}
		}
		return nil
	}
	r = r.covering(states)
	return r.rows(ctx, s, states, r.questions(s, states, nil), func(u user, row Row) {
		take(u.state, u.blank, row)
	})
}

// RowsAt hands take, for every state c, the row of its blank at[c]. take may hold it.
func (r *Recall) RowsAt(ctx context.Context, s *mlm.Sentence, states [][]int32, at []int,
	take func(c int, row Row)) error {
	if r.memo == nil {
		r.evaluates(len(states))
		wide := rowsOf(len(states), r.VocabSize())
		err := r.model.Conditional(ctx, s, states, at, wide)
		for c := range states {
			take(c, Row{&entry{wide: wide[c]}, nil})
		}
		return err
	}
	return r.rows(ctx, s, states, r.questions(s, states, at), func(u user, row Row) {
		take(u.state, row)
	})
}

// Gradient answers as [mlm.Model] does, for the tokens that are kept. Other values of grad stay as
// they are.
func (r *Recall) Gradient(ctx context.Context, s *mlm.Sentence, states [][]int32,
	mode mlm.GradientMode, logProb, grad [][]float32) error {
	if r.memo == nil {
		r.evaluates(len(states) * len(s.Blanks))
		return r.model.Gradient(ctx, s, states, mode, logProb, grad)
	}
	r = r.covering(states)
	if gradientRows(s, mode) {
		v := r.VocabSize()
		q := r.questions(s, states, nil)
		return r.rows(ctx, s, states, q, func(u user, row Row) {
			logProb[u.state][u.blank] = row.Value(states[u.state][u.blank])
			row.spread(grad[u.state][u.blank*v : (u.blank+1)*v])
		})
	}
	return r.gradients(ctx, s, states, mode, logProb, grad)
}

// gradient stands for a state's gradient, in the place of a blank.
const gradient = -1

// questions lists the different questions that states ask, in the order in which they first occur:
// of all blanks, or only of blank masked[c] of state c.
func (r *Recall) questions(s *mlm.Sentence, states [][]int32, masked []int) []*question {
	var out []*question
	at := map[string]*question{}
	var buf []byte
	add := func(c, blank int) {
		if blank == gradient {
			buf = stateKey(buf[:0], r.name(), s, states[c])
		} else {
			buf = contextKey(buf[:0], r.name(), s, states[c], blank, r.mask)
		}
		q := at[string(buf)]
		if q == nil {
			q = &question{key: string(buf), state: c, blank: blank}
			at[q.key] = q
			out = append(out, q)
		}
		q.users = append(q.users, user{c, blank})
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

// rows answers questions for rows. take gets each user's row, with as much of it as is kept.
func (r *Recall) rows(ctx context.Context, s *mlm.Sentence, states [][]int32, qs []*question,
	take func(u user, row Row)) error {
	entries, err := r.memo.get(ctx, keysOf(qs), func(ctx context.Context, which []int,
		made []*entry) error {
		which, made = r.fromWider(s, states, qs, which, made)
		asked, blanks := pick(qs, which, states), make([]int, len(which))
		for j, n := range which {
			blanks[j] = qs[n].blank
		}
		out, keep := r.room(made, 1)
		r.evaluates(len(which))
		err := r.model.Conditional(ctx, s, asked, blanks, out)
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
			take(u, Row{entries[n], r.kept})
		}
	}
	return nil
}

// gradients answers for states whose rows each need a backward pass.
func (r *Recall) gradients(ctx context.Context, s *mlm.Sentence, states [][]int32,
	mode mlm.GradientMode, logProb, grad [][]float32) error {
	qs := r.questions(s, states, slices.Repeat([]int{gradient}, len(states)))
	entries, err := r.memo.get(ctx, keysOf(qs), func(ctx context.Context, which []int,
		made []*entry) error {
		m := len(s.Blanks)
		lp := make([][]float32, len(which))
		for j, e := range made {
			e.logProb = make([]float32, m)
			lp[j] = e.logProb
		}
		wide, keep := r.room(made, m)
		r.evaluates(len(which) * m)
		err := r.model.Gradient(ctx, s, pick(qs, which, states), mode, lp, wide)
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
			copy(logProb[u.state], entries[n].logProb)
			r.kept.spreadAll(grad[u.state], entries[n].wide, len(s.Blanks))
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

// fromWider makes the entries whose rows are remembered with more tokens, and returns the others.
func (r *Recall) fromWider(s *mlm.Sentence, states [][]int32, qs []*question, which []int,
	made []*entry) (restWhich []int, rest []*entry) {
	if r.wider == nil || r.wider.kept == r.kept {
		return which, made
	}
	for j, n := range which {
		q := qs[n]
		e := r.memo.peek(contextKey(nil, r.wider.name(), s, states[q.state], q.blank, r.mask))
		if e == nil {
			restWhich, rest = append(restWhich, n), append(rest, made[j])
			continue
		}
		made[j].wide = make([]float32, len(r.kept.ids))
		for i, id := range r.kept.ids {
			made[j].wide[i] = r.wider.kept.value(e.wide, id)
		}
	}
	return restWhich, rest
}

// room gives entries room for the values of n rows each, and returns where the model is to write
// them. When it has, keep takes over what is kept.
func (r *Recall) room(made []*entry, n int) (out [][]float32, keep func()) {
	vocab := r.VocabSize()
	for _, e := range made {
		e.wide = make([]float32, n*r.kept.width(vocab))
	}
	if r.kept == nil {
		for _, e := range made {
			out = append(out, e.wide)
		}
		return out, func() {}
	}
	out, done := whole(len(made), n*vocab)
	return out, func() {
		for j, e := range made {
			for i := range n {
				w := len(r.kept.ids)
				r.kept.pick(e.wide[i*w:(i+1)*w], out[j][i*vocab:])
			}
		}
		done()
	}
}
