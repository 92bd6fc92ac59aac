package settings

import (
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"

	"infill/internal/nearest"
	"infill/tokenize"
)

// ForLine is the filling of one line: f with the settings among the line's JSON fields. Fields of
// other names are passed over. own says that the line has settings. A line with a setting of a
// family starts without the family's other choices in f: the parameters of a sampler, or the other
// way of masking. The errors wrap [ErrSetting].
func (f *Filling) ForLine(tok *tokenize.Tokenizer, fields iter.Seq2[string, json.RawMessage]) (
	filling *Filling, own bool, err error) {
	line, begin := f.given.another()
	alike := f.Alike
	for name, raw := range fields {
		s := fillTable.OfLine(name)
		if s == nil || string(raw) == "null" {
			continue
		}
		own = true
		begin(s)
		if s.Name != "seed" {
			alike += "\x00" + name + "\x00" + string(raw)
		}
		if err := s.SetJSON(line, raw); err != nil {
			return nil, true, err
		}
	}
	if !own {
		return f, false, nil
	}
	if err := line.Check(); err != nil {
		return nil, true, asField(err)
	}
	if filling, err = line.prepare(tok, f); err != nil {
		return nil, true, asField(err)
	}
	filling.Alike = alike
	return filling, true, nil
}

// another is a copy of v, and what is to be called before a setting is chosen in it: the first one
// of a family takes the choices of the family away.
func (v *Fill) another() (*Fill, func(*Setting[Fill])) {
	out := *v
	out.Sampling.Params = slices.Clone(v.Sampling.Params) // not to be shared with v
	begun := map[*family[Fill]]bool{}
	return &out, func(s *Setting[Fill]) {
		if s.family != nil && !begun[s.family] {
			begun[s.family] = true
			s.family.reset(&out)
		}
	}
}

// asField makes an error one that spells the setting as JSON does.
func asField(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Err: err}
	}
	if s := fillTable.Find(e.Name); s != nil {
		e.field = s.Field()
	}
	return e
}

// Meant is the setting that somebody may have meant by a JSON field that is none of a line, nil for
// none: one that lines do not choose, or one whose field differs from the name by a slip, such as a
// letter or a dash. It is one that takes the value, for data have names of their own.
func (t Table[T]) Meant(name string, raw json.RawMessage) *Setting[T] {
	var known []string
	byName := map[string]*Setting[T]{}
	for _, s := range t {
		if s.Line && s.Field() == name {
			return nil
		}
		if s.Line || s.Field() == name {
			known = append(known, s.Field())
			byName[s.Field()] = s
		}
	}
	s := byName[nearest.Slip(strings.ReplaceAll(name, "-", "_"), known)]
	if s == nil || string(raw) == "null" || s.SetJSON(new(T), raw) != nil {
		return nil
	}
	return s
}
