package tokenize

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func cutText(p atPattern, text string) (out []string) {
	var chars []char
	for _, r := range text {
		chars = append(chars, char{r: r})
	}
	for _, part := range p.cut(chars, false) {
		var b strings.Builder
		for _, c := range part {
			b.WriteRune(c.r)
		}
		out = append(out, b.String())
	}
	return out
}

// The stretches agree with pre_tokenizers.Split in tokenizers 0.23.3.
func TestSplit(t *testing.T) {
	t.Parallel()
	llama := atPattern{match: wordPatterns[llamaStart+`\p{N}{1,3}`+llamaEnd]}
	qwen := atPattern{match: wordPatterns[llamaStart+`\p{N}`+llamaEnd]}
	spaces := atPattern{match: literal(" "), join: true}
	for _, c := range []struct {
		by   atPattern
		text string
		want []string
	}{
		{llama, "I'M here, it'ſ 'SAY they'LL've",
			[]string{"I", "'M", " here", ",", " it", "'ſ", " '", "SAY", " they", "'LL", "'ve"}},
		{llama, "(x) -a ''s", []string{"(x", ")", " -", "a", " ''", "s"}},
		{llama, "12345678 a1b22", []string{"123", "456", "78", " a", "1", "b", "22"}},
		{llama, "one  two\n \n three \t\n", []string{"one", " ", " two", "\n \n", " three", " \t\n"}},
		{llama, "  end  ", []string{" ", " end", "  "}},
		{llama, "a...\r\n\nb !?\n", []string{"a", "...\r\n\n", "b", " !?\n"}},
		{llama, "\u00a0x\u2028\u2028y\u0085z", []string{"\u00a0x", "\u2028", "\u2028y", "\u0085z"}},
		{llama, "½²Ⅷ٣", []string{"½²Ⅷ", "٣"}},
		{qwen, "12 a345", []string{"1", "2", " a", "3", "4", "5"}},
		{spaces, "a  b c ", []string{"a ", " ", "b ", "c "}},
		{spaces, "  ", []string{" ", " "}},
		{spaces, " a", []string{" ", "a"}},
		{atPattern{match: literal(" ")}, "a  b", []string{"a", " ", " ", "b"}},
	} {
		if got := cutText(c.by, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// smallFallback is a small BPE with byte fallback for smallJSON, with what its model says
// of the vocabulary.
func smallFallback(vocabulary string) map[string]string {
	parts := maps.Clone(smallBPE)
	parts["normalizer"] = `{"type":"Replace","pattern":{"String":" "},"content":"▁"}`
	parts["pre_tokenizer"] = `{"type":"Split","pattern":{"String":" "},` +
		`"behavior":"MergedWithPrevious","invert":false}`
	parts["model"] = `{"type":"BPE","unk_token":"<unk>","byte_fallback":true,"vocab":{` + vocabulary +
		`"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"b":5,"▁":6,"ab":7,"▁ab":8},"merges":["a b","▁ ab"]}`
	return parts
}

// everyByte are the pieces of all bytes, from id 10 on, in JSON.
func everyByte() string {
	var out strings.Builder
	for b := range 256 {
		out.WriteString(`"` + bytePiece(byte(b)) + `":` + strconv.Itoa(10+b) + ",")
	}
	return out.String()
}

// The pieces of a stretch are words where they begin with the mark of a space.
func TestFallback(t *testing.T) {
	t.Parallel()
	bytes := everyByte()
	load := func(parts map[string]string) (*Tokenizer, error) {
		return Load(folder(map[string]string{jsonFile: smallJSON(parts)}))
	}
	tok, err := load(smallFallback(bytes))
	if err != nil {
		t.Fatal(err)
	}
	e, err := tok.Pieces("ab ab é<mask> aba")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"ab", "▁ab", "▁", "<0xC3>", "<0xA9>", "<mask>", "▁ab", "a"}; !slices.Equal(
		e.Tokens, want) {
		t.Errorf("pieces %q, want %q", e.Tokens, want)
	}
	if want := []int32{0, 1, 2, 2, 2, 3, 4, 4}; !slices.Equal(e.Words, want) {
		t.Errorf("words %v, want %v", e.Words, want)
	}
	if got := tok.Decode(e.IDs); got != "ab ab é<mask> aba" {
		t.Errorf("decoded: %q", got)
	}
	if got := tok.Decode([]int32{10 + 0xC3, 4, 10 + 0xE2, 10 + 0x82}); got != "\ufffda\ufffd\ufffd" {
		t.Errorf("parts of characters are decoded as %q", got)
	}
	for before, want := range map[string]bool{"": false, "ab ": true, "ab": false, "ab (": false} {
		if got := tok.FollowsSpace(before); got != want {
			t.Errorf("FollowsSpace(%q) = %v", before, got)
		}
	}
	// One byte is missing.
	_, err = load(smallFallback(strings.Replace(bytes, bytePiece(0x41), "<0x4x>", 1)))
	if err == nil || !strings.Contains(err.Error(), "without the piece <0x41>") {
		t.Errorf("without a byte: %v", err)
	}
	// A Split of another form.
	for _, pre := range []string{
		`{"type":"Split","pattern":{"Regex":"a|b"},"behavior":"Isolated","invert":false}`,
		`{"type":"Split","pattern":{"String":" "},"behavior":"Removed","invert":false}`,
		`{"type":"Split","pattern":{"String":" "},"behavior":"Isolated","invert":true}`,
		`{"type":"Split","pattern":{"String":""},"behavior":"Isolated","invert":false}`,
	} {
		parts := smallFallback(bytes)
		parts["pre_tokenizer"] = pre
		if _, err := load(parts); err == nil || !strings.Contains(err.Error(), "a Split is read at a string") {
			t.Errorf("%s: %v", pre, err)
		}
	}
}

// A tokenizer that can spell everything needs no unknown token, and the tokens at the ends
// of a text serve where no others are named.
func TestEndsInstead(t *testing.T) {
	t.Parallel()
	files := hfFolder(t, "eurobert")
	tok, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	end, _ := tok.ID("<|end_of_text|>")
	if tok.UNKID() != -1 || tok.PadID() != end || tok.SEPID() != end ||
		tok.Token(tok.CLSID()) != "<|begin_of_text|>" {
		t.Errorf("unknown %d, pad %d, end %d, start %d", tok.UNKID(), tok.PadID(), tok.SEPID(), tok.CLSID())
	}
	// Without a post-processor the configuration alone names them.
	data := string(files[jsonFile].Data)
	from := strings.Index(data, `"post_processor":`)
	to := strings.Index(data, `,"decoder":`)
	if from < 0 || to < from {
		t.Fatal("no post-processor")
	}
	files[jsonFile].Data = []byte(data[:from] + `"post_processor":null` + data[to:])
	if tok, err = Load(files); err != nil || tok.SEPID() != end {
		t.Fatalf("%v", err)
	}
	// One byte is missing: a text may have it.
	files[jsonFile].Data = []byte(strings.Replace(data, `"Ā":`, `"ĀĀ":`, 1))
	if _, err = Load(files); err == nil || !strings.Contains(err.Error(), "unk_token") {
		t.Errorf("a byte is missing: %v", err)
	}
}
