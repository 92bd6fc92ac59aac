package tokenize

import (
	"encoding/json"
	"unicode"
)

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
	case p.bytes != nil:
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

// bertPart is a bertNormalizer among other normalizers.
type bertPart bertNormalizer

func (b bertPart) run(chars []char, start int32) ([]char, error) {
	var out []char
	for _, c := range chars {
		if b.clean {
			if inRanges(removedTable, c.r) {
				continue
			}
			if isWhite(c.r) {
				c.r = ' '
			}
		}
		if b.chinese && isChinese(c.r) {
			space := char{r: ' ', lo: c.lo, hi: c.hi}
			out = append(out, space, c, space)
			continue
		}
		out = append(out, c)
	}
	if b.strip {
		out = stripAccents(&normalised{}, out)
	}
	if b.lower {
		return lowercase{}.run(out, start)
	}
	return out, nil
}

// atBoth is the splitter of BERT: at white space, which it drops, and around punctuation.
type atBoth struct{}

func (atBoth) cut(chars []char, bare bool) (out [][]char) {
	for _, part := range (atSpaces{}).cut(chars, bare) {
		out = append(out, atPunctuation{}.cut(part, bare)...)
	}
	return out
}

// atWords is the splitter of the expression \w+|[^\w\s]+: it divides at white space, which it
// drops, and where letters and digits meet other characters.
type atWords struct{}

// inWord are the characters that \w stands for.
var inWord = []*unicode.RangeTable{unicode.Letter, unicode.Mark, unicode.Nd, unicode.Nl, unicode.Pc,
	unicode.Other_Alphabetic, unicode.Join_Control, newInWord}

// newInWord are those of Unicode 16 that Go's tables, of Unicode 15, do not have: Hugging Face's
// tokenizers 0.23 have them.
var newInWord = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0897, 0x0897, 1}, {0x1C89, 0x1C8A, 1}, {0xA7CB, 0xA7CD, 1}, {0xA7DA, 0xA7DC, 1},
	},
	R32: []unicode.Range32{
		{0x105C0, 0x105F3, 1}, {0x10D40, 0x10D65, 1}, {0x10D69, 0x10D6D, 1}, {0x10D6F, 0x10D85, 1},
		{0x10EC2, 0x10EC4, 1}, {0x10EFC, 0x10EFC, 1}, {0x11380, 0x11389, 1}, {0x1138B, 0x1138B, 1},
		{0x1138E, 0x1138E, 1}, {0x11390, 0x113B5, 1}, {0x113B7, 0x113C0, 1}, {0x113C2, 0x113C2, 1},
		{0x113C5, 0x113C5, 1}, {0x113C7, 0x113CA, 1}, {0x113CC, 0x113D3, 1}, {0x113E1, 0x113E2, 1},
		{0x116D0, 0x116E3, 1}, {0x11BC0, 0x11BE0, 1}, {0x11BF0, 0x11BF9, 1}, {0x11F5A, 0x11F5A, 1},
		{0x13460, 0x143FA, 1}, {0x16100, 0x16139, 1}, {0x16D40, 0x16D6C, 1}, {0x16D70, 0x16D79, 1},
		{0x18CFF, 0x18CFF, 1}, {0x1CCF0, 0x1CCF9, 1}, {0x1E5D0, 0x1E5FA, 1}, {0x2EBF0, 0x2EE5D, 1},
	},
}

func (atWords) cut(chars []char, bare bool) (out [][]char) {
	for _, part := range (atSpaces{}).cut(chars, bare) {
		lo := 0
		for i := 1; i < len(part); i++ {
			if unicode.In(part[i].r, inWord...) != unicode.In(part[i-1].r, inWord...) {
				out = append(out, part[lo:i:i])
				lo = i
			}
		}
		out = append(out, part[lo:])
	}
	return out
}
