package tokenize

import (
	"errors"
	"io/fs"
)

const (
	vocabFile = "vocab.txt"
	jsonFile  = "tokenizer.json"
)

// Load reads the tokenizer of a model's folder:
//
//   - tokenizer.json, if it is there (WordPiece; see the package comment for
//     the parts that are understood), else vocab.txt;
//   - tokenizer_config.json: do_lower_case, strip_accents,
//     tokenize_chinese_chars, the spellings of the special tokens,
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
func Load(fsys fs.FS) (*Tokenizer, error) {
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
		name = vocabFile
		s, err = loadVocab(fsys)
	}
	if err != nil {
		return nil, err
	}
	c.apply(s)
	t, err := s.build()
	if err != nil {
		return nil, &FileError{File: name, Err: err}
	}
	return t, nil
}

func loadVocab(fsys fs.FS) (*spec, error) {
	data, missing, err := readFile(fsys, vocabFile)
	if err != nil {
		return nil, err
	}
	if missing {
		err := problem(ErrNoVocabulary, "no such file, nor %s; give the folder that the model was exported to", jsonFile)
		for _, other := range []string{"vocab.json", "spiece.model", "sentencepiece.bpe.model", "spm.model"} {
			if f, e := fsys.Open(other); e == nil {
				err = errors.Join(f.Close(), problem(ErrUnsupported, "the folder has %s; only WordPiece vocabularies can be read", other))
				return nil, &FileError{File: other, Err: err}
			}
		}
		return nil, &FileError{File: vocabFile, Err: err}
	}
	pieces, err := parseVocab(data, vocabFile)
	if err != nil {
		return nil, err
	}
	s := &spec{vocab: make(map[string]int, len(pieces)), size: len(pieces), prefix: "##"}
	for id, p := range pieces {
		if p != "" {
			s.vocab[p] = id
		}
	}
	lower := !looksCased(pieces)
	s.norm = bertNormalizer{clean: true, chinese: true, lower: lower, strip: lower}
	return s, nil
}

// looksCased reports whether one piece in a hundred begins with A to Z. In
// cased English BERT one in four does, in uncased BERT none.
func looksCased(pieces []string) bool {
	upper := 0
	for _, p := range pieces {
		if p != "" && 'A' <= p[0] && p[0] <= 'Z' {
			upper++
		}
	}
	return upper*100 >= len(pieces)
}
