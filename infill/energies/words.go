package energies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/infill"
	"infill/internal/disk"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// Bounds of a list.
const (
	maxWords = 1_000_000
	maxLine  = 64 << 10 // bytes
)

// wordWeights is a list of words with weights in nats. As a term its value is the sum of the
// weights of the listed words among those that were filled in, each as often as it stands there. A
// word is a run of letters, marks, digits and apostrophes, without those at its ends, which may be
// quotation marks. It is compared without regard to case and to the form of its apostrophes, and
// counts as filled in when a byte of it is.
type wordWeights struct {
	name    string
	weights map[string]float64
}

// wordsOf reads a list: a word a line, or a word, white space and its weight, which is 1
// otherwise. Empty lines and those that begin with # are passed over. Errors wrap ErrSpec and
// name the line.
func wordsOf(r io.Reader) (*wordWeights, error) {
	l := &wordWeights{name: "words", weights: map[string]float64{}}
	in := textline.NewReader(r, maxLine)
	for {
		b, err := in.Next()
		if err == io.EOF {
			break
		}
		bad := func(msg string) error { return fmt.Errorf("line %d: %w: %s", in.Number(), ErrSpec, msg) }
		if errors.Is(err, textline.ErrTooLong) {
			return nil, bad(err.Error())
		}
		if err != nil {
			return nil, err
		}
		fields := strings.Fields(string(b))
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		word, w := folded(fields[0]), 1.0
		if len(fields) == 2 {
			if w, err = strconv.ParseFloat(fields[1], 64); err != nil || !(math.Abs(w) <= infill.MaxWeight) {
				return nil, bad(fmt.Sprintf("%q is not a weight in nats, from %.0f to %.0f", fields[1],
					-infill.MaxWeight, infill.MaxWeight))
			}
		}
		switch {
		case !utf8.ValidString(fields[0]):
			return nil, bad("it is not UTF-8")
		case len(fields) > 2 || word == "" || !isWord(word):
			return nil, bad(fmt.Sprintf("%q is not a single word, maybe with a weight behind it",
				strings.Join(fields, " ")))
		case len(l.weights) == maxWords:
			return nil, bad(fmt.Sprintf("more than %d words", maxWords))
		}
		if _, twice := l.weights[word]; twice {
			return nil, bad(fmt.Sprintf("%q stands in the list twice", word))
		}
		l.weights[word] = w
	}
	if len(l.weights) == 0 {
		return nil, fmt.Errorf("%w: the list has no word; write one a line", ErrSpec)
	}
	return l, nil
}

// readWords reads a file, maybe compressed, and its hash.
func readWords(path string) (list *wordWeights, sum string, err error) {
	sum, err = disk.Hashed(path, func(r io.Reader) error {
		u, err := unpack.New(r)
		if err != nil {
			return err
		}
		list, err = wordsOf(u)
		return errors.Join(err, u.Close())
	})
	return list, sum, err
}

// named is the list as a term of another name.
func (l *wordWeights) named(name string) *wordWeights { return &wordWeights{name, l.weights} }

// Name implements [infill.Term].
func (l *wordWeights) Name() string { return l.name }

// Rows implements [infill.Term].
func (l *wordWeights) Rows() int { return 0 }

// Values implements [infill.Term].
func (l *wordWeights) Values(_ context.Context, texts []infill.Finished, v []float64) error {
	for k, f := range texts {
		v[k] = 0
		for _, w := range wordsIn(f) {
			v[k] += l.weights[folded(w)]
		}
	}
	return nil
}

// wordsIn lists the words of a text that have a byte in one of its spans.
func wordsIn(f infill.Finished) []string {
	var out []string
	next := 0 // the first span that may reach the word
	for at := 0; at < len(f.Text); {
		n := wordLen(f.Text[at:])
		if n == 0 {
			_, size := utf8.DecodeRuneInString(f.Text[at:])
			at += size
			continue
		}
		word := strings.Trim(f.Text[at:at+n], apostrophes)
		from := at + strings.Index(f.Text[at:at+n], word)
		for next < len(f.Spans) && f.Spans[next][1] <= from {
			next++
		}
		if word != "" && next < len(f.Spans) && f.Spans[next][0] < from+len(word) {
			out = append(out, word)
		}
		at += n
	}
	return out
}

// apostrophes stand in words, and as single quotation marks around them.
const apostrophes = "'’‘"

var straight = strings.NewReplacer("’", "'", "‘", "'")

// folded is a word as it is compared.
func folded(w string) string {
	return strings.Trim(straight.Replace(strings.ToLower(w)), "'")
}

// wordLen is the length in bytes of the word that a text begins with, 0 for none.
func wordLen(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) &&
			!strings.ContainsRune(apostrophes, r) {
			return i
		}
	}
	return len(s)
}

func isWord(s string) bool { return wordLen(s) == len(s) }
