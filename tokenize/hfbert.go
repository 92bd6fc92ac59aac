package tokenize

import "encoding/json"

// ofBERT says whether a WordPiece model has the text stage of BERT itself, for which there is a
// faster way than parts.
func (r jsonReader) ofBERT(norm, pre json.RawMessage) (bool, error) {
	kind, err := r.typeOf("normalizer", norm)
	if err != nil {
		return false, err
	}
	splits, err := r.typeOf("pre_tokenizer", pre)
	return (kind == "" || kind == "BertNormalizer") && splits == "BertPreTokenizer", err
}

// wordsOf refuses parts that a WordPiece model is not read with: none that makes words, and those
// that put marks into the text.
func (r jsonReader) wordsOf(p *pipeline) error {
	kind := ""
	for _, s := range p.split {
		if _, marks := s.(metaspace); marks {
			kind = "Metaspace"
		}
	}
	switch {
	case p.byteLevel():
		kind = "ByteLevel"
	case len(p.split) == 0:
		kind = "none"
	}
	if kind == "" {
		return nil
	}
	return r.fail("pre_tokenizer.type", errUnsupported, "%s; a WordPiece model is read with "+
		"BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation or a Sequence of them", kind)
}

// bertNormalizer reads a BertNormalizer.
func (r jsonReader) bertNormalizer(path string, data json.RawMessage) (bertNormalizer, error) {
	n := struct {
		Clean   bool  `json:"clean_text"`
		Chinese bool  `json:"handle_chinese_chars"`
		Strip   *bool `json:"strip_accents"`
		Lower   bool  `json:"lowercase"`
	}{Clean: true, Chinese: true, Lower: true}
	if err := r.decode(path, data, &n); err != nil {
		return bertNormalizer{}, err
	}
	out := bertNormalizer{clean: n.Clean, chinese: n.Chinese, lower: n.Lower, strip: n.Lower}
	if n.Strip != nil {
		out.strip = *n.Strip
	}
	return out, nil
}

// atWords is the splitter of the expression \w+|[^\w\s]+: it divides at white space, which it
// drops, and where letters and digits meet other characters.
type atWords struct{}

func (atWords) cut(chars []char, bare bool) (out [][]char) {
	for _, part := range (atSpaces{}).cut(chars, bare) {
		lo := 0
		for i := 1; i < len(part); i++ {
			if isWordRune(part[i].r) != isWordRune(part[i-1].r) {
				out = append(out, part[lo:i:i])
				lo = i
			}
		}
		out = append(out, part[lo:])
	}
	return out
}
