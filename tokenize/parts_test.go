package tokenize

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// smallBPE and smallUnigram are parts for smallJSON.
var (
	smallBPE = map[string]string{
		"added_tokens":   `[{"id":9,"content":"<mask>","special":true,"lstrip":true}]`,
		"normalizer":     `{"type":"NFC"}`,
		"pre_tokenizer":  `{"type":"Sequence","pretokenizers":[{"type":"ByteLevel","add_prefix_space":true,"use_regex":true}]}`,
		"post_processor": `{"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"RobertaProcessing","sep":["</s>",2],"cls":["<s>",0]}]}`,
		"model":          `{"type":"BPE","unk_token":"<unk>","ignore_merges":true,"vocab":{"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"b":5,"Ġ":6,"ab":7,"Ġab":8},"merges":["a b",["Ġ","ab"]]}`,
	}
	smallUnigram = map[string]string{
		"added_tokens":   `[{"id":4,"content":"[MASK]","special":true,"lstrip":true}]`,
		"normalizer":     `{"type":"Sequence","normalizers":[{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "},{"type":"NFKD"},{"type":"StripAccents"},{"type":"Lowercase"}]}`,
		"pre_tokenizer":  `{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"▁","add_prefix_space":true}]}`,
		"post_processor": `null`,
		"model":          `{"type":"Unigram","unk_id":1,"byte_fallback":true,"vocab":[["[PAD]",0],["[UNK]",0],["[CLS]",0],["[SEP]",0],["[MASK]",0],["▁",-2],["a",-3.5],["▁ab",-1],["<0x63>",0]]}`,
	}
)

func with(parts map[string]string, key, value string) string {
	parts = maps.Clone(parts)
	parts[key] = value
	return smallJSON(parts)
}

func TestPartsErrors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1025)
	for _, c := range []struct {
		name, json string
		want       error
		text       string // part of the message
	}{
		{"merge of one", with(smallBPE, "model", `{"type":"BPE","vocab":{"a":0},"merges":["a"]}`),
			ErrFormat, "model.merges[0]"},
		{"merge of three", with(smallBPE, "model", `{"type":"BPE","vocab":{"a":0},"merges":["a b c"]}`),
			ErrFormat, "model.merges[0]"},
		{"merge of a number", with(smallBPE, "model", `{"type":"BPE","vocab":{"a":0},"merges":[3]}`),
			ErrFormat, "model.merges[0]"},
		{"merge of unknown pieces", with(smallBPE, "model",
			`{"type":"BPE","vocab":{"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"b":5},"merges":["a b"]}`),
			ErrFormat, `"ab" is not in the vocabulary`},
		{"suffix", with(smallBPE, "model",
			`{"type":"BPE","end_of_word_suffix":"</w>","vocab":{"a":0},"merges":[]}`), errUnsupported,
			"only BPE of bytes"},
		{"dropout", with(smallBPE, "model", `{"type":"BPE","dropout":0.1,"vocab":{"a":0},"merges":[]}`),
			errUnsupported, "dropout"},
		{"BPE without bytes", with(smallBPE, "pre_tokenizer", `{"type":"Metaspace"}`), errUnsupported,
			"a BPE model is read with ByteLevel"},
		{"split after bytes", with(smallBPE, "pre_tokenizer",
			`{"type":"Sequence","pretokenizers":[{"type":"ByteLevel"},{"type":"WhitespaceSplit"}]}`),
			errUnsupported, "pre_tokenizer.pretokenizers[1]"},
		{"other splitter", with(smallBPE, "pre_tokenizer", `{"type":"Digits"}`), errUnsupported,
			"Digits"},
		{"Unigram with bytes", with(smallUnigram, "pre_tokenizer", `{"type":"ByteLevel"}`),
			errUnsupported, "Unigram model without"},
		{"mark of two", with(smallUnigram, "pre_tokenizer", `{"type":"Metaspace","replacement":"ab"}`),
			ErrFormat, "want one character"},
		{"scheme", with(smallUnigram, "pre_tokenizer", `{"type":"Metaspace","prepend_scheme":"often"}`),
			ErrFormat, "want always, first or never"},
		{"punctuation", with(smallUnigram, "pre_tokenizer",
			`{"type":"Punctuation","behavior":"Removed"}`), errUnsupported, "want Isolated"},
		{"no vocabulary", with(smallUnigram, "model", `{"type":"Unigram","vocab":[]}`), ErrFormat,
			"model.vocab"},
		{"score", with(smallUnigram, "model", `{"type":"Unigram","vocab":[["a","b"]]}`), ErrFormat,
			"model.vocab[0]"},
		{"long piece", with(smallUnigram, "model", `{"type":"Unigram","vocab":[["`+long+`",0]]}`),
			ErrTooLarge, "1025 bytes"},
		{"unk_id", with(smallUnigram, "model", `{"type":"Unigram","unk_id":7,"vocab":[["a",0]]}`),
			ErrFormat, "want 0 to 0"},
		{"expression", with(smallUnigram, "normalizer",
			`{"type":"Replace","pattern":{"Regex":"a|b"},"content":""}`), errUnsupported, "a|b"},
		{"long replacement", with(smallUnigram, "normalizer",
			`{"type":"Replace","pattern":{"String":"a"},"content":"`+long+`"}`), ErrTooLarge, "1025 bytes"},
		{"other normalizer", with(smallUnigram, "normalizer", `{"type":"Prepend"}`), errUnsupported, "Prepend"},
		{"character map", with(smallUnigram, "normalizer",
			`{"type":"Precompiled","precompiled_charsmap":"AAAA"}`), ErrFormat, "precompiled_charsmap"},
		{"character map of another length", with(smallUnigram, "normalizer",
			`{"type":"Precompiled","precompiled_charsmap":"CAAAAAAA"}`), ErrFormat, "precompiled_charsmap"},
		{"deep sequence", with(smallUnigram, "normalizer",
			strings.Repeat(`{"type":"Sequence","normalizers":[`, 100)+`{"type":"NFC"}`+strings.Repeat("]}",
				100)), ErrTooLarge, "more than 64 parts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tok, err := Load(folder(map[string]string{jsonFile: c.json}))
			var file *FileError
			if tok != nil || !errors.Is(err, c.want) || !errors.As(err, &file) ||
				!strings.Contains(err.Error(), c.text) {
				t.Errorf("Load = %v, %v; want %v with %q", tok, err, c.want, c.text)
			}
		})
	}
	for _, c := range []struct {
		vocab, merges string
		want          error
		text          string
	}{
		{`{"a":0}`, "", errNoVocabulary, "merges.txt"},
		{`{"a":-1}`, "a b\n", ErrFormat, `vocab.json: ["a"]`},
		{`{"a":0}`, "a b\nab\n", ErrFormat, "merges.txt:2"},
		{`[`, "a b\n", ErrFormat, "vocab.json:1"},
	} {
		files := map[string]string{vocabJSONFile: c.vocab, mergesFile: c.merges}
		if c.merges == "" {
			delete(files, mergesFile)
		}
		if tok, err := Load(folder(files)); tok != nil || !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.text) {
			t.Errorf("%s %q: %v, %v; want %v with %q", c.vocab, c.merges, tok, err, c.want, c.text)
		}
	}
}

// TestSmallParts checks what is hard to see among many lines.
func TestSmallParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parts      map[string]string
		text, want string
	}{
		{smallBPE, "ab", "<s> Ġab </s>"},          // ignore_merges, and a space before the text
		{smallBPE, "abab", "<s> Ġab ab </s>"},     // merges, by rank
		{smallBPE, "axb", "<s> Ġ a <unk> b </s>"}, // a byte without a piece
		{smallBPE, "a <mask>b", "<s> Ġ a <mask> Ġ b </s>"},
		{smallUnigram, "Ab  aB", "▁ab ▁ab"},
		{smallUnigram, "Áb", "▁ab"},
		{smallUnigram, "acd", "▁ a [UNK]"}, // d has no byte piece, so the two are unknown together
		{smallUnigram, "ac", "▁ a <0x63>"},
	} {
		tok, err := Load(folder(map[string]string{jsonFile: smallJSON(c.parts)}))
		if err != nil {
			t.Fatal(err)
		}
		e, err := tok.Encode(c.text)
		if got := strings.Join(e.Tokens, " "); err != nil || got != c.want &&
			got != "[CLS] "+c.want+" [SEP]" {
			t.Errorf("%q is %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

// TestJoin compares with a search through all pairs before every merge.
func TestJoin(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		vocab := map[string]int{"a": 0, "b": 1, "c": 2}
		pieces := []string{"a", "b", "c"}
		var merges [][2]string
		for len(merges) < 12 {
			p := [2]string{pieces[r.IntN(len(pieces))], pieces[r.IntN(len(pieces))]}
			if _, ok := vocab[p[0]+p[1]]; !ok {
				vocab[p[0]+p[1]] = len(vocab)
				pieces = append(pieces, p[0]+p[1])
			}
			merges = append(merges, p)
		}
		m, err := newBytePairs(vocab, merges, -1, false)
		if err != nil {
			t.Fatal(err)
		}
		w := make([]byte, 1+r.IntN(80))
		for i := range w {
			w[i] = "abcd"[r.IntN(4)] // d is no piece
		}
		got, want := m.merges.join(m.singles(w)), m.singles(w)
		for {
			best, at := merge{}, -1
			for i := 0; i+1 < len(want); i++ {
				g, ok := m.merges[pair{want[i].id, want[i+1].id}]
				if ok && (at < 0 || g.rank < best.rank) {
					best, at = g, i
				}
			}
			if at < 0 {
				break
			}
			want[at].id, want[at].hi = best.id, want[at+1].hi
			want = slices.Delete(want, at+1, at+2)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s with %v: %v, want %v", w, merges, got, want)
		}
	}
}

// TestViterbi compares with all segmentations.
func TestViterbi(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		vocab := []scored{{"?", 0}}
		scores := map[string]float64{}
		for range 8 {
			p := ""
			for range 1 + r.IntN(4) {
				p += string("abé"[r.IntN(2)])
			}
			if _, ok := scores[p]; !ok {
				scores[p] = -5 * r.Float64()
				vocab = append(vocab, scored{p, scores[p]})
			}
		}
		m, err := newUnigram(vocab, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		w := ""
		for range 1 + r.IntN(10) {
			w += []string{"a", "b", "é"}[r.IntN(3)]
		}
		var best func(w string) float64
		best = func(w string) float64 {
			if w == "" {
				return 0
			}
			_, size := utf8.DecodeRuneInString(w)
			top := -1e9
			if _, ok := scores[w[:size]]; !ok {
				top = m.penalty + best(w[size:])
			}
			for p, s := range scores {
				if strings.HasPrefix(w, p) {
					top = max(top, s+best(w[len(p):]))
				}
			}
			return top
		}
		got, err := m.pieces(nil, []byte(w))
		if err != nil {
			t.Fatal(err)
		}
		sum, at := 0.0, int32(0)
		for _, p := range got {
			if p.lo != at {
				t.Fatalf("%q: %v", w, got)
			}
			at = p.hi
			if p.id == 0 {
				sum += m.penalty * float64(utf8.RuneCountInString(w[p.lo:p.hi]))
			} else {
				sum += vocab[p.id].score
			}
		}
		if want := best(w); int(at) != len(w) || sum < want-1e-9 || sum > want+1e-9 {
			t.Fatalf("%q with %v: %v has %v, best is %v", w, vocab, got, sum, want)
		}
	}
}

// TestUnicodePipeline asks for every code point what
// testdata/gen_unicode_pipeline.py asked Hugging Face's tokenizers.
func TestUnicodePipeline(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/unicode_pipeline.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Ranges map[string][][2]rune
		Forms  map[string]map[string]string
	}
	if err := json.NewDecoder(z).Decode(&want); err != nil {
		t.Fatal(err)
	}
	sets := map[string]*unicode.RangeTable{}
	for _, name := range []string{"letter", "number", "other", "combining"} {
		if sets[name] = rangeTable(want.Ranges[name]); len(want.Ranges[name]) == 0 {
			t.Fatalf("no set %q", name)
		}
	}
	forms := map[string]normalizer{"NFC": form{compose: true}, "NFD": form{},
		"NFKC": form{compatible: true, compose: true}, "NFKD": form{compatible: true}, "Nmt": nmt{}}
	bad := 0
	differ := func(r rune, what string, got, want any) {
		if bad++; bad < 40 {
			t.Errorf("U+%04X: %s is %+q, want %+q", r, what, got, want)
		}
	}
	for r := range rune(utf8.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		c := map[uint8]string{letterClass: "letter", numberClass: "number",
			otherClass: "other"}[classOf(r)]
		for name, set := range sets {
			if name != "combining" && unicode.Is(set, r) != (name == c) {
				differ(r, name, c, name)
			}
		}
		left, _ := (stripMarks{}).run([]char{{r: r}}, 0)
		if got := len(left) == 0; got != unicode.Is(sets["combining"], r) {
			differ(r, "combining", strconv.FormatBool(got), strconv.FormatBool(!got))
		}
		if r >= hangulBase && r < hangulBase+hangulCount {
			continue
		}
		for name, f := range forms {
			to, ok := want.Forms[name][strconv.FormatInt(int64(r), 16)]
			if !ok {
				to = string(r)
			}
			p := pipeline{norm: []normalizer{f}}
			if got := p.normal(string(r)); got != to {
				differ(r, name, got, to)
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d differences", bad)
	}
}

// TestGrowth: rules that make a text ever longer are an error, not a crash.
func TestGrowth(t *testing.T) {
	t.Parallel()
	double := `{"type":"Replace","pattern":{"String":"a"},"content":"aa"}`
	for _, norm := range []string{
		`{"type":"Sequence","normalizers":[` + strings.Repeat(double+",", 59) + double + `]}`,
		`{"type":"Replace","pattern":{"String":"a"},"content":"` + strings.Repeat("b", 1000) + `"}`,
	} {
		tok, err := Load(folder(map[string]string{jsonFile: with(smallUnigram, "normalizer", norm)}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = tok.Encode(strings.Repeat("a", 2000))
		var at *TextError
		if !errors.As(err, &at) || !errors.Is(err, ErrTooLarge) {
			t.Errorf("%.80s: %v", norm, err)
		}
	}
	tok := hfTokenizer(t, "roberta")
	if _, err := tok.Encode(strings.Repeat("a", maxMarkedBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}
