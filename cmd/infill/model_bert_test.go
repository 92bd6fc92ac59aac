package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// The marks between which docs/reference/models.md has the row of the real BERT-base.
const bertBegin, bertEnd = "<!-- bert-base: go test ./cmd/infill -run TestBERTBase -->\n", "<!-- end of bert-base -->\n"

// BERT-base uncased as a user has it, exported as docs/guide/models.md says: the commands work on it, it
// knows what it should, and the row in docs/reference/models.md is what it did.
func TestBERTBase(t *testing.T) {
	dir := testmode.BERTBase(t)
	info, fill, score, gradient := commands(t, "BERT-base", dir)
	mustWork(t, "BERT-base", fill, score, gradient)
	if info.Architecture != "BertForMaskedLM" || info.Parameters/1e5 != 1095 || info.Hidden != 768 || !info.Tied ||
		info.MaskID != 103 ||
		info.Known != "BERT, uncased English (30,522 pieces)" {
		t.Errorf("info: %+v", info)
	}
	row := fmt.Sprintf("| BERT-base uncased, %.1f M | torch, TorchScript | %d | %s | %s | %s |\n",
		float64(info.Parameters)/1e6, info.Opset, fill, score, gradient)
	doc := get(t, filepath.Join("..", "..", "docs", "reference", "models.md"))
	_, rest, ok := strings.Cut(doc, bertBegin)
	want, _, ok2 := strings.Cut(rest, bertEnd)
	if !ok || !ok2 || !strings.HasSuffix(want, "|\n"+row) {
		t.Errorf("docs/reference/models.md says\n%s\nbut the model does\n%s", want, row)
	}

	for text, word := range map[string]string{
		"Paris is the capital of [MASK].":                "france",
		"The earth moves around the [MASK] once a year.": "sun",
		"She drank a cup of [MASK].":                     "coffee|tea|water",
	} {
		r := infillRun(
			"", "fill", "--json", "--seed", "1", "--steps", "10", "--chains", "5", "--model", dir, text,
		)
		var got struct {
			Fillings []struct {
				Tokens []string `json:"tokens"`
			} `json:"fillings"`
		}
		if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 ||
			len(got.Fillings) == 0 {
			t.Errorf("%s: exit %d, %v: %s%s", text, r.code, err, r.out, r.err)
			continue
		}
		if best := strings.Join(got.Fillings[0].Tokens, " "); !strings.Contains(
			"|"+word+"|", "|"+best+"|",
		) {
			t.Errorf("%s: %q", text, best)
		}
	}
}
