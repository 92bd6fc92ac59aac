package tokenize

import (
	"cmp"
	"fmt"
	"io/fs"
	"unicode"
	"unicode/utf8"
)

const (
	vocabFile     = "vocab.txt"
	jsonFile      = "tokenizer.json"
	vocabJSONFile = "vocab.json"
	mergesFile    = "merges.txt"
)

// Load reads the tokenizer of a model's folder:
//
//   - tokenizer.json, if it is there (see the package comment for the parts
//     that are understood), else vocab.txt (WordPiece), else vocab.json with
//     merges.txt (byte-level BPE as RoBERTa has it);
//   - tokenizer_config.json: do_lower_case, strip_accents,
//     tokenize_chinese_chars (of WordPiece), add_prefix_space (of vocab.json),
//     typography (see [Typography]), the spellings of the special tokens,
//     added_tokens_decoder, additional_special_tokens, model_max_length;
//   - special_tokens_map.json and added_tokens.json, which older versions of
//     transformers write.
//
// All but the vocabulary may be missing. If only vocab.txt is there, or the
// configuration does not say whether text is lower-cased, the vocabulary
// decides: one with upper-case words is cased. (transformers would lower-case
// then, and so never find those words.)
//
// Errors are of type [*FileError].
func Load(fsys fs.FS) (*Tokenizer, error) { return load(fsys, OfModel, false) }

// LoadAs is [Load] with a typography in place of the model's own.
func LoadAs(fsys fs.FS, t Typography) (*Tokenizer, error) { return load(fsys, t, false) }

// LoadCausal is Load for a causal model. Nothing is put before or after a text. CLSID is the token
// that texts begin with, the bos_token. MaskID, PadID and SEPID may be -1.
func LoadCausal(fsys fs.FS) (*Tokenizer, error) { return load(fsys, OfModel, true) }

func load(fsys fs.FS, as Typography, causal bool) (*Tokenizer, error) {
	if fsys == nil {
		return nil, &FileError{File: jsonFile, Err: fmt.Errorf("%w: the folder is nil; "+
			"pass os.DirFS(FOLDER)", errNoVocabulary)}
	}
	c, err := readConfig(fsys)
	if err != nil {
		return nil, err
	}
	data, missing, err := readFile(fsys, jsonFile)
	if err != nil {
		return nil, err
	}
	name := jsonFile
	var s *spec
	if !missing {
		s, err = parseJSON(data)
	} else {
		name, s, err = loadVocab(fsys, c)
	}
	if err != nil {
		return nil, err
	}
	c.apply(s)
	s.typography = cmp.Or(as, s.typography)
	if s.causal = causal; causal {
		s.template, s.before, s.after = true, nil, nil
		s.names[roleCLS] = cmp.Or(s.instead[roleCLS], "<|endoftext|>") // that of GPT-2
	}
	t, err := s.build()
	if err != nil {
		return nil, &FileError{File: name, Err: err}
	}
	return t, nil
}

// loadVocab reads a vocabulary without tokenizer.json and returns its file's name.
func loadVocab(fsys fs.FS, c *config) (string, *spec, error) {
	data, missing, err := readFile(fsys, vocabFile)
	if err != nil {
		return vocabFile, nil, err
	}
	if !missing {
		s, err := plainVocab(data)
		return vocabFile, s, err
	}
	data, missing, err = readFile(fsys, vocabJSONFile)
	if err != nil {
		return vocabJSONFile, nil, err
	}
	if !missing {
		s, err := bytePairFiles(fsys, data, c)
		return vocabJSONFile, s, err
	}
	err = problem(errNoVocabulary, "no such file, nor %s; give the folder that the model was "+
		"exported to", jsonFile)
	// SentencePiece's own files: spiece.model, spm.model, sentencepiece.bpe.model, tokenizer.model.
	if others, e := fs.Glob(fsys, "*.model"); e == nil && len(others) > 0 {
		return others[0], nil, &FileError{File: others[0],
			Err: problem(errUnsupported, "a SentencePiece model, which does not say where special tokens "+
				"go; write tokenizer.json beside it: pip install transformers sentencepiece protobuf, "+
				"then in Python from transformers import AutoTokenizer; "+
				"AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)")}
	}
	return vocabFile, nil, &FileError{File: vocabFile, Err: err}
}

// bytePairFiles reads vocab.json, an object of ids by piece, and merges.txt.
func bytePairFiles(fsys fs.FS, vocab []byte, c *config) (*spec, error) {
	s := &spec{algorithm: bytePairModel, parts: &pipeline{split: []splitter{
		byteLevel{prefix: c.prefix != nil && *c.prefix}}}}
	if err := decodeJSON(vocabJSONFile, "", vocab, vocab, &s.vocab); err != nil {
		return nil, err
	}
	if err := s.checkVocab(func(path string, err error) error {
		return &FileError{File: vocabJSONFile, Path: path, Err: err}
	}); err != nil {
		return nil, err
	}
	data, missing, err := readFile(fsys, mergesFile)
	if err != nil {
		return nil, err
	}
	if missing {
		return nil, &FileError{File: mergesFile, Err: problem(errNoVocabulary,
			"no such file; %s needs it beside it", vocabJSONFile)}
	}
	// RoBERTa's mask swallows the space before it. Its configuration need not
	// say so, nor name the special tokens.
	s.flags[roleMask] = addedToken{LeftStrip: true}
	c.maskStrips = true
	s.merges, err = parseMerges(data, mergesFile)
	return s, err
}

// plainVocab makes a tokenizer of vocab.txt.
func plainVocab(data []byte) (*spec, error) {
	pieces, err := parseVocab(data, vocabFile)
	if err != nil {
		return nil, err
	}
	s := &spec{vocab: make(map[string]int, len(pieces)), size: len(pieces), prefix: "##"}
	for id, p := range pieces {
		s.add(p, id)
	}
	lower := !looksCased(pieces)
	s.norm = bertNormalizer{clean: true, chinese: true, lower: lower, strip: lower}
	return s, nil
}

// looksCased reports whether one piece in a hundred begins with a capital of any script. In cased
// English BERT one in four does, in uncased BERT none.
func looksCased(pieces []string) bool {
	upper := 0
	for _, p := range pieces {
		if first, _ := utf8.DecodeRuneInString(p); unicode.IsUpper(first) {
			upper++
		}
	}
	return upper*100 >= len(pieces)
}
