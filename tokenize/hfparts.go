package tokenize

import (
	"encoding/json"
	"fmt"
)

// maxParts bounds the normalizers, and the splitters, of a tokenizer.json.
const maxParts = 64

// each calls f for a part of a tokenizer.json, or for the parts of a Sequence.
func (r jsonReader) each(path, list string, data json.RawMessage,
	f func(path, kind string, data json.RawMessage) error) error {
	n := 0
	var visit func(path string, data json.RawMessage, depth int) error
	visit = func(path string, data json.RawMessage, depth int) error {
		kind, err := r.typeOf(path, data)
		if err != nil || kind == "" {
			return err
		}
		if n++; n > maxParts || depth > maxParts {
			return r.fail(path, ErrTooLarge, "more than %d parts", maxParts)
		}
		if kind != "Sequence" {
			return f(path, kind, data)
		}
		var parts map[string]json.RawMessage
		if err := r.decode(path, data, &parts); err != nil {
			return err
		}
		var items []json.RawMessage
		if raw := parts[list]; !absent(raw) {
			if err := r.decode(joinPath(path, list), raw, &items); err != nil {
				return err
			}
		}
		for i, item := range items {
			if err := visit(fmt.Sprintf("%s.%s[%d]", path, list, i), item, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(path, data, 0)
}

// normalizers reads the parts of a normalizer.
func (r jsonReader) normalizers(p *pipeline, data json.RawMessage) error {
	return r.each("normalizer", "normalizers", data,
		func(path, kind string, data json.RawMessage) error {
			n, err := r.oneNormalizer(path, kind, data)
			if err == nil {
				p.norm = append(p.norm, n)
			}
			return err
		})
}

func (r jsonReader) oneNormalizer(path, kind string, data json.RawMessage) (normalizer, error) {
	var v struct {
		Pattern struct {
			String *string
			Regex  *string
		} `json:"pattern"`
		Content string `json:"content"`
		Left    bool   `json:"strip_left"`
		Right   bool   `json:"strip_right"`
		Map     []byte `json:"precompiled_charsmap"` // base64
	}
	if err := r.decode(path, data, &v); err != nil {
		return nil, err
	}
	switch kind {
	case "BertNormalizer":
		return r.bertNormalizer(path, data)
	case "NFC":
		return form{compose: true}, nil
	case "NFD":
		return form{}, nil
	case "NFKC":
		return form{compatible: true, compose: true}, nil
	case "NFKD":
		return form{compatible: true}, nil
	case "Lowercase":
		return lowercase{}, nil
	case "StripAccents":
		return stripMarks{}, nil
	case "Nmt":
		return nmt{}, nil
	case "Strip":
		return stripSpace{v.Left, v.Right}, nil
	case "Precompiled":
		m, err := newCharsmap(v.Map)
		if err != nil {
			return nil, &FileError{File: jsonFile, Path: joinPath(path, "precompiled_charsmap"), Err: err}
		}
		return m, nil
	case "Replace":
		if len(v.Content) > maxPieceBytes {
			return nil, r.fail(path, ErrTooLarge, "a replacement of %d bytes, at most %d are accepted",
				len(v.Content), maxPieceBytes)
		}
		out := replace{content: []rune(v.Content)}
		switch {
		case v.Pattern.String != nil && *v.Pattern.String != "":
			out.match = literal(*v.Pattern.String)
		case v.Pattern.Regex != nil && patterns[*v.Pattern.Regex] != nil:
			out.match = patterns[*v.Pattern.Regex]
		default:
			return nil, r.fail(joinPath(path, "pattern"), errUnsupported,
				"%s; a string can be replaced, or one of the regular expressions of ALBERT and DeBERTa", data)
		}
		return out, nil
	}
	return nil, r.fail(joinPath(path, "type"), errUnsupported,
		"%s; a model is read with NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, BertNormalizer, "+
			"Nmt, Strip, Replace, Precompiled or a Sequence of them", kind)
}

// bpe reads a BPE model, of bytes or with byte fallback: the pre-tokenizer decides.
func (r jsonReader) bpe(s *spec, data json.RawMessage) error {
	var m struct {
		Unknown      string            `json:"unk_token"`
		Prefix       string            `json:"continuing_subword_prefix"`
		Suffix       string            `json:"end_of_word_suffix"`
		Dropout      float64           `json:"dropout"`
		IgnoreMerges bool              `json:"ignore_merges"`
		ByteFallback bool              `json:"byte_fallback"`
		Merges       []json.RawMessage `json:"merges"`
	}
	if err := r.decode("model", data, &m); err != nil {
		return err
	}
	switch {
	case m.Prefix != "" || m.Suffix != "":
		return r.fail("model", errUnsupported, "BPE with marks inside (%q) or at the end (%q) of "+
			"words; only BPE of bytes or with byte fallback can be read", m.Prefix, m.Suffix)
	case m.Dropout != 0:
		return r.fail("model.dropout", errUnsupported,
			"%v: the tokenizer draws at random; set dropout to null", m.Dropout)
	case len(m.Merges) > maxVocabulary:
		return r.fail("model.merges", ErrTooLarge, "%d merges, at most %d are accepted", len(m.Merges),
			maxVocabulary)
	}
	s.algorithm, s.ignoreMerges, s.byteFallback = bytePairModel, m.IgnoreMerges, m.ByteFallback
	s.names[roleUnknown] = m.Unknown
	s.merges = make([][2]string, len(m.Merges))
	for i, raw := range m.Merges {
		m := &s.merges[i]
		var line string
		ok := false
		if len(raw) > 0 && raw[0] == '[' { // since version 0.20 of tokenizers
			ok = decodePair(raw, &m[0], &m[1]) == nil && m[0] != "" && m[1] != ""
		} else if json.Unmarshal(raw, &line) == nil {
			*m, ok = cutMerge(line)
		}
		if !ok {
			return r.fail(fmt.Sprintf("model.merges[%d]", i), ErrFormat,
				"want two pieces with one space between them, or a list of two")
		}
	}
	return nil
}

// unigram reads a Unigram model.
func (r jsonReader) unigram(s *spec, data json.RawMessage) error {
	var m struct {
		Unknown      *int64            `json:"unk_id"`
		ByteFallback bool              `json:"byte_fallback"`
		Vocab        []json.RawMessage `json:"vocab"`
	}
	if err := r.decode("model", data, &m); err != nil {
		return err
	}
	switch n := len(m.Vocab); {
	case n == 0:
		return r.fail("model.vocab", ErrFormat, "missing")
	case n > maxVocabulary:
		return r.fail("model.vocab", ErrTooLarge, "%d pieces, at most %d are accepted", n, maxVocabulary)
	case m.Unknown != nil && (*m.Unknown < 0 || *m.Unknown >= int64(n)):
		return r.fail("model.unk_id", ErrFormat, "%d, want 0 to %d", *m.Unknown, n-1)
	}
	s.algorithm, s.byteFallback, s.unknown = unigramModel, m.ByteFallback, -1
	s.vocab, s.size = make(map[string]int, len(m.Vocab)), len(m.Vocab)
	s.scores = make([]scored, len(m.Vocab))
	for i, raw := range m.Vocab {
		path := fmt.Sprintf("model.vocab[%d]", i)
		v := &s.scores[i]
		if decodePair(raw, &v.piece, &v.score) != nil {
			return r.fail(path, ErrFormat, "want a piece and its score")
		}
		if len(v.piece) > maxPieceBytes {
			return r.fail(path, ErrTooLarge, "a piece of %d bytes, at most %d are accepted", len(v.piece),
				maxPieceBytes)
		}
		if v.piece != "" {
			s.add(v.piece, i)
		}
	}
	if m.Unknown != nil {
		s.unknown = int(*m.Unknown)
		s.names[roleUnknown] = s.scores[s.unknown].piece
	}
	return nil
}
