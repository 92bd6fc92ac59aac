package tokenize

import (
	"encoding/json"
	"unicode/utf8"
)

// A jsonSplitter is a pre-tokenizer as tokenizer.json has it. Each kind has some of the fields.
type jsonSplitter struct {
	Prefix   *bool   `json:"add_prefix_space"`
	Regex    *bool   `json:"use_regex"`
	Mark     *string `json:"replacement"`
	Scheme   string  `json:"prepend_scheme"`
	Split    *bool   `json:"split"`
	Behavior string  `json:"behavior"`
	Invert   bool    `json:"invert"`
	Pattern  struct {
		String *string
		Regex  *string
	} `json:"pattern"`
}

// splitters reads the pre-tokenizer of a model that is not WordPiece.
func (r jsonReader) splitters(p *pipeline, data json.RawMessage) error {
	return r.each("pre_tokenizer", "pretokenizers", data,
		func(path, kind string, data json.RawMessage) error {
			if p.byteLevel() {
				return r.fail(path, errUnsupported, "%s after ByteLevel, which comes last", kind)
			}
			var v jsonSplitter
			if err := r.decode(path, data, &v); err != nil {
				return err
			}
			if kind == "BertPreTokenizer" {
				p.split = append(p.split, atSpaces{}, atPunctuation{})
				return nil
			}
			s, err := r.oneSplitter(path, kind, &v, data)
			if err == nil {
				p.split = append(p.split, s)
			}
			return err
		})
}

func (r jsonReader) oneSplitter(path, kind string, v *jsonSplitter, data json.RawMessage) (splitter,
	error) {
	switch kind {
	case "ByteLevel":
		return byteLevel{v.Prefix == nil || *v.Prefix, v.Regex != nil && !*v.Regex}, nil
	case "WhitespaceSplit":
		return atSpaces{}, nil
	case "Whitespace":
		return atWords{}, nil
	case "Split":
		return r.patternSplitter(path, v, data)
	case "Punctuation":
		if v.Behavior != "" && v.Behavior != "Isolated" && v.Behavior != "isolated" {
			return nil, r.fail(joinPath(path, "behavior"), errUnsupported, "%s; want Isolated", v.Behavior)
		}
		return atPunctuation{}, nil
	case "Metaspace":
		return r.metaspace(path, v)
	}
	return nil, r.fail(joinPath(path, "type"), errUnsupported,
		"%s; a BPE model is read with ByteLevel or Split, a Unigram model with Metaspace, a WordPiece "+
			"model with BertPreTokenizer, each with Whitespace, WhitespaceSplit, Punctuation or a "+
			"Sequence of them", kind)
}

// patternSplitter reads a Split.
func (r jsonReader) patternSplitter(path string, v *jsonSplitter, data json.RawMessage) (splitter,
	error) {
	cut := atPattern{join: v.Behavior == "MergedWithPrevious"}
	switch {
	case v.Pattern.String != nil && *v.Pattern.String != "":
		cut.match = literal(*v.Pattern.String)
	case v.Pattern.Regex != nil && wordPatterns[*v.Pattern.Regex] != nil:
		cut.match = wordPatterns[*v.Pattern.Regex]
	}
	if cut.match == nil || v.Invert || !cut.join && v.Behavior != "Isolated" {
		return nil, r.fail(path, errUnsupported, "%s; a Split is read at a string, or by the regular "+
			"expressions of Llama 3 and Qwen 2, Isolated or MergedWithPrevious and not inverted", data)
	}
	return cut, nil
}

// metaspace reads a Metaspace.
func (r jsonReader) metaspace(path string, v *jsonSplitter) (splitter, error) {
	m := metaspace{mark: '▁', split: v.Split == nil || *v.Split}
	if v.Mark != nil {
		mark, size := utf8.DecodeRuneInString(*v.Mark)
		if size == 0 || size != len(*v.Mark) {
			return nil, r.fail(joinPath(path, "replacement"), ErrFormat, "%q, want one character", *v.Mark)
		}
		m.mark = mark
	}
	switch v.Scheme {
	case "always":
	case "first":
		m.scheme = prependFirst
	case "never":
		m.scheme = prependNever
	case "": // the older spelling
		if v.Prefix != nil && !*v.Prefix {
			m.scheme = prependNever
		}
	default:
		return nil, r.fail(joinPath(path, "prepend_scheme"), ErrFormat, "%q, want always, first or never",
			v.Scheme)
	}
	return m, nil
}
