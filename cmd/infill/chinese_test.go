package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// chineseModels are of a few Chinese sentences. The tokenizer of the second makes one word of
// characters beside each other.
var chineseModels = []string{"../../mlm/testdata/tiny-chinese", "../../mlm/testdata/tiny-chinese/joined"}

// A blank between characters takes the characters that the model itself finds likeliest there, with
// its scores, also under an expression and as a whole word.
func TestChinese(t *testing.T) {
	t.Parallel()
	for _, model := range chineseModels {
		var rows []struct {
			Text string
			Best [][2]any
		}
		if err := json.Unmarshal([]byte(get(t, filepath.Join(model, "expected.json"))), &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			for _, args := range [][]string{{row.Text}, {row.Text, "--vocab", "whole-words"},
				{strings.Replace(row.Text, "[MASK]", `[MASK/^\p{Han}$/]`, 1)}} {
				r := infillRun("", append([]string{"fill", "--model", model, "--json", "-n", "2"}, args...)...)
				var rec struct {
					Fillings []struct {
						Tokens, Pieces []string
						Score          float64
					}
				}
				if err := json.Unmarshal([]byte(r.out), &rec); err != nil || len(rec.Fillings) != 2 {
					t.Fatalf("%q: exit %d: %s%s", args, r.code, r.out, r.err)
				}
				for i, f := range rec.Fillings {
					want, score := row.Best[i][0].(string), row.Best[i][1].(float64)
					if f.Pieces == nil {
						f.Pieces = f.Tokens
					}
					if f.Pieces[0] != want || math.Abs(f.Score-score) > 1e-3 {
						t.Errorf("%s, %q: %q %.4f, want %q %.4f", model, args, f.Tokens, f.Score, want, score)
					}
				}
			}
		}
	}
}

// A character is masked, and not the clause.
func TestMaskChinese(t *testing.T) {
	t.Parallel()
	const text = "今天天气很好，我们去散步吧。"
	in := put(t, filepath.Join(t.TempDir(), "in.txt"), text+"\n")
	for _, model := range chineseModels {
		for _, action := range []string{"substitute", "insert"} {
			r := infillRun("", "augment", in, "--model", model, "--mask-words", "2", "-n", "3", "--seed", "1",
				"--action", action, "--quiet")
			rows := augmented(t, r.out)
			if r.code != exitOK || len(rows) != 3 {
				t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
			}
			for _, row := range rows {
				got := row["text"].(string)
				n := utf8.RuneCountInString(text)
				if action == "insert" {
					n += 2
				}
				if utf8.RuneCountInString(got) != n || row["edits"] != 2.0 || !strings.HasSuffix(got, "。") ||
					strings.ContainsAny(got, "[ abcdefghijklmnopqrstuvwxyz0123456789") {
					t.Errorf("%s, %s: %v", model, action, row)
				}
			}
		}
		// What stays is told by characters too.
		r := infillRun("", "batch", in, "--model", model, "--mask-rate", "1", "--keep", "天气,散步",
			"--seed", "1", "--quiet")
		var rec struct{ Masked []string }
		if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
			t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
		}
		if want := strings.Split("今天很好我们去吧", ""); !slices.Equal(rec.Masked, want) {
			t.Errorf("%s: %q, want %q", model, rec.Masked, want)
		}
	}
}
