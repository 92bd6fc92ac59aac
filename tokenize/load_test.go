package tokenize

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const smallVocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n[unused0]\nthe\ncat\n##s\nsat\n.\n"

// smallJSON is a tokenizer.json with the given components.
func smallJSON(over map[string]string) string {
	parts := map[string]string{
		"added_tokens":   `[{"id":4,"content":"[MASK]","special":true,"normalized":false}]`,
		"normalizer":     `{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}`,
		"pre_tokenizer":  `{"type":"BertPreTokenizer"}`,
		"post_processor": `{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]}`,
		"model":          `{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"[MASK]":4,"the":5,"cat":6,"##s":7}}`,
	}
	for k, v := range over {
		parts[k] = v
	}
	var b strings.Builder
	b.WriteString("{\n")
	for i, k := range []string{"added_tokens", "normalizer", "pre_tokenizer", "post_processor",
		"model"} {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "%q: %s", k, parts[k])
	}
	return b.String() + "\n}\n"
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	template := func(single, tokens string) string {
		return smallJSON(map[string]string{"post_processor": `{"type":"TemplateProcessing","single":` +
			single + `,"special_tokens":` + tokens + `}`})
	}
	model := func(m string) string { return smallJSON(map[string]string{"model": m}) }
	for _, c := range []struct {
		name  string
		files map[string]string
		want  error
		text  string // the whole message
	}{
		{"empty folder", nil, errNoVocabulary,
			"vocab.txt: no vocabulary: no such file, nor tokenizer.json; give the folder that the model " +
				"was exported to"},
		{"sentencepiece", map[string]string{"spiece.model": "x"}, errUnsupported,
			"spiece.model: unsupported: a SentencePiece model, which does not say where special tokens " +
				"go; write tokenizer.json beside it: pip install transformers sentencepiece protobuf, then " +
				"in Python from transformers import AutoTokenizer; " +
				"AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)"},
		{"sentencepiece of another name", map[string]string{"spm.model": "x"}, errUnsupported, ""},
		{"empty vocabulary", map[string]string{"vocab.txt": "\n\n"}, ErrFormat,
			"vocab.txt: malformed: the vocabulary is empty; want one piece a line"},
		{"not UTF-8", map[string]string{"vocab.txt": "a\nb\n\xff\n"}, ErrInvalidUTF8,
			"vocab.txt:3: invalid UTF-8 at byte 4"},
		{"NUL", map[string]string{"vocab.txt": "a\nb\x00\n"}, ErrFormat,
			"vocab.txt:2: malformed: a NUL byte; this is not a text file"},
		{"long line", map[string]string{"vocab.txt": "a\n" + strings.Repeat("x", 1025)}, ErrTooLarge,
			"vocab.txt:2: too large: a piece of 1025 bytes, at most 1024 are accepted; want one piece a " +
				"line"},
		{"many lines", map[string]string{"vocab.txt": strings.Repeat("a\n", 1<<20) + "b"}, ErrTooLarge,
			"vocab.txt: too large: 1048577 lines, at most 1048576 are accepted"},
		{"large file", map[string]string{"vocab.txt": strings.Repeat("a", 64<<20+1)}, ErrTooLarge,
			"vocab.txt: too large: more than 64 MiB"},
		{"no mask", map[string]string{"vocab.txt": "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n"}, errMissingToken,
			`vocab.txt: missing token: mask_token "[MASK]" is not in the vocabulary; set mask_token in tokenizer_config.json to the model's spelling`},
		{"mask of another name", map[string]string{"vocab.txt": smallVocab,
			"tokenizer_config.json": `{"mask_token": {"content": "<m>"}}`}, errMissingToken,
			`vocab.txt: missing token: mask_token "<m>" is not in the vocabulary; set mask_token in tokenizer_config.json to the model's spelling`},

		{"broken config", map[string]string{"tokenizer_config.json": "{\n \"do_lower_case\": true,\n}"},
			ErrFormat, "tokenizer_config.json:3: malformed: byte 26: not JSON: invalid character '}' " +
				"looking for beginning of object key string"},
		{"config is a list", map[string]string{"tokenizer_config.json": "[]"}, ErrFormat,
			"tokenizer_config.json:1: malformed: byte 0: want a JSON object, found array"},
		{"config of another type", map[string]string{"tokenizer_config.json": "{\n\"x\": " +
			"1,\n\"do_lower_case\": \"yes\"}"}, ErrFormat,
			"tokenizer_config.json:3: do_lower_case: malformed: byte 31: want a JSON true or false, " +
				"found string"},
		{"mask of another type", map[string]string{"tokenizer_config.json": `{"mask_token": 7}`},
			ErrFormat, ""},
		{"added id",
			map[string]string{"tokenizer_config.json": `{"added_tokens_decoder": {"x": {"content": "a"}}}`},
			ErrFormat, "tokenizer_config.json: added_tokens_decoder.x: malformed: want an id from 0 to " +
				"1048575 as key"},
		{"added id is huge", map[string]string{"vocab.txt": smallVocab,
			"added_tokens.json": `{"<new>": 999999999}`}, ErrFormat,
			`added_tokens.json: "<new>": malformed: the id is 999999999, want 0 to 1048575`},
		{"added id is taken", map[string]string{"vocab.txt": smallVocab,
			"added_tokens.json": `{"<new>": 7}`}, ErrFormat,
			`vocab.txt: malformed: added token "<new>" has the id 7, which is "cat" in the vocabulary`},
		{"added id contradicts", map[string]string{"vocab.txt": smallVocab,
			"added_tokens.json": `{"cat": 6}`}, ErrFormat,
			`vocab.txt: malformed: added token "cat" has the id 6 here and 7 in the vocabulary`},

		{"empty json", map[string]string{"tokenizer.json": ""}, ErrFormat,
			"tokenizer.json:1: malformed: byte 0: not JSON: unexpected end of JSON input"},
		{"no model", map[string]string{"tokenizer.json": "{}"}, ErrFormat,
			"tokenizer.json: model: malformed: missing"},
		{"other model",
			map[string]string{"tokenizer.json": model(`{"type":"WordLevel","vocab":{"a":0}}`)},
			errUnsupported, "tokenizer.json: model.type: unsupported: WordLevel; want WordPiece, BPE " +
				"or Unigram"},
		{"no vocab", map[string]string{"tokenizer.json": model(`{"type":"WordPiece"}`)}, ErrFormat,
			"tokenizer.json: model.vocab: malformed: missing"},
		{"vocab of strings",
			map[string]string{"tokenizer.json": model(`{"type":"WordPiece","vocab":{"a":"b"}}`)}, ErrFormat,
			"tokenizer.json:6: model.vocab: malformed: byte 379: want a JSON number, found string"},
		{"negative id",
			map[string]string{"tokenizer.json": model(`{"type":"WordPiece","vocab":{"a":-1}}`)}, ErrFormat,
			`tokenizer.json: model.vocab["a"]: malformed: the id is -1, want 0 to 1048575`},
		{"huge id",
			map[string]string{"tokenizer.json": model(`{"type":"WordPiece","vocab":{"a":4000000000}}`)},
			ErrFormat,
			`tokenizer.json: model.vocab["a"]: malformed: the id is 4000000000, want 0 to 1048575`},
		{"same id twice",
			map[string]string{"tokenizer.json": model(`{"type":"WordPiece","vocab":{"a":1,"b":1}}`)},
			ErrFormat, ""},
		{"word length",
			map[string]string{"tokenizer.json": model(`{"type":"WordPiece","max_input_chars_per_word":1000000,"vocab":{"a":1}}`)}, ErrFormat, "tokenizer.json: model.max_input_chars_per_word: malformed: 1000000, want 1 to 1000"},
		{"unk_token",
			map[string]string{"tokenizer.json": model(`{"type":"WordPiece","unk_token":"<x>","vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"[MASK]":4}}`)}, errMissingToken, `tokenizer.json: missing token: unk_token "<x>" is not in the vocabulary; set unk_token in tokenizer_config.json to the model's spelling`},
		{"normalizer",
			map[string]string{"tokenizer.json": smallJSON(map[string]string{"normalizer": `{"type":"Prepend"}`})}, errUnsupported, "tokenizer.json: normalizer.type: unsupported: Prepend; a model is read with NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, BertNormalizer, Nmt, Strip, Replace, Precompiled or a Sequence of them"},
		{"normalizer flag",
			map[string]string{"tokenizer.json": smallJSON(map[string]string{"normalizer": `{"type":"BertNormalizer","lowercase":3}`})}, ErrFormat, "tokenizer.json:3: normalizer.lowercase: malformed: byte 134: want a JSON true or false, found number"},
		{"pre-tokenizer",
			map[string]string{"tokenizer.json": smallJSON(map[string]string{"pre_tokenizer": `{"type":"Metaspace"}`})}, errUnsupported, "tokenizer.json: pre_tokenizer.type: unsupported: Metaspace; a WordPiece model is read with BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation or a Sequence of them"},
		{"no pre-tokenizer",
			map[string]string{"tokenizer.json": smallJSON(map[string]string{"pre_tokenizer": "null"})},
			errUnsupported, "tokenizer.json: pre_tokenizer.type: unsupported: none; a WordPiece model " +
				"is read with BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation or a Sequence of them"},
		{"post-processor",
			map[string]string{"tokenizer.json": smallJSON(map[string]string{"post_processor": `{"type":"Pairs"}`})}, errUnsupported, "tokenizer.json: post_processor.type: unsupported: Pairs; want TemplateProcessing, BertProcessing, RobertaProcessing or none"},
		{"pair of three",
			map[string]string{"tokenizer.json": smallJSON(map[string]string{"post_processor": `{"type":"BertProcessing","sep":["a",1,2],"cls":["b",2]}`})}, ErrFormat, "tokenizer.json: post_processor: malformed: want a token and its id, found 3 values"},
		{"processor id",
			map[string]string{"tokenizer.json": smallJSON(map[string]string{"post_processor": `{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",99]}`})}, ErrFormat, "tokenizer.json: malformed: the post-processor adds the id 99, which has no token"},
		{"template token", map[string]string{"tokenizer.json": template(`[{"SpecialToken":{"id":"[X]"}}]`,
			`{}`)}, ErrFormat,
			`tokenizer.json: post_processor.single[0]: malformed: the token "[X]" is not described in special_tokens`},
		{"template without text",
			map[string]string{"tokenizer.json": template(`[{"SpecialToken":{"id":"[X]"}}]`,
				`{"[X]":{"ids":[2]}}`)}, ErrFormat,
			"tokenizer.json: post_processor.single: malformed: the text (Sequence A) is missing"},
		{"template with two texts",
			map[string]string{"tokenizer.json": template(`[{"Sequence":{"id":"A"}},{"Sequence":{"id":"A"}}]`,
				`{}`)}, ErrFormat, "tokenizer.json: post_processor.single[1]: malformed: want one Sequence " +
				"A and SpecialTokens"},
		{"added token without id",
			map[string]string{"tokenizer.json": smallJSON(map[string]string{"added_tokens": `[{"content":"x"}]`})}, ErrFormat, "tokenizer.json: added_tokens[0].id: malformed: want an id from 0 to 1048575"},
		{"added token without content",
			map[string]string{"tokenizer.json": smallJSON(map[string]string{"added_tokens": `[{"id":9}]`})},
			ErrFormat, "tokenizer.json: malformed: added token 9 has 0 bytes, want 1 to 1024"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tok, err := Load(folder(c.files))
			if tok != nil || !errors.Is(err, c.want) {
				t.Fatalf("Load = %v, %v; want an error that is %v", tok, err, c.want)
			}
			var file *FileError
			if !errors.As(err, &file) || file.File == "" {
				t.Errorf("%T %v names no file", err, err)
			}
			if c.text != "" && err.Error() != c.text {
				t.Errorf("message\n got %s\nwant %s", err, c.text)
			}
		})
	}
}

// brokenFS fails to open a file that exists.
type brokenFS struct{ fs.FS }

func (b brokenFS) Open(name string) (fs.File, error) {
	if name == vocabFile {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return b.FS.Open(name)
}

// A folder that was forgotten is an error like one without files.
func TestLoadNothing(t *testing.T) {
	var file *FileError
	_, err := Load(nil)
	if !errors.Is(err, errNoVocabulary) || !errors.As(err, &file) ||
		!strings.Contains(err.Error(), "os.DirFS") {
		t.Errorf("Load(nil): %v", err)
	}
}

func TestLoadUnreadable(t *testing.T) {
	t.Parallel()
	_, err := Load(brokenFS{folder(nil)})
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error is %v, want one that wraps fs.ErrPermission", err)
	}
}

// An error names its file once, also one of a pipe, which would wait for somebody to write to it.
func TestLoadPipe(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{vocabFile: {Mode: fs.ModeNamedPipe}}
	_, err := Load(files)
	if err == nil || err.Error() != "vocab.txt: not a regular file but a pipe" {
		t.Errorf("error is %v", err)
	}
}

func TestLoadVocab(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain": smallVocab, "windows": strings.ReplaceAll(smallVocab, "\n", "\r\n"),
		"byte order mark": "\ufeff" + smallVocab, "blank end": smallVocab + "\n\n",
		"no end": strings.TrimSpace(smallVocab),
	} {
		tok, err := Load(folder(map[string]string{vocabFile: text}))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		e, err := tok.Encode("The cats SAT.")
		if want := []int32{2, 6, 7, 8, 9, 10, 3}; err != nil || !slices.Equal(e.IDs, want) ||
			tok.VocabSize() != 11 {
			t.Errorf("%s: ids %v of %d, %v; want %v of 11", name, e.IDs, tok.VocabSize(), err, want)
		}
	}
	// A gap and a repeated piece: ids stay the line numbers, the later line counts.
	tok, err := Load(folder(map[string]string{vocabFile: smallVocab + "\ncat\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := tok.ID("cat"); !ok || id != 12 || !tok.IsUnused(11) || tok.Token(11) != "" ||
		!tok.IsUnused(7) {
		t.Errorf("cat is %d, 11 is %q", id, tok.Token(11))
	}
}

func TestLoadConfig(t *testing.T) {
	t.Parallel()
	load := func(files map[string]string) *Tokenizer {
		t.Helper()
		tok, err := Load(folder(files))
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	pieces := func(tok *Tokenizer, text string) string {
		t.Helper()
		e, err := tok.Pieces(text)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(e.Tokens, " ")
	}
	cased := smallVocab + "The\nCat\n"
	for _, c := range []struct{ vocab, config, text, want string }{
		{cased, "", "The Cat", "The Cat"},
		{cased, `{}`, "The Cat", "The Cat"},
		{cased, `{"do_lower_case": null}`, "The Cat", "The Cat"},
		{cased, `{"do_lower_case": true}`, "The Cat", "the cat"},
		{smallVocab, "", "The Cat", "the cat"},
		{smallVocab, `{"do_lower_case": false}`, "The cat", "[UNK] cat"},
		{smallVocab, "", "thé", "the"},
		{smallVocab, `{"strip_accents": false}`, "thé", "[UNK]"},
		{smallVocab, `{"do_lower_case": false, "strip_accents": true}`, "thé Thé", "the [UNK]"},
		{smallVocab + "中\n", "", "中中", "中 中"},
		{smallVocab + "中\n", `{"tokenize_chinese_chars": false}`, "中中", "[UNK]"},
		{smallVocab, `{"mask_token": "[unused0]"}`, "[unused0][MASK]", "[unused0] [UNK] [UNK] [UNK]"},
		{smallVocab, `{"additional_special_tokens": ["[unused0]", "<x>"]}`, "a[unused0]<x>",
			"[UNK] [unused0] <x>"},
		{smallVocab, `{"extra_special_tokens": {"e": "<y>"}}`, "<y>", "<y>"},
		{smallVocab, `{"extra_special_tokens": [{"content": "<z>", "lstrip": true}]}`, "the <z>",
			"the <z>"},
		{smallVocab, `{"added_tokens_decoder": {"11": {"content": "CatSat", "special": false}}}`,
			"the catsats", "the CatSat [UNK]"},
	} {
		files := map[string]string{vocabFile: c.vocab}
		if c.config != "" {
			files[configFile] = c.config
		}
		if got := pieces(load(files), c.text); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.config, c.text, got, c.want)
		}
		delete(files, vocabFile) // the same configuration beside a tokenizer.json
		files[jsonFile] = smallJSON(nil)
		if _, err := Load(folder(files)); err != nil && !strings.Contains(c.config, "unused0") &&
			!strings.Contains(c.config, `"11"`) {
			t.Errorf("%s beside tokenizer.json: %v", c.config, err)
		}
	}

	tok := load(map[string]string{
		vocabFile: smallVocab + "<mask>\n", configFile: `{"model_max_length": 128, "pad_token": null}`,
		specialFile: `{"mask_token": {"content": "<mask>", "lstrip": true, "normalized": false}, "pad_token": "[PAD]"}`,
		addedFile:   `{"<new>": 12}`,
	})
	if tok.MaxLength() != 128 || tok.Token(tok.MaskID()) != "<mask>" || tok.VocabSize() != 13 ||
		tok.PadID() != 0 {
		t.Errorf("length %d, mask %q, size %d", tok.MaxLength(), tok.Token(tok.MaskID()), tok.VocabSize())
	}
	if e, err := tok.Pieces("the  <mask><new>"); err != nil || len(e.Spans) != 3 ||
		e.Spans[1] != [2]int{5, 11} || !e.Special[1] || e.Special[2] {
		t.Errorf("%+v, %v", e, err)
	}
	if got := load(map[string]string{vocabFile: smallVocab,
		configFile: `{"model_max_length": 1e30}`}).MaxLength(); got != 0 {
		t.Errorf("MaxLength() of 1e30 = %d, want 0: no limit", got)
	}

	// The configuration counts more than tokenizer.json, as in transformers.
	files := map[string]string{jsonFile: smallJSON(nil), configFile: `{"do_lower_case": false}`,
		vocabFile: "ignored"}
	if got := pieces(load(files), "The cats"); got != "[UNK] cat ##s" {
		t.Errorf("got %q", got)
	}
	// Without a post-processor nothing is put around a text.
	files = map[string]string{jsonFile: smallJSON(map[string]string{"post_processor": "null"})}
	if e, err := load(files).Encode("the"); err != nil || !slices.Equal(e.IDs, []int32{5}) {
		t.Errorf("%v, %v", e.IDs, err)
	}
}

// TestFormatsAgree loads one vocabulary from both formats.
func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/uncased/vocab.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, p := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "%q:%d", p, i)
	}
	one, err := Load(folder(map[string]string{vocabFile: string(text)}))
	if err != nil {
		t.Fatal(err)
	}
	two, err := Load(folder(map[string]string{jsonFile: smallJSON(map[string]string{
		"model": `{"type":"WordPiece","unk_token":"[UNK]","vocab":{` + b.String() + `}}`,
	})}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range readExpected(t, "testdata/uncased/expected.jsonl") {
		e1, err1 := one.Encode(c.Text)
		e2, err2 := two.Encode(c.Text)
		if err1 != nil || err2 != nil || !slices.Equal(e1.IDs, e2.IDs) ||
			!slices.Equal(e1.Spans, e2.Spans) {
			t.Fatalf("%q: %v %v, %v %v", c.Text, e1.IDs, err1, e2.IDs, err2)
		}
	}
}
