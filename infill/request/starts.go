package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"infill/infill/text"
	"infill/internal/textline"
	"infill/tokenize"
)

// ErrStart is returned for a filling that chains cannot begin with.
var ErrStart = errors.New("bad start")

// Starts are fillings that chains may begin with, by the text whose blanks they fill. They are safe
// for concurrent use once they are complete.
type Starts struct {
	Name   string // of what they were read from
	ByText map[string][]Started
	bytes  int
}

// A Started is a filling: a word for every blank, and where it comes from.
type Started struct {
	Words  []string
	Source string
}

// Of are the fillings of a text, in the order in which they were added.
func (s *Starts) Of(text string) []Started { return s.ByText[text] }

// Bounds of Starts.
const (
	maxStartLine  = 64 << 20  // bytes of a line
	maxStartBytes = 256 << 20 // bytes of all texts and words
)

// NewStarts makes an empty collection. Errors name it: "standard input", the name of a file, "".
func NewStarts(name string) *Starts {
	return &Starts{Name: name, ByText: map[string][]Started{}}
}

// Add adds a filling of a text, as text.Template.Text has it: for every blank its word, or the
// model's pieces with spaces between. source, if not empty, says in errors where it is from.
func (s *Starts) Add(text string, words []string, source string) {
	s.ByText[text] = append(s.ByText[text], Started{words, source})
	s.bytes += len(text)
	for _, w := range words {
		s.bytes += len(w)
	}
}

// A startRecord has the members of a record that a start needs. Package jsonl has all of them.
type startRecord struct {
	Text     *string `json:"text"`
	Fillings []struct {
		Tokens []string `json:"tokens"`
		Pieces []string `json:"pieces"` // nil where they are the tokens
	} `json:"fillings"`
}

// ReadStarts reads the records of an earlier run, JSON lines, whose fillings are to be starts.
// Records without fillings, such as records of lines that failed, are passed over. name is the
// file's name. Errors name file and line. They wrap ErrStart, unless reading fails.
func ReadStarts(tok *tokenize.Tokenizer, name string, r io.Reader) (*Starts, error) {
	if tok == nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, text.ErrNoTokenizer)
	}
	s := NewStarts(name)
	in := textline.NewReader(r, maxStartLine)
	fillings := 0
	for {
		b, err := in.Next()
		if err == io.EOF {
			break
		}
		at := fmt.Sprintf("%s, line %d", name, in.Number())
		bad := func(err error) error { return fmt.Errorf("%w: %s: %w", ErrStart, at, err) }
		if errors.Is(err, textline.ErrTooLong) {
			return nil, bad(err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(b) == 0 {
			continue
		}
		var rec startRecord
		if err := json.Unmarshal(b, &rec); err != nil {
			return nil, bad(fmt.Errorf("not a record of a filled text: %w", err))
		}
		if rec.Text == nil || len(rec.Fillings) == 0 {
			continue
		}
		p, err := text.Read(tok, *rec.Text)
		if err != nil {
			return nil, bad(err)
		}
		for i, f := range rec.Fillings {
			words := f.Tokens
			if f.Pieces != nil {
				words = f.Pieces
			}
			if len(words) != len(p.Blanks) {
				return nil, bad(fmt.Errorf("filling %d has %d tokens for %d blanks", i+1, len(words),
					len(p.Blanks)))
			}
			s.Add(p.Text, words, at)
			fillings++
		}
		if s.bytes > maxStartBytes {
			return nil, bad(fmt.Errorf("more than %d MB of texts and words; divide the run",
				maxStartBytes>>20))
		}
	}
	if fillings == 0 {
		return nil, fmt.Errorf("%w: %s: no record of a filled text; "+
			"give the JSON lines of an earlier run", ErrStart, name)
	}
	return s, nil
}
