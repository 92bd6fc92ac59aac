// Package profile keeps what a sampler adapted to a sample of a corpus, so that later runs need no
// burn-in.
//
// A [Pool] gathers what [infill.Engine.Tune] finds in single texts and makes a [Profile] of it.
// What a sampler adapts depends on the number of coordinates of a text, which are about its blanks.
// So a profile has values for each number that the sample had, and a text of another number takes
// those of the nearest, see [Profile.At]. A profile is a JSON file, see [Decode]. It names the
// model and the sampler that it is for.
package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"infill/mlm"
	"infill/samplers"
)

// Format is the version of the file.
const Format = 1

// ErrProfile is the kind of every error of a file that is not a profile.
var ErrProfile = errors.New("bad profile")

// A Profile is what a sampler adapted to a sample of a corpus.
type Profile struct {
	Format int `json:"format"`
	// Version is that of the program that made it.
	Version string `json:"version"`
	// Model is "sha256:" and the hash of the model.
	Model string `json:"model"`
	// Sampler is the name of the sampler, Params are its parameters that were given.
	Sampler string            `json:"sampler"`
	Params  map[string]string `json:"params,omitempty"`
	// Gradient is the name of the mode of gradients.
	Gradient string `json:"gradient"`
	// Settings are those of the tuning, as a manifest has them. They are for readers.
	Settings map[string]string `json:"settings,omitempty"`
	Corpus   Corpus            `json:"corpus"`
	// Tuned has what was adapted, ascending by the number of coordinates.
	Tuned []Entry `json:"tuned"`
}

// Corpus says what a profile was made from.
type Corpus struct {
	// SHA256 is "sha256:" and the hash of the bytes that were read.
	SHA256 string `json:"sha256"`
	// Texts is the number of texts in the corpus, Sampled the number that was used.
	Texts   int `json:"texts"`
	Sampled int `json:"sampled"`
}

// An Entry is what was adapted for one number of coordinates.
type Entry struct {
	Coordinates int `json:"coordinates"`
	Texts       int `json:"texts"`  // that had chains of this number
	Chains      int `json:"chains"` // of them together
	// Values are the adapted quantities by name, geometric means over the texts.
	Values map[string]float64 `json:"values"`
	// MoveShare and Acceptance are those of the tuning after its burn-in, as in records; nil
	// without any.
	MoveShare  *float64 `json:"move_share,omitempty"`
	Acceptance *float64 `json:"acceptance,omitempty"`
}

// maxBytes bounds a file that is read.
const maxBytes = 1 << 20

// Encode is the file of a profile.
func (p *Profile) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Decode reads a profile. It is strict: one JSON object of at most a mebibyte, with known members,
// each once, values that the sampler takes, and nothing after it. A byte order mark is passed over.
// Errors wrap [ErrProfile], or are those of the reader.
func Decode(r io.Reader) (*Profile, error) {
	if r == nil {
		return nil, fmt.Errorf("%w: there is no reader to read from; pass a file", ErrProfile)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrProfile, maxBytes)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff")) // the byte order mark that some editors put there
	if err := unique(json.NewDecoder(bytes.NewReader(b)), "", 0); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrProfile, plain(err))
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	p := &Profile{}
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrProfile, plain(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: something follows the JSON object", ErrProfile)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProfile, err)
	}
	return p, nil
}

// plain is a message of package json without its name and without Go's names of types.
func plain(err error) string {
	var t *json.UnmarshalTypeError
	switch {
	case errors.As(err, &t):
		return fmt.Sprintf("%q is a JSON %s, which does not belong there", t.Field, t.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the file is cut off"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// maxDepth is more than the nesting of a profile.
const maxDepth = 8

// unique reads a JSON value and refuses objects with two members of one name.
func unique(d *json.Decoder, path string, depth int) error {
	if depth > maxDepth {
		return errors.New("it is nested too deeply")
	}
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return err
			}
			at := path + "." + fmt.Sprint(name)
			if seen[at] {
				return fmt.Errorf("the member %q stands there twice", strings.TrimPrefix(at, "."))
			}
			seen[at] = true
			if err := unique(d, at, depth+1); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for d.More() {
			if err := unique(d, path, depth+1); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = d.Token() // the end of the object or list
	return err
}

var hashed = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// check finds the first thing that makes no sense.
func (p *Profile) check() error {
	switch {
	case p.Format != Format:
		return fmt.Errorf("its format is %d, and this program reads %d", p.Format, Format)
	case !hashed.MatchString(p.Model):
		return fmt.Errorf("model is %.80q, want sha256: and 64 hexadecimal digits", p.Model)
	case !hashed.MatchString(p.Corpus.SHA256):
		return fmt.Errorf("corpus.sha256 is %.80q, want sha256: and 64 hexadecimal digits",
			p.Corpus.SHA256)
	case !slices.Contains(mlm.GradientModeNames(), p.Gradient):
		return fmt.Errorf("gradient is %.80q, want one of %s", p.Gradient,
			strings.Join(mlm.GradientModeNames(), ", "))
	case len(p.Tuned) == 0:
		return errors.New("nothing was tuned")
	}
	if _, err := samplers.New(p.Sampler, p.Params); err != nil {
		return err
	}
	last := 0
	for i, e := range p.Tuned {
		switch {
		case e.Coordinates <= last:
			return fmt.Errorf("tuned[%d]: %d coordinates after %d, want ascending numbers from 1",
				i, e.Coordinates, last)
		case len(e.Values) == 0:
			return fmt.Errorf("tuned[%d]: no values", i)
		}
		last = e.Coordinates
		for name, v := range e.Values {
			if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("tuned[%d]: %s is %v, want a number above 0", i, name, v)
			}
		}
		if _, err := p.sampler(&p.Tuned[i]); err != nil {
			return fmt.Errorf("tuned[%d]: %w", i, err)
		}
	}
	return nil
}

// At is the entry for a number of coordinates: its own or that of the nearest number, by ratio, of
// two equally near ones that of the smaller. It is nil where there is no entry.
func (p *Profile) At(coordinates int) *Entry {
	if len(p.Tuned) == 0 {
		return nil
	}
	best, least := &p.Tuned[0], math.Inf(1)
	for i := range p.Tuned {
		d := math.Abs(math.Log(float64(p.Tuned[i].Coordinates) / float64(coordinates)))
		if d < least {
			best, least = &p.Tuned[i], d
		}
	}
	return best
}

// Samplers makes the samplers of the profile: one for each number of coordinates, as
// [infill.Options.Tuned] wants them. They adapt nothing. The error is that of [samplers.New], or
// ErrProfile where there is no entry.
func (p *Profile) Samplers() (func(coordinates int) samplers.Sampler, error) {
	if len(p.Tuned) == 0 {
		return nil, fmt.Errorf("%w: it has no entry; tune one, or read one with Decode", ErrProfile)
	}
	made := map[*Entry]samplers.Sampler{}
	for i := range p.Tuned {
		s, err := p.sampler(&p.Tuned[i])
		if err != nil {
			return nil, err
		}
		made[&p.Tuned[i]] = s
	}
	return func(n int) samplers.Sampler { return made[p.At(n)] }, nil
}

func (p *Profile) sampler(e *Entry) (samplers.Sampler, error) {
	params, err := samplers.Fixed(p.Sampler, p.Params, e.Values)
	if err != nil {
		return nil, err
	}
	return samplers.New(p.Sampler, params)
}
