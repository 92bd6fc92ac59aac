package tokenize

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkEncoding checks what the documentation promises of every encoding.
func checkEncoding(t *testing.T, tok *Tokenizer, text string) {
	t.Helper()
	e, err := tok.Encode(text)
	if !utf8.ValidString(text) {
		var at *TextError
		if !errors.As(err, &at) || !errors.Is(err, ErrInvalidUTF8) ||
			!utf8.ValidString(text[:at.Offset]) {
			t.Fatalf("%q: %v", text, err)
		}
		if r, size := utf8.DecodeRuneInString(text[at.Offset:]); r != utf8.RuneError || size != 1 {
			t.Fatalf("%q: byte %d is UTF-8", text, at.Offset)
		}
		return
	}
	if errors.Is(err, errGrowth) {
		return
	}
	var unknown error
	if u, ok := tok.model.(*unigram); ok && u.unknown < 0 {
		unknown = errMissingToken
	}
	if unknown != nil && errors.Is(err, unknown) {
		return
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	n := len(e.IDs)
	if len(e.Tokens) != n || len(e.Spans) != n || len(e.Special) != n || len(e.Continuation) != n ||
		len(e.Words) != n {
		t.Fatalf("%q: lengths differ: %+v", text, e)
	}
	before, after := len(tok.prefix), n-len(tok.suffix)
	last, lastWord := [2]int{}, int32(-1)
	boundary := func(i int) bool {
		return i == len(text) || i >= 0 && i < len(text) &&
			utf8.RuneStart(text[i])
	}
	for i, span := range e.Spans {
		if tok.Token(e.IDs[i]) != e.Tokens[i] || e.Tokens[i] == "" {
			t.Fatalf("%q: token %d is %q with the id %d", text, i, e.Tokens[i], e.IDs[i])
		}
		if span[0] < last[0] || span[1] < last[1] || !boundary(span[0]) || !boundary(span[1]) {
			t.Fatalf("%q: span %d is %v after %v", text, i, span, last)
		}
		last = span
		if i < before || i >= after {
			if !e.Special[i] || e.Words[i] != -1 || span[0] != span[1] {
				t.Fatalf("%q: piece %d, added, is %v %v %v", text, i, e.Special[i], e.Words[i], span)
			}
			continue
		}
		if span[0] >= span[1] {
			t.Fatalf("%q: span %d is %v, empty", text, i, span)
		}
		if step := e.Words[i] - lastWord; step != 1 && (step != 0 || !e.Continuation[i]) || step == 1 &&
			e.Continuation[i] {
			t.Fatalf("%q: words %v, continuations %v", text, e.Words, e.Continuation)
		}
		lastWord = e.Words[i]
		if e.Special[i] && !tok.IsSpecial(e.IDs[i]) || e.Continuation[i] && !tok.MarksSpaces() &&
			!tok.IsContinuation(e.IDs[i]) {
			t.Fatalf("%q: piece %d: %+v", text, i, e)
		}
	}
	p, err := tok.Pieces(text)
	if err != nil || !slices.Equal(p.IDs, e.IDs[before:after]) ||
		!slices.Equal(p.Spans, e.Spans[before:after]) {
		t.Fatalf("%q: Pieces %v, %v; Encode %v", text, p.IDs, err, e.IDs)
	}
	if d := tok.Decode(e.IDs); !utf8.ValidString(d) {
		t.Fatalf("%q is decoded as %q", text, d)
	}
}

// FuzzEncode checks the promises of Encode, and that the short cut for plain
// ASCII gives what the general way gives.
func FuzzEncode(f *testing.F) {
	for _, text := range []string{
		"", " ", "The [MASK] walked down the [MASK].", "[MASK] one [SEP] two", "Café", "Ⱥ",
		"un[MASK]able", "[[MASK]]", "[MASK",
		"İstanbul ß ﬁ 中文 각 ㈀", "e\u0301\u0302\u0323 \u0301", "a\u0000b\u200dc\ufffd", "\xff", "a\xc3",
		"\xed\xa0\x80",
		"q\u0325\u0301\U0001d16d \u302e", strings.Repeat("x", 101), strings.Repeat("é", 101),
		"New York Été <l> <r> <lr>",
		"don't  they've\n\n 's \u00a0x\u3000", "\u0344 \u1100\u1161\u11a8 ﬁ\u0301 \r\n ㍿ ½",
		"\u0301\u0323", "\v\x7fa", "▁▁the ▁", "👩\u200d👧",
		"\t\n\r\v\f\u0085\u00a0\u2028", "##ing ## [unused1]", "don't U.S.A. $3.14",
		"\U0010ffff\U000e0001",
	} {
		f.Add(text)
	}
	load := func(name string) *Tokenizer {
		tok, err := Load(testdata(name))
		if err != nil {
			f.Fatal(err)
		}
		return tok
	}
	toks := []*Tokenizer{load("uncased"), load("cased-json"), load("uncased-json"), load("switches")}
	for _, name := range []string{"roberta", "modernbert", "albert-4", "deberta-v2", "deberta-v3",
		"xlm-roberta-4", "eurobert", "mmbert"} {
		toks = append(toks, hfTokenizer(f, name))
	}
	plain := toks[0]
	// An added token that is looked for after normalisation bars the short cut.
	const never = "zqzqzqzqzq"
	general, err := newTokenizer(plain.tokens, options{Added: []addedToken{{ID: int32(plain.VocabSize()),
		Content: never, Normalized: true}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range toks {
			checkEncoding(t, tok, text)
		}
		if strings.Contains(plain.text.normal(strings.ToValidUTF8(text, "")), never) {
			return
		}
		e1, err1 := plain.Encode(text)
		e2, err2 := general.Encode(text)
		if (err1 == nil) != (err2 == nil) || !slices.Equal(e1.IDs, e2.IDs) ||
			!slices.Equal(e1.Spans, e2.Spans) || !slices.Equal(e1.Words, e2.Words) {
			t.Fatalf("%q: short cut %v %v %v, general %v %v %v", text, e1.IDs, e1.Spans, err1, e2.IDs,
				e2.Spans, err2)
		}
	})
}

// checkLoad loads files that may be anything: a typed error, or a tokenizer that works.
func checkLoad(t *testing.T, files map[string]string) {
	t.Helper()
	tok, err := Load(folder(files))
	if err != nil {
		var file *FileError
		if !errors.As(err, &file) || tok != nil {
			t.Fatalf("%T %v", err, err)
		}
		for _, sentinel := range []error{errNoVocabulary, ErrFormat, errUnsupported, ErrTooLarge,
			errMissingToken, ErrInvalidUTF8} {
			if errors.Is(err, sentinel) {
				return
			}
		}
		t.Fatalf("%v wraps no sentinel", err)
	}
	for _, before := range []string{"", "the ", "the", "(", "\n", "\xff"} {
		tok.FollowsSpace(before)
	}
	for _, text := range []string{"The [MASK] sat, <mask>.", "Café 中文 각\u0301\u0000",
		strings.Repeat("x", 101)} {
		checkEncoding(t, tok, text)
	}
	for _, id := range []int32{tok.UNKID(), tok.MaskID(), tok.PadID(), tok.CLSID(), tok.SEPID()} {
		if !tok.IsSpecial(id) || tok.Token(id) == "" {
			t.Fatalf("special token %d is %q", id, tok.Token(id))
		}
	}
	for _, id := range append(slices.Clone(tok.WholeWords()), tok.BareWords()...) {
		if tok.IsSpecial(id) || tok.IsUnused(id) || tok.IsContinuation(id) {
			t.Fatalf("%q is no word", tok.Token(id))
		}
	}
}

func FuzzVocab(f *testing.F) {
	for _, text := range []string{
		smallVocab, "", "\n", "\xff", "\ufeff" + smallVocab, strings.ReplaceAll(smallVocab, "\n", "\r\n"),
		smallVocab + "\n\n\ncat\n##\n#\n \n",
		"[PAD]\n[UNK]\n[CLS]\n[SEP]\n<mask>\n", smallVocab + "\x00", smallVocab +
			strings.Repeat("x", 1025),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		pieces, err := readVocab(data, "v")
		var file *FileError
		if err != nil && (!errors.As(err, &file) || file.File != "v") {
			t.Fatalf("%T %v", err, err)
		}
		if len(pieces) > bytes.Count(data, []byte("\n"))+1 {
			t.Fatalf("%d pieces in %d bytes", len(pieces), len(data))
		}
		checkLoad(t, map[string]string{vocabFile: string(data)})
	})
}

func FuzzTokenizerJSON(f *testing.F) {
	f.Add([]byte(smallJSON(nil)))
	for _, parts := range []map[string]string{smallBPE, smallUnigram,
		smallFallback(everyByte())} {
		f.Add([]byte(smallJSON(parts)))
	}
	for k, vs := range map[string][]string{
		"added_tokens": {"[]", `[{"id":3}]`,
			`[{"id":5,"content":"the","lstrip":true,"rstrip":true,"single_word":true}]`,
			`[{"id":1000000,"content":"far"}]`},
		"normalizer": {"null", `{"type":"BertNormalizer"}`,
			`{"type":"BertNormalizer","lowercase":false,"strip_accents":true}`, `{"type":"NFC"}`},
		"pre_tokenizer": {"null", `{"type":7}`},
		"post_processor": {"null",
			`{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]"}},{"Sequence":{"id":"A"}}],"special_tokens":{"[CLS]":{"ids":[2,3]}}}`},
		"model": {
			"null", "[]", `{"type":"BPE"}`, `{"vocab":{"[UNK]":0}}`,
			`{"type":"WordPiece","vocab":{"":0,"a":1048575}}`,
			`{"type":"WordPiece","continuing_subword_prefix":"","max_input_chars_per_word":1,"vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"[MASK]":4,"t":5}}`,
		},
	} {
		for _, v := range vs {
			f.Add([]byte(smallJSON(map[string]string{k: v})))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkLoad(t, map[string]string{jsonFile: string(data)})
	})
}

func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `[]`,
		`{"do_lower_case": false, "strip_accents": null, "tokenize_chinese_chars": false, "model_max_length": 1e30}`,
		`{"mask_token": "the", "cls_token": {"content": "cat"}, "sep_token": null}`,
		`{"mask_token": {"content": "[MASK]", "lstrip": true}}`,
		`{"added_tokens_decoder": {"12": {"content": "dog", "special": true}, "6": {"content": "the", "single_word": true}}}`,
		`{"additional_special_tokens": ["<a>", {"content": "<b>"}], "extra_special_tokens": {"x": "<c>"}}`,
		`{"model_max_length": -3.5}`, `{"the": 6, "dog": 900000}`, `{"unk_token": "dog"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{configFile, specialFile, addedFile} {
			checkLoad(t, map[string]string{vocabFile: smallVocab, name: string(data)})
		}
		checkLoad(t, map[string]string{jsonFile: smallJSON(nil), configFile: string(data)})
	})
}

func FuzzBytePairFiles(f *testing.F) {
	f.Add([]byte(`{"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"b":5,"Ġ":6,"ab":7,"Ġab":8,"<mask>":9}`),
		[]byte("#version: 0.2\na b\nĠ ab\n"))
	f.Add([]byte(`{"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"t":4,"th":5,"<mask>":9}`),
		[]byte("t h\r\n\nh e"))
	f.Add([]byte(`{"a":-1}`), []byte("a\n"))
	f.Add([]byte(`[]`), []byte("a  b\n"))
	f.Fuzz(func(t *testing.T, vocab, merges []byte) {
		checkLoad(t, map[string]string{vocabJSONFile: string(vocab), mergesFile: string(merges)})
	})
}

// FuzzCharsmap reads SentencePiece's compiled rules and applies them.
func FuzzCharsmap(f *testing.F) {
	rules := unzip(f, "testdata/hf/charsmap.gz")
	f.Add(rules[:4096], "Ａ\u3000ﬁ e\u0301")
	f.Add([]byte("\x04\x00\x00\x00\x00\x00\x00\x00a\x00"), "a\r\nb")
	f.Add([]byte("\x08\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xffa"), "\u0301")
	f.Add([]byte("\x00\x00\x00\x00"), "")
	f.Fuzz(func(t *testing.T, rules []byte, text string) {
		m, err := newCharsmap(rules)
		if err != nil {
			if m != nil || !errors.Is(err, ErrFormat) && !errors.Is(err, ErrInvalidUTF8) {
				t.Fatal(m, err)
			}
			return
		}
		text = strings.ToValidUTF8(text, "")
		p := &pipeline{norm: []normalizer{m}}
		chars, err := p.normalise(text, 0)
		if err != nil && !errors.Is(err, ErrTooLarge) {
			t.Fatal(err)
		}
		last := char{}
		for i, c := range chars {
			if i > 0 && (c.lo < last.lo || c.hi < last.hi) || c.lo >= c.hi || int(c.hi) > len(text) {
				t.Fatalf("%q: character %d is at %d to %d after %d to %d", text, i, c.lo, c.hi, last.lo,
					last.hi)
			}
			last = c
		}
	})
}
