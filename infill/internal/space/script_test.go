package space

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"infill/infill/text"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// unigram is a vocabulary that marks spaces, with Japanese words.
func unigram(t *testing.T) *tokenize.Tokenizer {
	t.Helper()
	pieces := strings.Fields("▁ ▁the ▁今 the s 今 天 今天 好 東 京 東京 は の です ー 1 。 、")
	vocab, ids := `["<s>",0],["<pad>",0],["</s>",0],["<unk>",0]`, ""
	for _, p := range pieces {
		vocab += `,["` + p + `",-3]`
	}
	for i, s := range []string{"<s>", "<pad>", "</s>", "<unk>", "<mask>"} {
		if s == "<mask>" {
			i = len(pieces) + 4
		}
		ids += `,{"id":` + strconv.Itoa(i) + `,"content":"` + s + `","special":true,"normalized":false,` +
			`"single_word":false,"lstrip":` + map[bool]string{true: "true", false: "false"}[s == "<mask>"] +
			`,"rstrip":false}`
	}
	const space = `{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}`
	file := `{"version":"1.0","added_tokens":[` + ids[1:] + `],"normalizer":null,"pre_tokenizer":` + space +
		`,"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},` +
		`{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}}],"pair":[],` +
		`"special_tokens":{"<s>":{"id":"<s>","ids":[0],"tokens":["<s>"]},` +
		`"</s>":{"id":"</s>","ids":[2],"tokens":["</s>"]}}},"decoder":` + space +
		`,"model":{"type":"Unigram","unk_id":3,"byte_fallback":false,"vocab":[` + vocab + `]}}`
	tok, err := tokenize.Load(fstest.MapFS{"tokenizer.json": {Data: []byte(file)},
		"tokenizer_config.json": {Data: []byte(`{"bos_token":"<s>","cls_token":"<s>","eos_token":"</s>",` +
			`"mask_token":"<mask>","pad_token":"<pad>","sep_token":"</s>","unk_token":"<unk>"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// Beside ideographs and kana such characters are filled in, in the pieces that the tokenizer makes of
// them there.
func TestIdeographs(t *testing.T) {
	t.Parallel()
	apart, joined := tokenizetest.Chinese(t), tokenizetest.Joined(t)
	japanese := unigram(t)
	var whole []string // characters as they begin a word
	for id := range int32(apart.VocabSize()) {
		if p := apart.Token(id); text.IsIdeograph([]rune(p)[0]) {
			whole = append(whole, p)
		}
	}
	inside := make([]string, len(whole))
	for i, p := range whole {
		inside[i] = "##" + p
	}
	bare := strings.Fields("今 天 今天 好 東 京 東京 は の です ー")
	all := []text.Vocab{text.VocabWords, text.VocabWholeWords}
	for _, c := range []struct {
		tok  *tokenize.Tokenizer
		text string
		want []string
		v    []text.Vocab
	}{
		{apart, "今天[MASK]好。", whole, all},
		{apart, "今天[MASK]。", whole, all},
		{apart, "[MASK]天", whole, all},
		{apart, "今[MASK][MASK]天", whole, all},
		{apart, "今天[MASK/^.$/]好", whole, all},
		{joined, "今天[MASK]好。", inside, all},
		{joined, "今天[MASK]。", inside, all},
		{joined, "[MASK]天", whole, all},
		{joined, "今天[MASK/^.$/]好", append(slices.Clone(inside), "##s"), all},
		{japanese, "今天[MASK]好。", bare, all},
		{japanese, "東京[MASK]。", bare, all},
		{japanese, "東京[MASK/^.$/]今天", strings.Fields("今 天 好 東 京 は の ー s"), all},
		// Apart from them any word without digits goes in, and with VocabAll any token.
		{apart, "今天 [MASK] 好", append(slices.Clone(whole), "the", "dog", "ok"), all[:1]},
		{apart, "dog[MASK]", append(slices.Clone(inside), "##s"), all[1:]},
	} {
		for _, v := range c.v {
			got := fillingsOf(t, c.tok, c.text, v)
			slices.Sort(got)
			want := slices.Sorted(slices.Values(c.want))
			if !slices.Equal(got, want) {
				t.Errorf("%s, %v: %d: %q, want %d: %q", c.text, v, len(got), got, len(want), want)
			}
		}
	}
	if got := fillingsOf(t, apart, "今天[MASK]好", text.VocabAll); !slices.Contains(got, "dog") ||
		!slices.Contains(got, "。") || slices.Contains(got, "##好") {
		t.Errorf("of all tokens: %q", got)
	}
}
