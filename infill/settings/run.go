package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"infill/internal/nearest"
)

// A Run is settings for one of several runs over the same texts, as a user writes them.
type Run struct {
	// Text is the run as it was written. Name is how it is called: the name that it has, or else its
	// settings.
	Text, Name string
	// Model is the model of the run, "" for none in particular.
	Model string

	given []given
}

// given is a value as it was written: raw as JSON, or text.
type given struct {
	setting *Setting[Fill]
	text    string
	raw     json.RawMessage
}

// The members of a run besides its settings.
const (
	runName  = "name"
	runModel = "model"
)

// RunFill is the word of a run that changes no setting.
const RunFill = "fill"

// ParseRun reads a run: words with white space between, or a JSON object. A word is NAME=VALUE, or
// [RunFill]. NAME is a setting of [FillTable], "model" or "name". An object has the same as
// members, and values may have spaces. A run may choose every setting of the table, also those that
// a line of a file may not. The error is an [*Error].
func ParseRun(text string) (*Run, error) {
	r := &Run{Text: strings.TrimSpace(text)}
	var err error
	if strings.HasPrefix(r.Text, "{") {
		err = r.object()
	} else {
		err = r.words()
	}
	if err != nil {
		return nil, err
	}
	if r.Name == "" {
		r.Name = r.spelt()
	}
	return r, nil
}

// badRun is an error about a run.
func badRun(format string, args ...any) error { return &Error{Err: fmt.Errorf(format, args...)} }

func (r *Run) words() error {
	words := strings.Fields(r.Text)
	if len(words) == 0 {
		return badRun("a run without a word; give settings, as steps=50, or %s", RunFill)
	}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		switch {
		case w == RunFill:
		case !ok:
			return unknownIn(r.Text, w, []string{RunFill}, "settings as NAME=VALUE, or "+RunFill)
		default:
			if err := r.give(name, value, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Run) object() error {
	d := json.NewDecoder(strings.NewReader(r.Text))
	if _, err := d.Token(); err != nil { // the brace
		return badRun("%w", err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return badRun("%s is not a JSON object: %w", r.Text, err)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return badRun("%s is not a JSON object: %w", r.Text, err)
		}
		if err := r.give(key.(string), "", raw); err != nil {
			return err
		}
	}
	_, err := d.Token() // the brace
	if _, end := d.Token(); err != nil || end != io.EOF {
		return badRun("%s is not one JSON object", r.Text)
	}
	return nil
}

// give enters a member: its text, or raw.
func (r *Run) give(name, text string, raw json.RawMessage) error {
	own := map[string]*string{runName: &r.Name, runModel: &r.Model}[name]
	if own != nil {
		if raw != nil && json.Unmarshal(raw, &text) != nil {
			return badRun("%q is %s, want a text", name, raw)
		}
		switch {
		case *own != "":
			return badRun("%q is there twice in %s", name, r.Text)
		case text == "":
			return badRun("%q is empty in %s", name, r.Text)
		}
		*own = text
		return nil
	}
	s := fillTable.Find(strings.ReplaceAll(name, "_", "-"))
	if s == nil {
		s = fillTable.OfLine(name)
	}
	if s == nil {
		names := []string{runName, runModel}
		for _, s := range fillTable {
			names = append(names, s.Name)
		}
		return unknownIn(r.Text, name, names, "a setting")
	}
	twice := slices.ContainsFunc(r.given, func(g given) bool { return g.setting == s })
	if twice && (raw != nil || s.bind(new(Fill)).Kind != reflect.Slice) {
		return badRun("%q is there twice in %s", name, r.Text)
	}
	r.given = append(r.given, given{s, text, raw})
	return nil
}

// unknownIn says that a run has a word that nothing is called, and what was meant.
func unknownIn(run, word string, known []string, want string) error {
	what := fmt.Sprintf("nothing is called %q", word)
	if run != word {
		what += " in " + run
	}
	if n := nearest.Name(word, known); n != "" {
		return badRun("%s; did you mean %q?", what, n)
	}
	return badRun("%s; want %s", what, want)
}

// spelt is the run in words, without its name and its model.
func (r *Run) spelt() string {
	var parts []string
	for _, g := range r.given {
		value := g.text
		if g.raw != nil {
			var b bytes.Buffer
			_ = json.Compact(&b, g.raw) // it was read
			if value = b.String(); json.Unmarshal(g.raw, &value) != nil {
				value = b.String()
			}
		}
		parts = append(parts, g.setting.Name+"="+value)
	}
	return strings.Join(parts, " ")
}

// ForRun is v with the settings of a run. As in [Filling.ForLine] a run with a setting of a family
// starts without the family's other choices in v. Nothing may be open in v. The error is an
// [*Error], and that of [samplers.New].
func (v *Fill) ForRun(r *Run) (*Fill, error) {
	run, begin := v.another()
	run.read = newReadFiles() // it has a model and an encoder of its own
	listed := map[*Setting[Fill]]bool{}
	for _, g := range r.given {
		s := g.setting
		begin(s)
		if g.raw != nil {
			if err := s.SetJSON(run, g.raw); err != nil {
				return nil, err
			}
			continue
		}
		if value := s.bind(run); value.Kind == reflect.Slice && !listed[s] {
			listed[s] = true
			for _, none := range []string{"[]", "{}"} { // in place of the list of v
				if value.setJSON(json.RawMessage(none)) == nil {
					break
				}
			}
		}
		if err := s.Set(run, g.text); err != nil {
			return nil, err
		}
	}
	if !run.masksAs(v) {
		return nil, badRun("words are masked once, for all runs; say beside the runs how")
	}
	if err := run.Check(); err != nil {
		return nil, err
	}
	if _, err := run.NewSampler(); err != nil {
		return nil, err
	}
	if err := run.CheckFiles(); err != nil {
		return nil, err
	}
	return run, nil
}

// masksAs reports whether the same words of texts are masked.
func (v *Fill) masksAs(o *Fill) bool {
	return v.Masking.Rate == o.Masking.Rate && v.Masking.Words == o.Masking.Words &&
		slices.Equal(v.Words.StopWords, o.Words.StopWords) &&
		!slices.ContainsFunc(maskTable, func(s *Setting[Fill]) bool {
			return s.not == "" && s.bind(v).String() != s.bind(o).String()
		})
}
