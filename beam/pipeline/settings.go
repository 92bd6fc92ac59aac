package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/unpack"
)

// A Setting is a setting of a filling or of a model by its name in [settings.FillTable] or
// [settings.ModelTable], with its value as its flag takes it. A list may come in several.
type Setting struct {
	Name string `json:"name"`
	Text string `json:"value"`
}

// Settings say how blanks are filled, in a form that can be sent to workers. [NewSettings] makes
// them.
type Settings struct {
	Chosen []Setting // without the words of "allow"
	Allow  []string  // the only words that fill blanks, nil for any
	Seed   uint64
}

// NewSettings checks what can be checked without a model. A file of allowed words is read now, so
// that workers need not have it. A seed is chosen if there is none. The error wraps
// [settings.ErrSetting], or is one of [settings.Fill.NewSampler].
func NewSettings(chosen []Setting) (*Settings, error) {
	s := &Settings{Chosen: chosen}
	filling, err := s.filling()
	if err != nil {
		return nil, err
	}
	if _, err := s.model(); err != nil {
		return nil, err
	}
	if err := filling.Check(); err != nil {
		return nil, err
	}
	if _, err := filling.NewSampler(); err != nil {
		return nil, err
	}
	if s.Allow = filling.Words.Allow; filling.Words.AllowFile != "" {
		if s.Allow, err = allowed(filling.Words.AllowFile); err != nil {
			return nil, err
		}
	}
	s.Chosen = nil
	for _, c := range chosen {
		if c.Name != "allow" {
			s.Chosen = append(s.Chosen, c)
		}
	}
	if filling.Seed == nil {
		seed := rand.Uint64N(1_000_000) // short enough to be typed again
		s.Chosen = append(s.Chosen, Setting{"seed", strconv.FormatUint(seed, 10)})
		filling.Seed = &seed
	}
	s.Seed = *filling.Seed
	return s, nil
}

// allowed are the words of a file, which may be compressed. The error is a [*settings.Error].
func allowed(path string) (words []string, err error) {
	r, err := unpack.Open(path)
	if err == nil {
		words, err = text.ReadWords(r)
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return nil, &settings.Error{Name: "allow", Err: fmt.Errorf("%s: %w", path, err)}
	}
	return words, nil
}

// filling is how blanks are filled, not prepared yet.
func (s *Settings) filling() (*settings.Fill, error) {
	v := settings.Defaults()
	if err := apply(s.Chosen, settings.FillTable(), v); err != nil {
		return nil, err
	}
	if s.Allow != nil {
		words, err := json.Marshal(s.Allow)
		if err != nil {
			return nil, err
		}
		if err := settings.FillTable().Find("allow").SetJSON(v, words); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// model says which model, and how it is opened.
func (s *Settings) model() (*settings.Model, error) {
	v := settings.ModelDefaults()
	return v, apply(s.Chosen, settings.ModelTable(), v)
}

// apply puts the settings of a table into v. One that is in no table is an error.
func apply[T any](chosen []Setting, table settings.Table[T], v *T) error {
	for _, c := range chosen {
		if s := table.Find(c.Name); s != nil {
			if err := s.Set(v, c.Text); err != nil {
				return err
			}
			continue
		}
		if settings.FillTable().Find(c.Name) == nil &&
			settings.ModelTable().Find(c.Name) == nil {
			return &settings.Error{Name: c.Name, Err: errNoSetting}
		}
	}
	return nil
}

var errNoSetting = errors.New("there is no such setting")

// key names the settings that keep decides about: equal keys, equal settings.
func (s *Settings) key(keep func(Setting) bool) string {
	var chosen []Setting
	for _, c := range s.Chosen {
		if keep(c) {
			chosen = append(chosen, c)
		}
	}
	return fmt.Sprintf("%q", chosen)
}
