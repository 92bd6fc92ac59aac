package tokenize

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// small is the uncased tokenizer of testdata.
func small(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := Load(os.DirFS("testdata/uncased"))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestAccessors(t *testing.T) {
	t.Parallel()
	tok := small(t)
	for _, c := range []struct {
		id                            int32
		token                         string
		special, unused, continuation bool
		name                          string
		get                           func() int32
	}{
		{0, "[PAD]", true, false, false, "pad", tok.PadID},
		{1, "[UNK]", true, false, false, "unknown", tok.UNKID},
		{2, "[CLS]", true, false, false, "cls", tok.CLSID},
		{3, "[SEP]", true, false, false, "sep", tok.SEPID},
		{4, "[MASK]", true, false, false, "mask", tok.MaskID},
		{5, "[unused0]", false, true, false, "", nil},
		{13, "!", false, false, false, "", nil},
		{-1, "", false, true, false, "", nil},
		{1 << 30, "", false, true, false, "", nil},
	} {
		if got := tok.Token(c.id); got != c.token {
			t.Errorf("Token(%d) = %q, want %q", c.id, got, c.token)
		}
		if tok.IsSpecial(c.id) != c.special || tok.IsUnused(c.id) != c.unused ||
			tok.IsContinuation(c.id) != c.continuation {
			t.Errorf("%d: special %v, unused %v, continuation %v", c.id, tok.IsSpecial(c.id),
				tok.IsUnused(c.id), tok.IsContinuation(c.id))
		}
		if c.get != nil && c.get() != c.id {
			t.Errorf("%s is %d, want %d", c.name, c.get(), c.id)
		}
		if id, ok := tok.ID(c.token); c.token != "" && (!ok || id != c.id) {
			t.Errorf("ID(%q) = %d, %v", c.token, id, ok)
		}
	}
	if id, ok := tok.ID("##ing"); !ok || !tok.IsContinuation(id) || tok.IsSpecial(id) {
		t.Errorf("##ing is %d, %v", id, ok)
	}
	if _, ok := tok.ID("xyzzy"); ok {
		t.Error("xyzzy has an id")
	}
	if tok.VocabSize() != 868 || tok.MaxLength() != 0 || !tok.Lowercase() {
		t.Errorf("size %d, length %d", tok.VocabSize(), tok.MaxLength())
	}
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]bool{
		"[unused0]": true, "[unused99]": true, "[UNUSED_3]": true, "<unused12>": true,
		"madeupword0001": true,
		"[unused]":       false, "unused": false, "[unusedx]": false, "madeupword": false,
		"[unused1": false,
		"the":      false,
	} {
		if got := isPlaceholder(token); got != want {
			t.Errorf("isPlaceholder(%q) = %v", token, got)
		}
	}
}

// TestWholeWords checks the definition on every id of the vocabulary.
func TestWholeWords(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"uncased", "cased-json", "switches"} {
		tok, err := Load(os.DirFS("testdata/" + name))
		if err != nil {
			t.Fatal(err)
		}
		words := tok.WholeWords()
		if len(words) < 150 || !slices.IsSorted(words) {
			t.Errorf("%s: %d words", name, len(words))
		}
		for id := range int32(tok.VocabSize()) {
			token := tok.Token(id)
			if !slices.Contains(words, id) {
				if token == "house" || token == "a" {
					t.Errorf("%s: %q is not a word", name, token)
				}
				continue
			}
			e, err := tok.Pieces(token)
			if err != nil || !slices.Equal(e.IDs, []int32{id}) || tok.IsSpecial(id) || tok.IsUnused(id) ||
				tok.IsContinuation(id) ||
				strings.ContainsAny(token, "#[]<>0123456789.,' ") {
				t.Errorf("%s: %q (%d) is a word, %v", name, token, id, e.IDs)
			}
		}
		if &words[0] != &tok.WholeWords()[0] {
			t.Error("WholeWords is computed twice")
		}
	}
	// A piece that the normaliser changes cannot be produced, so it is no word.
	tok, err := newTokenizer(strings.Fields("[PAD] [UNK] [CLS] [SEP] [MASK] The the Café"), options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.WholeWords(); !slices.Equal(got, []int32{6}) {
		t.Errorf("words %v, want only 6", got)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	pieces := strings.Fields("[PAD] [UNK] [CLS] [SEP] [MASK] the cafe café Café ##s 中 中文 a\u0007")
	for _, c := range []struct {
		o    options
		text string
		want string
	}{
		{options{}, "Café cafes", "cafe cafe ##s"},
		{options{Cased: true}, "Café cafe", "Café cafe"},
		{options{StripAccents: &no}, "Café", "café"},
		{options{Cased: true, StripAccents: &yes}, "Café café", "[UNK] cafe"},
		{options{}, "中文", "中 [UNK]"},
		{options{KeepChinese: true}, "中文", "中文"},
		{options{}, "the\u0007", "the"},
		{options{KeepControl: true}, "a\u0007 the\u0007", "a\u0007 [UNK]"},
		{options{MaxWordSize: 2}, "cafe the 中", "[UNK] [UNK] 中"},
		{options{Added: []addedToken{{ID: 20, Content: "the cafe"}}}, "the the cafe", "the the cafe"},
		{options{Mask: "the"}, "the [MASK]", "the [UNK] [UNK] [UNK]"},
	} {
		tok, err := newTokenizer(pieces, c.o)
		if err != nil {
			t.Fatal(err)
		}
		e, err := tok.Pieces(c.text)
		if got := strings.Join(e.Tokens, " "); err != nil || got != c.want {
			t.Errorf("%+v: %q is %q, %v, want %q", c.o, c.text, got, err, c.want)
		}
	}
	for _, c := range []struct {
		pieces []string
		o      options
		want   error
	}{
		{nil, options{}, ErrFormat},
		{pieces[1:], options{}, errMissingToken},
		{pieces, options{Mask: "<mask>"}, errMissingToken},
		{pieces, options{Added: []addedToken{{ID: -1, Content: "x"}}}, ErrFormat},
		{pieces, options{Added: []addedToken{{ID: 5, Content: "x"}}}, ErrFormat},
		{pieces, options{Added: make([]addedToken, maxAdded+1)}, ErrTooLarge},
		{make([]string, maxVocabulary+1), options{}, ErrFormat},
		{append(make([]string, maxVocabulary), "x"), options{}, ErrTooLarge},
		{pieces, options{Unknown: "<new>", Added: []addedToken{{ID: 40, Content: "<new>"}}},
			errMissingToken},
	} {
		if tok, err := newTokenizer(c.pieces, c.o); !errors.Is(err, c.want) || tok != nil {
			t.Errorf("%d pieces, %+v: %v, want %v", len(c.pieces), c.o, err, c.want)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	t.Parallel()
	tok := small(t)
	for _, c := range []struct {
		text string
		at   int
		want error
	}{
		{"\xff", 0, ErrInvalidUTF8},
		{"café \xc3", 6, ErrInvalidUTF8},
		{"[MASK]\xed\xa0\x80", 6, ErrInvalidUTF8}, // a surrogate
		{"a\ufffd\xf8", 4, ErrInvalidUTF8},
		{strings.Repeat("a", maxTextBytes+1), maxTextBytes, ErrTooLarge},
	} {
		for _, encode := range []func(string) (Encoding, error){tok.Encode, tok.Pieces} {
			e, err := encode(c.text)
			var at *TextError
			if !errors.As(err, &at) || !errors.Is(err, c.want) || at.Offset != c.at || e.Len() != 0 {
				t.Errorf("%.20q: %v, want %v at byte %d", c.text, err, c.want, c.at)
			}
		}
	}
	if _, err := tok.Encode("a\x80"); err == nil || err.Error() != "text: byte 1: invalid UTF-8" {
		t.Errorf("message is %v", err)
	}
}

func TestEncodingFields(t *testing.T) {
	t.Parallel()
	e, err := small(t).Encode("Walks [MASK] xq☃z")
	if err != nil {
		t.Fatal(err)
	}
	want := Encoding{
		IDs:          e.IDs,
		Tokens:       []string{"[CLS]", "walk", "##s", "[MASK]", "[UNK]", "[SEP]"},
		Spans:        [][2]int{{0, 0}, {0, 4}, {4, 5}, {6, 12}, {13, 19}, {19, 19}},
		Special:      []bool{true, false, false, true, false, true},
		Continuation: []bool{false, false, true, false, false, false},
		Words:        []int32{-1, 0, 0, 1, 2, -1},
	}
	if fmt.Sprint(e) != fmt.Sprint(want) {
		t.Errorf("\n got %v\nwant %v", e, want)
	}
}

// TestWordPieceReference compares the model stage, in front of which are a
// vocabulary look-up and a cache, with the plain algorithm.
func TestWordPieceReference(t *testing.T) {
	t.Parallel()
	tok := small(t)
	m := tok.model.(*wordPiece)
	reference := func(w string) []piece {
		var out []piece
		for at := 0; at < len(w); {
			end := len(w)
			for ; end > at; end-- {
				prefix := ""
				if at > 0 {
					prefix = "##"
				}
				if id, ok := tok.ids[prefix+w[at:end]]; ok {
					out = append(out, piece{id, int32(at), int32(end)})
					break
				}
			}
			if end == at {
				return []piece{{tok.UNKID(), 0, int32(len(w))}}
			}
			at = end
		}
		return out
	}
	r := rand.New(rand.NewPCG(3, 4))
	parts := []string{"the", "walk", "ing", "tion", "a", "é", "ß", "中", "x", "q", "☃", "к", "ness",
		"less", "#", "1"}
	for range 5000 {
		var w string
		for range 1 + r.IntN(6) {
			w += parts[r.IntN(len(parts))]
		}
		for range 2 { // the second time from the cache
			got, err := m.pieces(nil, []byte(w))
			if want := reference(w); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%q is %v, %v; want %v", w, got, err, want)
			}
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	c := newWordCache(limit)
	for i := range 100_000 {
		w := fmt.Sprintf("word%d", i)
		c.put(w, []piece{{int32(i), 0, 4}})
		if p, ok := c.get([]byte(w)); !ok || p[0].id != int32(i) {
			t.Fatalf("%s is forgotten at once", w)
		}
		if p, ok := c.get([]byte("word0")); ok && p[0].id != 0 { // stays, since it is in use
			t.Fatalf("word0 is %v", p)
		} else if !ok {
			t.Fatalf("word0 is forgotten after %d words", i)
		}
	}
	size := 0
	for _, generation := range []map[string][]piece{c.young, c.old} {
		for w, p := range generation {
			size += entryBytes + len(w) + pieceBytes*len(p)
		}
	}
	if size > limit || size < limit/4 {
		t.Errorf("the cache holds %d bytes, limit %d", size, limit)
	}
	c.put(strings.Repeat("x", limit), nil)
	if _, ok := c.get(bytes.Repeat([]byte("x"), limit)); ok {
		t.Error("a word larger than the cache is kept")
	}
}

// TestConcurrent encodes the same lines from many goroutines, with words that
// are new to the cache; run it with -race.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	cases := readExpected(t, "testdata/uncased/expected.jsonl")
	tok := small(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range cases {
				c := cases[(i+g*40)%len(cases)]
				if e, err := tok.Encode(c.Text); err != nil || !slices.Equal(e.IDs, c.IDs) {
					t.Errorf("%q: %v, %v", c.Text, e.IDs, err)
				}
				if g%2 == 0 {
					tok.WholeWords()
				}
			}
		})
	}
	wg.Wait()
}

func TestDecode(t *testing.T) {
	t.Parallel()
	tok := small(t)
	for text, want := range map[string]string{
		"Walking, the Cats!": "walking, the cats!", "it's": "it ' s", "[MASK] house": "[MASK] house",
		"": "", "a-b": "a - b",
	} {
		e, err := tok.Pieces(text)
		if got := tok.Decode(e.IDs); err != nil || got != want {
			t.Errorf("%q is decoded as %q, %v; want %q", text, got, err, want)
		}
	}
	ing, _ := tok.ID("##ing")
	if got := tok.Decode([]int32{-1, ing, 1 << 30, ing}); got != "##inging" {
		t.Errorf("got %q", got)
	}
}

// TestLongText is far longer than a sentence.
func TestLongText(t *testing.T) {
	t.Parallel()
	tok := small(t)
	const n = 200_000
	e, err := tok.Pieces(strings.Repeat("The été. ", n))
	if err != nil {
		t.Fatal(err)
	}
	per := e.Len() / n
	if e.Len()%n != 0 || per < 3 {
		t.Fatalf("%d pieces", e.Len())
	}
	for i := range e.IDs {
		shift := i / per * len("The été. ")
		if first := e.Spans[i%per]; e.IDs[i] != e.IDs[i%per] ||
			e.Spans[i] != [2]int{first[0] + shift, first[1] + shift} {
			t.Fatalf("piece %d is %d at %v", i, e.IDs[i], e.Spans[i])
		}
	}
}
