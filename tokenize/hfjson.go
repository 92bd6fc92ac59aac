package tokenize

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
)

// jsonReader reads parts of a tokenizer.json.
type jsonReader struct{ whole []byte }

func (r jsonReader) decode(path string, data json.RawMessage, v any) error {
	return decodeJSON(jsonFile, path, r.whole, data, v)
}

func (r jsonReader) fail(path string, sentinel error, format string, args ...any) error {
	return &FileError{File: jsonFile, Path: path, Err: problem(sentinel, format, args...)}
}

// typeOf returns the type of a component; "" for null or a missing one.
func (r jsonReader) typeOf(path string, data json.RawMessage) (string, error) {
	if absent(data) {
		return "", nil
	}
	var v struct {
		Type string `json:"type"`
	}
	err := r.decode(path, data, &v)
	return v.Type, err
}

func absent(data json.RawMessage) bool {
	return len(data) == 0 || bytes.Equal(data, []byte("null"))
}

// parseJSON reads the tokenizer.json of Hugging Face's tokenizers.
func parseJSON(data []byte) (*spec, error) {
	r := jsonReader{data}
	var top struct {
		Added         []jsonToken     `json:"added_tokens"`
		Normalizer    json.RawMessage `json:"normalizer"`
		PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
		PostProcessor json.RawMessage `json:"post_processor"`
		Model         json.RawMessage `json:"model"`
	}
	if err := r.decode("", data, &top); err != nil {
		return nil, err
	}
	s := new(spec)
	if err := r.model(s, top.Model); err != nil {
		return nil, err
	}
	if err := r.textStage(s, top.Normalizer, top.PreTokenizer); err != nil {
		return nil, err
	}
	for i, t := range top.Added {
		if t.ID == nil || *t.ID < 0 || *t.ID >= maxVocabulary {
			return nil, r.fail(fmt.Sprintf("added_tokens[%d].id", i), ErrFormat, "want an id from 0 to %d",
				maxVocabulary-1)
		}
		s.added = append(s.added, t.added(int32(*t.ID)))
	}
	return s, r.postProcessor(s, top.PostProcessor)
}

// textStage reads normalizer and pre-tokenizer.
func (r jsonReader) textStage(s *spec, norm, pre json.RawMessage) error {
	if s.algorithm == wordPieceModel {
		usual, err := r.ofBERT(norm, pre)
		if err != nil {
			return err
		}
		if usual && !absent(norm) {
			s.norm, err = r.bertNormalizer("normalizer", norm)
		}
		if usual {
			return err
		}
	}
	s.parts = new(pipeline)
	if err := r.normalizers(s.parts, norm); err != nil {
		return err
	}
	if err := r.splitters(s.parts, pre); err != nil {
		return err
	}
	if s.algorithm == wordPieceModel {
		return r.wordsOf(s.parts)
	}
	if s.algorithm == bytePairModel && s.byteFallback && !s.parts.byteLevel() {
		s.algorithm = charPairModel
	}
	if (s.algorithm == bytePairModel) != s.parts.byteLevel() {
		return r.fail("pre_tokenizer", errUnsupported,
			"a BPE model is read with ByteLevel (last) or with byte_fallback, a Unigram model without "+
				"ByteLevel")
	}
	return nil
}

func (r jsonReader) model(s *spec, data json.RawMessage) error {
	if absent(data) {
		return r.fail("model", ErrFormat, "missing")
	}
	kind, err := r.typeOf("model", data)
	if err != nil {
		return err
	}
	var m struct {
		Unknown  string          `json:"unk_token"`
		Prefix   *string         `json:"continuing_subword_prefix"`
		MaxChars *int            `json:"max_input_chars_per_word"`
		Vocab    json.RawMessage `json:"vocab"`
		Merges   json.RawMessage `json:"merges"`
	}
	if err := r.decode("model", data, &m); err != nil {
		return err
	}
	switch {
	case kind == "Unigram":
		return r.unigram(s, data)
	// the first versions of the format do not name the type
	case kind == "BPE" || kind == "" && len(m.Merges) > 0:
		if err := r.bpe(s, data); err != nil {
			return err
		}
		s.bytesUnknown = m.Unknown != ""
	case kind != "WordPiece" && kind != "":
		return r.fail("model.type", errUnsupported, "%s; want WordPiece, BPE or Unigram", kind)
	}
	if absent(m.Vocab) {
		return r.fail("model.vocab", ErrFormat, "missing")
	}
	if err := r.decode("model.vocab", m.Vocab, &s.vocab); err != nil {
		return err
	}
	if err := s.checkVocab(func(path string, err error) error {
		return &FileError{File: jsonFile, Path: "model.vocab" + path, Err: err}
	}); err != nil {
		return err
	}
	if s.algorithm != wordPieceModel {
		return nil
	}
	s.names[roleUnknown] = m.Unknown
	s.prefix = "##"
	if m.Prefix != nil {
		s.prefix = *m.Prefix
	}
	if m.MaxChars != nil {
		if s.maxChars = *m.MaxChars; s.maxChars < 1 || s.maxChars > maxWordChars {
			return r.fail("model.max_input_chars_per_word", ErrFormat, "%d, want 1 to %d", s.maxChars,
				maxWordChars)
		}
	}
	return nil
}

// checkVocab checks pieces and ids of a vocabulary from a JSON object; fail
// makes the error, path being that of a piece.
func (s *spec) checkVocab(fail func(path string, err error) error) error {
	for piece, id := range s.vocab {
		switch {
		case len(piece) > maxPieceBytes:
			return fail("", problem(ErrTooLarge, "a piece of %d bytes, at most %d are accepted", len(piece),
				maxPieceBytes))
		case id < 0 || id >= maxVocabulary:
			return fail("["+strconv.Quote(piece)+"]", problem(ErrFormat, "the id is %d, want 0 to %d", id,
				maxVocabulary-1))
		case piece == "":
			delete(s.vocab, piece)
		}
		s.size = max(s.size, id+1)
	}
	return nil
}

// templatePart is one entry of TemplateProcessing: a special token, or the text.
type templatePart struct {
	Special *struct {
		ID string `json:"id"`
	} `json:"SpecialToken"`
	Sequence *struct {
		ID string `json:"id"`
	} `json:"Sequence"`
}

func (r jsonReader) postProcessor(s *spec, data json.RawMessage) error {
	s.template = true
	return r.each("post_processor", "processors", data,
		func(path, kind string, data json.RawMessage) error {
			return r.onePostProcessor(s, path, kind, data)
		})
}

func (r jsonReader) onePostProcessor(s *spec, path, kind string, data json.RawMessage) error {
	switch kind {
	case "ByteLevel": // concerns offsets only
		return nil
	case "BertProcessing", "RobertaProcessing": // the same for one text
		var p struct{ CLS, SEP jsonPair }
		if err := r.decode(path, data, &p); err != nil {
			return err
		}
		s.before, s.after = []int32{p.CLS.id}, []int32{p.SEP.id}
		s.names[roleCLS], s.names[roleSEP] = p.CLS.token, p.SEP.token
		return nil
	case "TemplateProcessing":
		return r.template(s, path, data)
	}
	return r.fail(path+".type", errUnsupported, "%s; want TemplateProcessing, BertProcessing, "+
		"RobertaProcessing or none", kind)
}

func (r jsonReader) template(s *spec, path string, data json.RawMessage) error {
	var p struct {
		Single []templatePart `json:"single"`
		Tokens map[string]struct {
			IDs []int32 `json:"ids"`
		} `json:"special_tokens"`
	}
	if err := r.decode(path, data, &p); err != nil {
		return err
	}
	seen := false
	var first, last string
	for i, part := range p.Single {
		at := fmt.Sprintf("%s.single[%d]", path, i)
		switch {
		case part.Sequence != nil && part.Sequence.ID == "A" && !seen:
			seen = true
		case part.Special != nil:
			token, ok := p.Tokens[part.Special.ID]
			if !ok || len(token.IDs) > maxPieceBytes {
				return r.fail(at, ErrFormat, "the token %q is not described in special_tokens", part.Special.ID)
			}
			if seen {
				s.after = append(s.after, token.IDs...)
				last = part.Special.ID
			} else {
				s.before = append(s.before, token.IDs...)
				if first == "" {
					first = part.Special.ID
				}
			}
		default:
			return r.fail(at, ErrFormat, "want one Sequence A and SpecialTokens")
		}
		if len(s.before)+len(s.after) > maxPieceBytes {
			return r.fail(at, ErrTooLarge, "more than %d special tokens", maxPieceBytes)
		}
	}
	if !seen {
		return r.fail(path+".single", ErrFormat, "the text (Sequence A) is missing")
	}
	s.names[roleCLS], s.names[roleSEP] = first, last
	return nil
}

// jsonPair is ["[SEP]", 102].
type jsonPair struct {
	token string
	id    int32
}

func (p *jsonPair) UnmarshalJSON(data []byte) error { return decodePair(data, &p.token, &p.id) }

// decodePair decodes a list of two values.
func decodePair(data []byte, a, b any) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("want a token and its id, found %d values", len(parts))
	}
	return cmp.Or(json.Unmarshal(parts[0], a), json.Unmarshal(parts[1], b))
}
