package energies

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"infill/infill"
)

// ErrSpec is the kind of every error of a part that cannot be understood or is not open.
var ErrSpec = errors.New("bad part of the energy")

// A Spec names a part of an energy and its weight.
type Spec struct {
	Kind   string  // one of Kinds
	Path   string  // the file or folder, "" where the kind has none
	Label  string  // of a classifier, "" for other kinds
	Weight float64 // λ, from −infill.MaxWeight to infill.MaxWeight
}

// A Kind is a kind of parts.
type Kind struct {
	Name string
	Form string // how a part of the kind is written, without its weight
	Doc  string // what its value is, in a few words

	Opened   bool // it is made from a file or a folder
	Labelled bool // it has a label behind that
	Compares bool // it compares a text with the words that stood in its blanks before
}

// kinds are all kinds, in the order of documents.
var kinds = []Kind{
	{"words", "words:FILE", "the weights of listed words among the filled ones", true, false, false},
	{"edit", "edit", "less the edit distance from the words before", false, false, true},
	{"classifier", "classifier:FOLDER:LABEL", "log p(label | text) of a classifier", true, true,
		false},
	{"model", "model:NAME", "the score by another masked model, of any tokenizer", true, false, false},
	{"similar", "similar:FOLDER", "the cosine with the text before, by an encoder", true, false, true},
}

// Kinds lists the kinds of parts.
func Kinds() []Kind { return append([]Kind(nil), kinds...) }

// Forms are the ways to write a part, with "or" between. Without before they are of parts that ask
// for no words from before a text was filled: a text that is scored has none.
func Forms(before bool) string {
	return forms("=WEIGHT", func(k Kind) bool { return before || !k.Compares })
}

// forms are the ways to write parts of some kinds, with something behind each.
func forms(behind string, of func(Kind) bool) string {
	var all []string
	for _, k := range kinds {
		if of(k) {
			all = append(all, k.Form+behind)
		}
	}
	return strings.Join(all, " or ")
}

// Parse reads a part as users write it: words:FILE=2. The weight stands behind the last "=". The
// error wraps ErrSpec.
func Parse(text string) (Spec, error) {
	bad := func(format string, a ...any) (Spec, error) {
		why := fmt.Errorf(format, a...)
		return Spec{}, fmt.Errorf("%w: %q: %w; want %s", ErrSpec, text, why, Forms(true))
	}
	cut := strings.LastIndexByte(text, '=')
	if cut < 0 {
		return bad("it has no weight")
	}
	name, number := text[:cut], text[cut+1:]
	w, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(math.Abs(w) <= infill.MaxWeight) {
		return bad("the weight %q is not a number from %v to %v", number, -infill.MaxWeight,
			infill.MaxWeight)
	}
	s, err := parseName(name)
	if err != nil {
		return bad("%w", err)
	}
	s.Weight = w + 0 // −0 is 0
	return s, nil
}

// ParseName reads a part without a weight that is made from a file or a folder: words:FILE. The
// error wraps ErrSpec.
func ParseName(text string) (Spec, error) {
	s, err := parseName(text)
	if err == nil && s.Path == "" {
		err = fmt.Errorf("%s needs no file, and is there without being opened", s.Kind)
	}
	if err != nil {
		return Spec{}, fmt.Errorf("%w: %q: %w; want %s", ErrSpec, text, err,
			forms("", func(k Kind) bool { return k.Opened }))
	}
	return s, nil
}

// parseName reads a part without its weight. Its error is not of a kind.
func parseName(name string) (Spec, error) {
	kind, path, more := strings.Cut(strings.TrimSpace(name), ":")
	for _, k := range kinds {
		switch {
		case k.Name != kind:
			continue
		case !k.Opened && more:
			return Spec{}, fmt.Errorf("%s takes no more than a weight", kind)
		case k.Opened && path == "":
			return Spec{}, fmt.Errorf("%s needs a file or a folder", kind)
		}
		s := Spec{Kind: kind, Path: path}
		if k.Labelled {
			cut := strings.LastIndexByte(path, ':')
			if cut <= 0 || cut == len(path)-1 {
				return Spec{}, fmt.Errorf("%s needs a folder and a label", kind)
			}
			s.Path, s.Label = path[:cut], path[cut+1:]
		}
		return s, nil
	}
	return Spec{}, fmt.Errorf("there is no kind %q", kind)
}

// Name is the part without its weight, as results call it.
func (s Spec) Name() string {
	if s.Path == "" {
		return s.Kind
	}
	name := s.Kind + ":" + s.Path
	if s.Label != "" {
		name += ":" + s.Label
	}
	return name
}

// Compares reports whether the part compares a text with the words that stood in its blanks before.
func (s Spec) Compares() bool {
	return slices.ContainsFunc(kinds, func(k Kind) bool { return k.Name == s.Kind && k.Compares })
}

// String is the part as Parse reads it.
func (s Spec) String() string {
	return s.Name() + "=" + strconv.FormatFloat(s.Weight, 'g', -1, 64)
}
