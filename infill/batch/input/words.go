package input

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"regexp"
	"slices"
	"strings"

	"infill/infill/jsonl"
	"infill/infill/table"
	"infill/infill/text"
)

// A wordSource makes texts of records that are words.
type wordSource struct {
	src   source          // of words
	of    []string        // the columns that name the sentence of a word
	seen  map[uint64]bool // hashes of the sentences before, maxSeen at most
	ahead *Item           // the first word of the next text, nil if it was not read
	done  bool
}

// maxSeen bounds the sentences that are remembered, to notice one that comes again.
const maxSeen = 1 << 20

func newWordSource(src source, o Options) (source, error) {
	if src.columns == nil && !o.Format.JSON() {
		return src, errNoSentences
	}
	if !o.Shard.Whole() {
		return src, fmt.Errorf("%w: sentences of one word a line are not cut", ErrShard)
	}
	s := &wordSource{src: src, of: strings.Split(o.Sentence, ","), seen: map[uint64]bool{}}
	return source{next: s.next, columns: src.columns}, nil
}

// errNoSentences is the error of words without a column that says where sentences end.
var errNoSentences = fmt.Errorf("%w: lines of text have no column that says which sentence a word "+
	"is of; give a table or JSON lines", table.ErrTable)

// next is a text whose fields are lists: of the values of its words.
func (s *wordSource) next() (Item, error) {
	var words []Item
	for {
		it, err := s.word()
		if err == io.EOF && words != nil {
			break
		}
		if err != nil {
			return Item{}, err
		}
		if words != nil && (it.Err != nil || !bytes.Equal(s.key(&it), s.key(&words[0]))) {
			s.ahead = &it
			break
		}
		words = append(words, it)
		if it.Err != nil {
			break
		}
	}
	out := together(words)
	if out.Err == nil {
		out.Doubts = s.doubts(words)
	}
	return out, nil
}

// ends is a word that ends a sentence.
var ends = regexp.MustCompile(`[.!?]["'”’)]*$`)

// doubts say what makes words unlikely to be one sentence.
func (s *wordSource) doubts(words []Item) (out []text.Doubt) {
	doubt := func(code, message string) {
		out = append(out, text.Doubt{Code: code, Message: message + " (" +
			strings.Join(s.of, ", ") + ")"})
	}
	stops := 0
	for _, w := range words {
		if ends.MatchString(w.Text) {
			stops++
		}
	}
	if stops > 1 {
		doubt("sentence_stops", fmt.Sprintf("%d words of this sentence end with a full stop; are they "+
			"of several sentences, or readers, with the same name?", stops))
	}
	if len(words) == 1 {
		doubt("sentence_word", "this sentence is one word; does the column say which sentence a word is "+
			"of?")
	}
	key := s.key(&words[0])
	if strings.Trim(string(key), "\x00") == "" { // a sentence without a name
		return out
	}
	h := fnv.New64a()
	_, _ = h.Write(key)
	if s.seen[h.Sum64()] {
		doubt("sentence_again", "a sentence of this name was there before; its words do not follow each "+
			"other, and each part is scored by itself")
	} else if len(s.seen) < maxSeen {
		s.seen[h.Sum64()] = true
	}
	return out
}

// word is the next record.
func (s *wordSource) word() (Item, error) {
	if it := s.ahead; it != nil {
		s.ahead = nil
		return *it, nil
	}
	if s.done {
		return Item{}, io.EOF
	}
	it, err := s.src.next()
	if errors.Is(err, io.EOF) {
		s.done = true
	}
	it.Stored = nil // of one word only
	return it, err
}

// key is the values that name the sentence of a word, each with a zero byte behind.
func (s *wordSource) key(it *Item) (key []byte) {
	for _, name := range s.of {
		value := it.ID
		if name != "id" {
			value = nil
		}
		for _, f := range it.Fields {
			if f.Name == name {
				value = f.Value
			}
		}
		key = append(append(key, value...), 0)
	}
	return key
}

// together is the text of words.
func together(words []Item) Item {
	out := words[0]
	if out.Err != nil {
		return out
	}
	out.ID, out.Fields, out.Left = nil, nil, ""
	var texts, names []string
	cells := map[string][]json.RawMessage{} // null for a word without the field
	for n, w := range words {
		texts = append(texts, w.Text)
		if strings.TrimSpace(w.Text) == "" && out.Err == nil {
			out.Err = &jsonl.Error{Line: out.Line, Kind: jsonl.ErrRow, Reason: fmt.Sprintf(
				"word %d of the sentence, on line %d, is empty", n+1, w.Line)}
		}
		if w.ID != nil {
			w.Fields = slices.Insert(slices.Clone(w.Fields), 0, jsonl.Field{Name: "id", Value: w.ID})
		}
		for _, f := range w.Fields {
			if cells[f.Name] == nil {
				names = append(names, f.Name)
				cells[f.Name] = slices.Repeat([]json.RawMessage{json.RawMessage("null")}, len(words))
			}
			cells[f.Name][n] = f.Value
		}
	}
	out.Text, out.Words = jsonl.Joined(texts)
	for _, name := range names {
		list, err := json.Marshal(cells[name])
		out.Fields = append(out.Fields, jsonl.Field{Name: name, Value: list})
		out.Err = cmp.Or(out.Err, err)
	}
	return out
}
