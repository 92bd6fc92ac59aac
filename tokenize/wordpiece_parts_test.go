package tokenize

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

// WordPiece models whose text stage is put together from parts have Hugging Face's ids and offsets.
func TestWordPieceOfParts(t *testing.T) {
	t.Parallel()
	var lines []string
	if err := json.Unmarshal(unzip(t, "testdata/hf/lines.json.gz"), &lines); err != nil {
		t.Fatal(err)
	}
	type result struct {
		ids     []int32
		offsets [][2]int // in characters
	}
	var raw map[string][][2]json.RawMessage
	if err := json.Unmarshal(unzip(t, "testdata/wordpiece/expected.json.gz"), &raw); err != nil {
		t.Fatal(err)
	}
	if len(raw) < 6 {
		t.Fatalf("only %d tokenizers", len(raw))
	}
	for name, results := range raw {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "wordpiece", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			tok, err := Load(fstest.MapFS{jsonFile: {Data: data}})
			if err != nil {
				t.Fatal(err)
			}
			if tok.MarksSpaces() || len(results) < 200 {
				t.Fatalf("%d lines, spaces are marked: %v", len(results), tok.MarksSpaces())
			}
			for i, pair := range results {
				var want result
				if json.Unmarshal(pair[0], &want.ids) != nil || json.Unmarshal(pair[1],
					&want.offsets) != nil {
					t.Fatal("expected.json.gz cannot be read")
				}
				text := lines[5*i]
				e, err := tok.Encode(text)
				if err != nil {
					t.Fatal(err)
				}
				var at []int
				for k := range text {
					at = append(at, k)
				}
				at = append(at, len(text))
				if !slices.Equal(e.IDs, want.ids) {
					t.Errorf("%q\n got %q\nwant %q", text, e.Tokens, spell(tok, want.ids))
					continue
				}
				for k, o := range want.offsets[1 : len(want.offsets)-1] {
					if span := [2]int{at[o[0]], at[o[1]]}; e.Spans[k+1] != span {
						t.Errorf("%q: %q is at %v, want %v", text, e.Tokens[k+1], e.Spans[k+1], span)
					}
				}
			}
		})
	}
}

// What follows a blank goes on with its word, whatever the text stage is.
func TestWordPieceOfPartsBlanks(t *testing.T) {
	t.Parallel()
	vocab := `{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"[MASK]":4,"s":5,"##s":6,".":7}`
	for _, pre := range []string{`{"type":"Whitespace"}`, `{"type":"WhitespaceSplit"}`} {
		tok, err := Load(fstest.MapFS{jsonFile: {Data: []byte(`{"normalizer":{"type":"Lowercase"},` +
			`"pre_tokenizer":` + pre + `,"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":` +
			vocab + `}}`)}})
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]string{"[MASK]S": "##s", "[MASK] S": "s", "[MASK].": "."} {
			e, err := tok.EncodeBlanks(text)
			if err != nil || !slices.Equal(e.Tokens, []string{"[MASK]", want}) {
				t.Errorf("%s: %q is %q, %v", pre, text, e.Tokens, err)
			}
		}
	}
}

// A vocabulary with the capitals of another script is cased, too.
func TestCasedVocabulary(t *testing.T) {
	t.Parallel()
	special := "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
	for words, lower := range map[string]bool{
		"the\nThe\n": false, "мир\nМир\n": false, "the\nмир\n": true,
	} {
		tok, err := Load(fstest.MapFS{vocabFile: {Data: []byte(special + words)}})
		if err != nil || tok.Lowercase() != lower {
			t.Errorf("%q: %v, %v", words, tok.Lowercase(), err)
		}
	}
}
