package infill

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/internal/testmode"
	"infill/mlm"
)

// betweenTexts have a blank between letters or digits: a list, or an open one.
var betweenTexts = []string{
	"I don[MASK|'|-]t know.", "she can[MASK|'|-|no]t see the man.", "it isn[MASK|'|.]t old.",
	"we won[MASK|'|:|e]t go.", "they didn[MASK|'|-]t see her.", "you[MASK|'|-|d]re the man.",
	"I[MASK|'|-|l]ll see.", "he[MASK|'|-|r]s old.", "the dog[MASK|'|-|e]s cat.", "let[MASK|'|-|t]s see.",
	"at 5[MASK|:|h|.]30 on", "at 12[MASK|:|.|-]05 on", "from 9[MASK|-|:|.]11 on", "at 3[MASK|:|h]15 she ran",
	"a 10[MASK|:|.]1 man", "the 2[MASK|:|-|h]0 dog",
	"info[MASK|@|group]example.org", "she[MASK|@|.|and]mat.org", "man@mat[MASK|.|-|on]org",
	"http:[MASK|/|-]/mat", "mat[MASK|/|-|s]cat", "and[MASK|/|-|a]or",
	"e[MASK|-|z]mail", "a well[MASK|-|s]known man", "the man[MASK|-|'|a]at the mat", "re[MASK|-|s]send it",
	"an old[MASK|-|er]style cat", "a red[MASK|-|d]hot dog", "on[MASK|-|e]to the mat",
	"3[MASK|.|:|1]5 cats", "0[MASK|.|,|5]25 of it", "2[MASK|.|-|0]0 it is", "9[MASK|.|,]99 on",
	"$1[MASK|.|,|0]50 on", "$5[MASK|.|,]99 a cat", "it is $[MASK|1|2]0", "2[MASK|,|.|0]000 cats",
	"I don[MASK]t know.", "at 5[MASK]30 on", "e[MASK.]mail",
}

// bytePairs is a model of random weights with a byte-level vocabulary, some of whose pieces become
// digits and marks. As in GPT-2's, 's and 't are pieces.
func bytePairs(t *testing.T) *mlm.Model {
	t.Helper()
	dir, from := t.TempDir(), filepath.Join("..", "mlm", "testdata", "architectures", "roberta")
	for name, file := range map[string]string{
		"config.json": filepath.Join(from, "config.json"), "tokenizer.json": filepath.Join(from, "tokenizer.json"),
		"tokenizer_config.json": filepath.Join(from, "tokenizer_config.json"),
		"model.onnx":            filepath.Join("..", "mlm", "onnxgrad", "testdata", "roberta.onnx"),
	} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name == "tokenizer.json" {
			s := strings.Join(strings.Fields(string(data)), "")
			for pair, mark := range map[string]string{"ab": "0", "cd": "1", "ef": "2", "gh": "3", "ij": "5",
				"kl": "9", "op": ":", "qr": "-", "uv": "@", "wx": "/", "yz": "$", "mn": "'t"} {
				merge := fmt.Sprintf(`["%c","%c"],`, pair[0], pair[1])
				if strings.Count(s, merge) != 1 || strings.Count(s, `"`+pair+`":`) != 1 {
					t.Fatalf("the vocabulary has no pair %s", pair)
				}
				s = strings.Replace(s, `"`+pair+`":`, `"`+mark+`":`, 1)
				with := ""
				if mark == "'t" {
					with = `["'","t"],`
				}
				s = strings.Replace(s, merge, with, 1)
			}
			data = []byte(s)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := mlm.OpenDir(t.Context(), dir, mlm.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// Every mark and every entry of a list between letters has the score that its finished text has.
func TestBetweenLetters(t *testing.T) {
	t.Parallel()
	if len(betweenTexts) != 40 {
		t.Fatalf("%d texts, want 40", len(betweenTexts))
	}
	for name, m := range map[string]*mlm.Model{"WordPiece": openSmall(t), "byte-level BPE": bytePairs(t)} {
		e, top := New(m), 20
		if testmode.All() {
			top = 200
		}
		finished, compared := 0, 0
		for i, s := range betweenTexts {
			if i%8 > 1 && !testmode.All() { // two in eight, one by each score
				continue
			}
			if name != "WordPiece" {
				s = strings.NewReplacer("I", "i", "http", "cat").Replace(s)
			}
			by := []Scoring{ScorePLL, ScoreBlended}[i%2]
			for _, s := range []string{s, "[MASK] " + s} {
				r, err := e.FillText(t.Context(), s, Options{Method: MethodSearch,
					Results: ResultOptions{Top: top, Score: by}, Search: SearchOptions{Rows: 300}})
				if err != nil {
					t.Fatalf("%s: %s: %v", name, s, err)
				}
				if n := strings.Count(s, "|"); n > 0 && len(r.Fillings) < n {
					t.Errorf("%s: %s: %d of %d entries", name, s, len(r.Fillings), n)
				}
				for _, f := range r.Fillings {
					if last := len(f.Spans) - 1; !strings.Contains(s, "|") &&
						text.LettersBefore(f.Text[f.Spans[last][0]:f.Spans[last][1]]) != "" {
						continue
					}
					if f.Parts.Finished {
						finished++
					}
					compared++
					want, err := e.ScoreSpans(t.Context(), text.End(f.Text, r.Shown), f.Spans, by)
					if err != nil {
						t.Fatal(err)
					}
					if f.Recut || !(math.Abs(want.Score+f.Parts.Length-f.Score) <= 1e-4) {
						t.Errorf("%s: %s: %s has %.5f filled in, %.5f finished, recut %v", name, s, f.Text,
							f.Score, want.Score, f.Recut)
					}
				}
			}
		}
		if finished == 0 || compared < 100 || compared < 200 && testmode.All() {
			t.Errorf("%s: %d compared, %d of them cut otherwise", name, compared, finished)
		}
	}
}
