package infill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/infill/internal/target"
	"infill/infill/text"
)

// resolve resolves a template for the options, which are complete.
func (e *Engine) resolve(ctx context.Context, t *text.Template, opt *Options) (*target.Task,
	error) {
	rules, err := e.supports.Rules(t, &opt.Words)
	if err != nil {
		return nil, err
	}
	numbers, rows, err := e.numbered(ctx, rules, opt)
	if err != nil {
		return nil, err
	}
	cut, err := e.fit(rules, opt)
	if err != nil {
		return nil, err
	}
	open, err := e.readGaps(ctx, cut, rules.Lists, opt)
	if err != nil {
		return nil, err
	}
	p := &target.Task{Opt: opt, Whole: t, Template: cut, Base: e.model,
		Asked: recall.New(e.model, e.memo), Numbers: numbers, Open: len(open.groups),
		Combined: open.combined, LengthsFrom: open.from, PerToken: open.perToken,
		Rows: rows + open.rows}
	more := target.NewExtra(opt, e.Tokenizer(), e.memo != nil)
	at := map[string]int{}
	var impossible error
	for k, of := range open.choices() {
		if of.unlikely && len(p.Choices) > 0 {
			continue
		}
		key := strings.Trim(strings.ReplaceAll(fmt.Sprint(of.counts), " ", ","), "[]")
		i, known := at[key]
		if !known {
			sp, err := rules.Space(cut, of.counts)
			if errors.Is(err, text.ErrEmptySupport) && opt.Method == MethodSearch {
				impossible = cmp.Or(impossible, err)
				continue // other lengths may have fillings
			}
			if err != nil {
				return nil, err
			}
			c := target.Choice{ID: opt.ID, LogP: of.logP, Target: target.New(p.Asked, sp, opt, more,
				e.model.MaxLength(), open.parts)}
			if p.Open > 0 {
				c.ID += "\x00*" + key
			}
			i, at[key] = len(p.Choices), len(p.Choices)
			p.Choices = append(p.Choices, c)
		}
		p.Choices[i].Chains = append(p.Choices[i].Chains, k)
	}
	if len(p.Choices) == 0 {
		return nil, impossible
	}
	return p, nil
}

// fit cuts a template that is too long, leaving room for its longest filling, and for the words
// that stood in its blanks if they are scored there.
func (e *Engine) fit(rules *space.Rules, opt *Options) (*text.Template, error) {
	t, room := rules.Template, 0
	before := make([]int, len(t.Blanks)) // pieces of these words
	if opt.Words.Filter.MaxDrop != nil && len(opt.Words.Original) == len(t.Blanks) {
		for i, w := range opt.Words.Original {
			enc, err := e.model.Tokenizer().Pieces(w)
			if err != nil {
				return nil, err
			}
			before[i] = len(enc.IDs)
		}
	}
	for b, g := range t.Owner {
		room += max(rules.Longest(g), before[b]) - 1
	}
	limit := e.model.MaxLength()
	if n := len(t.IDs) + room; opt.RefuseLong && limit > 0 && n > limit {
		return nil, &LengthError{Pieces: n, Limit: limit}
	}
	return t.Cut(limit, room)
}
