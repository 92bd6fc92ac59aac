package chains

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/samplers"
)

// badStart is the error of a filling that chains cannot begin with, because of one blank, from 0,
// or with −1 of all together. source says where the filling comes from, "" for one source.
func badStart(source string, blank int, word, msg string) error {
	if blank >= 0 {
		msg = fmt.Sprintf("blank %d, %q: %s", blank+1, word, msg)
	}
	if source != "" {
		msg = source + ": " + msg
	}
	return fmt.Errorf("%w: %s", request.ErrStart, msg)
}

// begin makes the first states of n chains, as Options.Sampling.Start says, from what the model
// says with all blanks masked, see Alone. StartMasked draws every coordinate by itself from that.
// Where constraints tie coordinates together, states that break them are drawn again.
func begin(t *target.Target, opt *request.Options, id string, n int, cum, logp [][]float64) (
	[][]int32, error) {
	x := make([][]int32, n)
	stream := func(k int) *rand.Rand { return samplers.NewStream(opt.Seed, id+"\x00start", k) }
	one := func(s []int32, err error) ([][]int32, error) {
		for k := range x {
			x[k] = slices.Clone(s)
		}
		return x, err
	}
	if opt.Sampling.Starts != nil {
		given, err := givenStates(t, opt.Sampling.Starts)
		if err != nil {
			return nil, err
		}
		for k := range x {
			x[k] = slices.Clone(given[k%len(given)])
		}
		return x, nil
	}
	switch opt.Sampling.Start {
	case request.StartArgmax:
		return one(t.Likeliest(logp))
	case request.StartOriginal:
		return one(originalState(t, opt.Words.Original))
	case request.StartRandom:
		for k := range x {
			var err error
			if x[k], err = t.Uniform(stream(k)); err != nil {
				return nil, err
			}
		}
		return x, nil
	}
	for k := range x {
		x[k] = make([]int32, len(t.Coords))
		if err := t.Draw(stream(k), cum, logp, x[k]); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// originalState is the state of the words that stood in the blanks.
func originalState(t *target.Target, words []string) ([]int32, error) {
	if len(words) != len(t.Template.Blanks) {
		return nil, badStart("", -1, "", "nothing stood in the blanks before; "+
			"have words of a complete text masked, or begin elsewhere")
	}
	return stateOf(t, words, "")
}

// givenStates are the states of fillings that these chains can begin with.
func givenStates(t *target.Target, s *request.Starts) ([][]int32, error) {
	list := s.Of(t.Template.Text)
	if len(list) == 0 {
		return nil, badStart(cmp.Or(s.Name, "the fillings to begin with"), -1, "",
			"it has no filling of this text")
	}
	var out [][]int32
	var other error
	for _, g := range list {
		x, err := stateOf(t, g.Words, g.Source)
		if err == nil {
			out = append(out, x)
			continue
		}
		if !otherLengths(t, g.Words) {
			return nil, err
		}
		other = cmp.Or(other, err)
	}
	if out == nil {
		return nil, other
	}
	return out, nil
}

// otherLengths reports whether some blank of open length has another number of pieces than these
// chains, whose lengths were drawn.
func otherLengths(t *target.Target, words []string) bool {
	for b, w := range words {
		g := t.Template.Owner[b]
		if gr := &t.Groups[g]; gr.Max > gr.Min && len(strings.Fields(w)) != t.Counts[g] {
			return true
		}
	}
	return false
}

// stateOf is the state that has some words in the blanks. A word is as records have it, the model's
// pieces with spaces between, or as it is written.
func stateOf(t *target.Target, words []string, source string) ([]int32, error) {
	bad := func(blank int, msg string) error {
		word := ""
		if blank >= 0 {
			word = words[blank]
		}
		return badStart(source, blank, word, msg)
	}
	if len(words) != len(t.Template.Blanks) {
		return nil, bad(-1, fmt.Sprintf("%d words for %d blanks", len(words), len(t.Template.Blanks)))
	}
	x := make([]int32, len(t.Coords))
	for g := range t.Groups {
		blank := t.Groups[g].Blanks[0]
		for _, b := range t.Groups[g].Blanks[1:] {
			if words[b] != words[blank] {
				return nil, bad(b, fmt.Sprintf("the blank is tied to one with %q", words[blank]))
			}
		}
		if msg := t.Put(x, g, words[blank]); msg != "" {
			return nil, bad(blank, msg)
		}
	}
	if !t.Valid(x) {
		return nil, bad(-1, "its words break a rule together; allow more, or begin elsewhere")
	}
	return x, nil
}
