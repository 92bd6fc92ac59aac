package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPipelines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    Options
		in   string
		want string // tokens joined by |
	}{
		{Options{}, "The  cat\tSAT .", "the|cat|sat|."},
		{Options{Case: "mixed"}, "The cat", "The|cat"},
		{Options{}, "an [UNK] and [MASK]", "an|[UNK]|and|[mask]"},
		{Options{Clean: "wc"}, "`` A @@UNKNOWN@@ ''  x @-@ y", `"|a|[UNK]|"|x|@-@|y`},
		{Options{Clean: "wc-hyphen"}, "x @-@ y", "x|-|y"},
		// Only a whole white-space token is replaced, before the characters are split.
		{Options{Clean: "wc", Tokenizer: "char"}, "``a ''", "`|`|a|\""},
		{Options{Tokenizer: "glued"}, "he could n't go , could he ?", "he|couldn't|go,|could|he?"},
		{Options{Tokenizer: "glued"}, "it 's the dogs ' bowl .", "it's|the|dogs'bowl."},
		{Options{Tokenizer: "bert", Case: "mixed"}, "it's e-mail, [UNK] $5 [a b]",
			"it|'|s|e|-|mail|,|[UNK]|$|5|[|a|b|]"},
		{Options{Tokenizer: "13a"}, "Hello, world. 3.14 5-10 &amp; &quot;x&quot;",
			`hello|,|world|.|3.14|5|-|10|&|"|x|"`},
		{Options{Tokenizer: "intl"}, "Hello, 1,000€ (x)", "hello|,|1,000|€|(|x|)"},
		{Options{Tokenizer: "char"}, "ab c", "a|b|c"},
		// Where the marker is cut, its letters are as small as others, whoever wrote it.
		{Options{Tokenizer: "char"}, "[UNK] Unk", "[|u|n|k|]|u|n|k"},
		{Options{Tokenizer: "13a"}, "[UNK] Unk", "[|unk|]|unk"},
		{Options{Tokenizer: "intl", Clean: "wc"}, "@@UNKNOWN@@ [unk]", "[|unk|]|[|unk|]"},
		{Options{Tokenizer: "char", Case: "mixed"}, "[UNK] u", "[|U|N|K|]|u"},
	} {
		p, err := NewPipeline(c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Tokens(c.in), "|"); got != c.want {
			t.Errorf("%+v %q: %s, want %s", c.o, c.in, got, c.want)
		}
	}
	for _, o := range []Options{{Tokenizer: "words"}, {Case: "upper"}, {Clean: "soap"}} {
		if _, err := NewPipeline(o); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v, want ErrOption", o, err)
		}
	}
}

func TestLower(t *testing.T) {
	t.Parallel()
	// Expected values are Python's. The apostrophe is ignored by the rule of the
	// final sigma, so the first Σ of the last case is inside a word.
	for in, want := range map[string]string{
		"ΣΟΦΟΣ ΣΑΣ Σ": "σοφος σας σ", "İstanbul": "i̇stanbul", "ÄÖß": "äöß",
		"ΑΣ'Β ΑΣ' ΑΣ.": "ασ'β ας' ας.",
		// Signs with a case that are not letters, and a letter of category Lo that counts as a small one.
		"ⅣΣ ⒶΣ ªΣ ΑΣⅣ ΑΣⓐ ΑΣª": "ⅳς ⓐς ªς ασⅳ ασⓐ ασª",
		// Further signs that are ignored. ʰ is, though it has a case.
		"ΑΣ‘Β ΑΣ‘": "ασ‘β ας‘", "ΑΣ‧Β ΑΣ\u0387Β ΑΣ．Β": "ασ‧β ασ\u0387β ασ．β", "ΑΣʰ ʰΣ": "αςʰ ʰσ",
	} {
		if got := lower(in); got != want {
			t.Errorf("lower(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	v := &Vocab{}
	c := New(v, nil)
	for _, line := range []string{"a b", "", "b c a"} {
		if err := c.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	if c.Len() != 3 || v.Len() != 3 || len(c.Tokens()) != 5 {
		t.Errorf("%d sentences, %d words, %d tokens", c.Len(), v.Len(),
			len(c.Tokens()))
	}
	if s := c.Select([]int{2, 0}).Sentence(0); !slices.Equal(s, []uint32{1, 2, 0}) {
		t.Errorf("selected %v", s)
	}
	if h := c.Head(1); h.Len() != 1 || len(h.Tokens()) != 2 {
		t.Errorf("head has %d sentences", h.Len())
	}
}

func TestLooseKey(t *testing.T) {
	t.Parallel()
	if a, b := LooseKey("`` even if they were n't , he said . ''"),
		LooseKey(" Even if they weren't, he said."); a != b {
		t.Errorf("%q and %q differ", a, b)
	}
	if a, b := LooseKey("officials and @@UNKNOWN@@ met"),
		LooseKey("Officials and [UNK] met"); a != b {
		t.Errorf("%q and %q differ", a, b)
	}
}

func FuzzPipelines(f *testing.F) {
	f.Add("Hello, wörld [UNK] &amp; 3.14-x ''")
	f.Add("-\n. ,5 ² İΣ")
	f.Fuzz(func(t *testing.T, line string) {
		if !utf8.ValidString(line) {
			return
		}
		for _, tok := range Tokenizers() {
			for _, clean := range Cleanings() {
				p, err := NewPipeline(Options{Tokenizer: tok, Clean: clean})
				if err != nil {
					t.Fatal(err)
				}
				for _, token := range p.Tokens(line) {
					if token == "" || len(strings.Fields(token)) != 1 {
						t.Fatalf("%s: token %q of %q", tok, token, line)
					}
				}
			}
		}
	})
}

func ExamplePipeline_Signature() {
	p, _ := NewPipeline(Options{Tokenizer: "glued", Clean: "wc"})
	fmt.Println(p.Signature())
	// Output: tok:glued|case:lc|clean:wc
}

// Small letters are Python's, and tokens sacrebleu's. The script ../bleu/testdata/differential.py
// made them.
func TestTokensAgainstSacreBLEU(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../bleu/testdata/differential.json")
	if err != nil {
		t.Fatal(err)
	}
	var is struct {
		Tokens []struct {
			Line, Lower string
			Tokens      map[string][]string
		}
	}
	if err := json.Unmarshal(data, &is); err != nil || len(is.Tokens) == 0 {
		t.Fatal(err, len(is.Tokens))
	}
	for _, c := range is.Tokens {
		if got := lower(c.Line); got != c.Lower {
			t.Errorf("lower(%q) = %q, Python has %q", c.Line, got, c.Lower)
		}
		for tok, want := range c.Tokens {
			p, err := NewPipeline(Options{Tokenizer: tok, Case: "mixed"})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Tokens(c.Line); !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Errorf("%s %q:\n got %q\nwant %q", tok, c.Line, got, want)
			}
		}
	}
}
