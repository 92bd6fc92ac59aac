package records

import (
	"io"
	"slices"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/tokenize"
)

// ByLabel are the words of a file that tell the labels of its texts apart, which variants keep. A
// variant gets none of those that tell another label than its own.
type ByLabel struct {
	Field   string         // that has the labels, "" for a file without them
	Values  int            // different ones, 0 where nothing was read
	Unlike  bool           // they are one, or too many for labels
	Telling []text.Telling // see [text.Contrast.Telling]; nil if Unlike

	words *text.WordSet
	bans  map[string]*text.WordList // by label: the words of all others
}

// Labels are classes if they are mostLabels at most, with leastOfLabel texts each on average.
const (
	leastOfLabel = 3
	mostLabels   = 200
)

// LabelField is the field of the next record that has its label, "" for none; see [Learn].
func LabelField(in *input.Reader, field string) string {
	it, _ := in.Peek() // of an error or no record the item has no field
	name, _ := jsonl.Label(it.Fields, fieldsOf(field)...)
	return name
}

// fieldsOf are the fields that a setting stands for.
func fieldsOf(field string) []string {
	if field == "auto" {
		return jsonl.LabelNames()
	}
	return []string{field}
}

// Learn reads a file to its end, and finds the words that a masking may mask and that tell the
// values of a field apart; "auto" is the first usual field of a record. Errors come from
// [input.Reader.Next].
func Learn(in *input.Reader, tok *tokenize.Tokenizer, m text.Masking, field string) (*ByLabel,
	error) {
	b, n, fields := &ByLabel{}, 0, fieldsOf(field)
	var c text.Contrast
	for {
		it, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		name, label := jsonl.Label(it.Fields, fields...)
		if it.Err != nil || it.Left != "" || label == "" {
			continue
		}
		b.Field, fields = name, []string{name}
		c.Add(m, it.Text, label)
		n++
	}
	b.Values = c.Labels()
	if b.Unlike = b.Values < 2 || b.Values > min(mostLabels, n/leastOfLabel); b.Unlike {
		return b, nil
	}
	b.Telling = c.Telling()
	return b, b.prepare(tok)
}

// prepare makes the sets of words.
func (b *ByLabel) prepare(tok *tokenize.Tokenizer) (err error) {
	all, of := []string(nil), map[string]map[string]bool{}
	for _, t := range b.Telling {
		all = append(all, t.Word)
		if of[t.Label] == nil {
			of[t.Label] = map[string]bool{}
		}
		of[t.Label][t.Word] = true
	}
	if b.words, err = text.NewWordSet(all); err != nil {
		return err
	}
	b.bans = map[string]*text.WordList{}
	for label, own := range of {
		others := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return own[w] })
		if b.bans[label], _, err = text.NewBanList(tok, others); err != nil {
			return err
		}
	}
	return nil
}

// guide has the words stay that tell labels apart, and none of another label fill a blank.
func (b *ByLabel) guide(it *input.Item, m *text.Masking, opt *infill.Options) {
	if b == nil || b.words == nil {
		return
	}
	if keep := m.Keep; keep == nil {
		m.Keep = b.words
	} else {
		m.Keep = &text.WordSet{}
		m.Keep.Add(keep)
		m.Keep.Add(b.words)
	}
	if _, label := jsonl.Label(it.Fields, b.Field); b.bans[label] != nil {
		opt.Words.Ban = opt.Words.Ban.With(b.bans[label])
		opt.Alike += "\x00label\x00" + label
	}
}
