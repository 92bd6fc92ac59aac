package mlm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"infill/internal/ort"
)

// LogProb sets logProb[c][i] = log f(states[c][i] | blank i masked, the other
// blanks as in states[c]) for every state c and blank i, in nats (≤ 0).
func (m *Model) LogProb(ctx context.Context, s *Sentence, states [][]int32,
	logProb [][]float32) error {
	if err := m.check(s, states, nil); err != nil {
		return err
	}
	if err := room("logProb", logProb, len(states), len(s.Blanks)); err != nil {
		return err
	}
	return m.tokens(ctx, s, states, nil, func(c, blank int, lp float32) { logProb[c][blank] = lp })
}

// TokenLogProb sets logProb[c] = log f(states[c][i[c]] | blank i[c] masked, the other blanks as in
// states[c]): of LogProb the values of one blank each.
func (m *Model) TokenLogProb(ctx context.Context, s *Sentence, states [][]int32, i []int,
	logProb []float32) error {
	if len(i) != len(states) || len(logProb) != len(states) {
		return fmt.Errorf("%w: %d states but %d blanks and room for %d values", errSentence,
			len(states), len(i), len(logProb))
	}
	if err := errors.Join(m.check(s, states, nil), m.check(s, states, i)); err != nil {
		return err
	}
	return m.tokens(ctx, s, states, i, func(c, _ int, lp float32) { logProb[c] = lp })
}

// tokens evaluates the tokens of all blanks of the states, or of blank masked[c] of state c only,
// and hands set each value.
func (m *Model) tokens(ctx context.Context, s *Sentence, states [][]int32, masked []int,
	set func(c, blank int, lp float32)) error {
	return m.ask(ctx, s, states, masked, energyRow, func(c, blank int, lp, wide []float32) {
		if len(wide) > 0 {
			lp = wide[states[c][blank]:]
		}
		set(c, blank, lp[0])
	})
}

// ask evaluates the masked texts of the states, see contexts, each once, and hands set the results
// for each state, as unit.deliver has them. Where an energy is asked for, and several tokens in the
// same place of the same text, one row over the vocabulary answers for all of them.
func (m *Model) ask(ctx context.Context, s *Sentence, states [][]int32, masked []int, what kind,
	set func(c, blank int, lp, wide []float32)) error {
	texts := contexts(s, states, masked)
	units := make([]*unit, len(texts))
	for i, c := range texts {
		k := what
		if k == energyRow && !c.sameTarget(states) {
			k = conditionalRow
		}
		units[i] = &unit{key: m.key(s, k), state: states[c.users[0]], blank: c.blank,
			deliver: func(lp, wide []float32) {
				for _, user := range c.users {
					set(user, c.blank, lp, wide)
				}
			}}
	}
	return m.sched.do(ctx, s, units)
}

// Gradient sets logProb as [Model.LogProb] does and grad[c], m·V values in
// row-major order, to ∇U or its first term at states[c]. The error is errOption for another mode,
// and ErrNoGradient where Full is asked of a model that does not have it.
func (m *Model) Gradient(ctx context.Context, s *Sentence, states [][]int32, mode GradientMode,
	logProb, grad [][]float32) error {
	if err := m.check(s, states, nil); err != nil {
		return err
	}
	if mode != Full && mode != Forward {
		return fmt.Errorf("%w: gradient mode %d, want Full or Forward", errOption, mode)
	}
	n, v := len(s.Blanks), m.info.Vocab
	if err := errors.Join(room("logProb", logProb, len(states), n),
		room("grad", grad, len(states), n*v)); err != nil {
		return err
	}
	if mode == Forward || n == 1 { // with one blank the second term is an empty sum
		return m.ask(ctx, s, states, nil, conditionalRow, func(c, blank int, _, wide []float32) {
			logProb[c][blank] = wide[states[c][blank]]
			copy(grad[c][blank*v:(blank+1)*v], wide)
		})
	}
	if !m.info.Gradients {
		return fmt.Errorf("%w: %s; the forward gradient works", ErrNoGradient, m.info.NoGradients)
	}
	return m.ask(ctx, s, states, slices.Repeat([]int{-1}, len(states)), gradientGroup,
		func(c, _ int, lp, wide []float32) {
			copy(logProb[c], lp)
			copy(grad[c], wide)
		})
}

// Conditional sets out[c], V values, to log f(· | blank i[c] masked, the
// other blanks as in states[c]).
func (m *Model) Conditional(ctx context.Context, s *Sentence, states [][]int32, i []int,
	out [][]float32) error {
	if len(i) != len(states) {
		return fmt.Errorf("%w: %d states but %d blanks to mask", errSentence, len(states), len(i))
	}
	if err := m.check(s, states, i); err != nil {
		return err
	}
	if err := room("out", out, len(states), m.info.Vocab); err != nil {
		return err
	}
	return m.ask(ctx, s, states, i, conditionalRow,
		func(c, _ int, _, wide []float32) { copy(out[c], wide) })
}

// Independent sets out[i], V values, to log f(· | every blank masked) at blank i.
func (m *Model) Independent(ctx context.Context, s *Sentence, out [][]float32) error {
	if err := m.check(s, nil, nil); err != nil {
		return err
	}
	if err := room("out", out, len(s.Blanks), m.info.Vocab); err != nil {
		return err
	}
	units := make([]*unit, len(s.Blanks))
	for i := range units {
		units[i] = &unit{key: m.key(s, conditionalRow), blank: i,
			deliver: func(_, wide []float32) { copy(out[i], wide) }}
	}
	return m.sched.do(ctx, s, units)
}

// StateWidth is H, the number of values of a state, see [Model.States]. It is 0 where the states
// are not known: of a model that runs as it is, and where the head is not such a product.
func (m *Model) StateWidth() int { return m.info.state }

// States sets out[c], H values, to the state at blank i[c] with every blank masked: what the head
// reads there to predict the token. ErrNoState says that the model has none.
func (m *Model) States(ctx context.Context, s *Sentence, i []int, out [][]float32) error {
	if err := m.check(s, nil, nil); err != nil {
		return err
	}
	if m.info.state == 0 {
		return ErrNoState
	}
	if err := room("out", out, len(i), m.info.state); err != nil {
		return err
	}
	units := make([]*unit, len(i))
	for c, blank := range i {
		if blank < 0 || blank >= len(s.Blanks) {
			return fmt.Errorf("%w: there is no blank %d of %d", errSentence, blank, len(s.Blanks))
		}
		units[c] = &unit{key: m.key(s, energyRow), blank: blank, reads: out[c][:m.info.state],
			deliver: func(_, _ []float32) {}}
	}
	return m.sched.do(ctx, s, units)
}

// check refuses what would be out of range further down. masked[c], if
// given, is the blank of states[c] whose token does not matter.
func (m *Model) check(s *Sentence, states [][]int32, masked []int) error {
	if m.sched == nil {
		return errClosed
	}
	if s == nil {
		return fmt.Errorf("%w: there is none; make one of the ids of tokenize.Tokenizer.Encode",
			errSentence)
	}
	if limit := m.info.MaxLength; limit > 0 && len(s.IDs) > limit {
		return fmt.Errorf("%w: %d pieces with the special tokens, the model takes %d; split the text",
			ErrTooLong, len(s.IDs), limit)
	}
	if len(s.Blanks) == 0 {
		return fmt.Errorf("%w: it has no blank", errSentence)
	}
	for p, id := range s.IDs {
		if id < 0 || int(id) >= m.info.Vocab {
			return fmt.Errorf("%w: id %d at position %d is outside the vocabulary of %d", errSentence, id, p,
				m.info.Vocab)
		}
	}
	for i, p := range s.Blanks {
		if p < 0 || p >= len(s.IDs) || i > 0 && p <= s.Blanks[i-1] {
			return fmt.Errorf("%w: blanks %v are not ascending positions below %d", errSentence, s.Blanks,
				len(s.IDs))
		}
	}
	for c, st := range states {
		if len(st) != len(s.Blanks) {
			return fmt.Errorf("%w: state %d has %d tokens for %d blanks", errSentence, c, len(st),
				len(s.Blanks))
		}
		if masked != nil && (masked[c] < 0 || masked[c] >= len(s.Blanks)) {
			return fmt.Errorf("%w: state %d: there is no blank %d of %d", errSentence, c, masked[c],
				len(s.Blanks))
		}
		for i, id := range st {
			if (id < 0 || int(id) >= m.info.Vocab) && (masked == nil || masked[c] != i) {
				return fmt.Errorf("%w: state %d: id %d at blank %d is outside the vocabulary of %d",
					errSentence, c, id, i, m.info.Vocab)
			}
		}
	}
	return nil
}

// closed says by errClosed, which callers know, that a session was closed.
func closed(err error) error {
	if errors.Is(err, ort.ErrClosed) {
		return fmt.Errorf("%w: %w", errClosed, err)
	}
	return err
}

// given refuses a missing context. Without it a goroutine that nobody can recover would panic.
func given(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: the context is nil; pass context.Background()", errOption)
	}
	return nil
}

func room(name string, dst [][]float32, n, width int) error {
	if len(dst) != n {
		return fmt.Errorf("%w: %s has %d rows, needed are %d", errSentence, name, len(dst), n)
	}
	for c := range dst {
		if len(dst[c]) < width {
			return fmt.Errorf("%w: %s[%d] has room for %d values, needed are %d", errSentence, name, c,
				len(dst[c]), width)
		}
	}
	return nil
}

func (m *Model) key(s *Sentence, k kind) key {
	key := key{kind: k, length: len(s.IDs), group: 1}
	if k == gradientGroup {
		key.group = len(s.Blanks)
	}
	return key
}
