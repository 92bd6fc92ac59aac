package infill

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"
)

// Scores agree with torch, computed once by testdata/make_scores.py.
func TestScoreAgainstTorch(t *testing.T) {
	b, err := os.ReadFile("testdata/scores.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Text   string
		Score  float64
		Pieces []float64
	}
	if err := json.Unmarshal(b, &want); err != nil || len(want) < 5 {
		t.Fatalf("%d cases, %v", len(want), err)
	}
	e := New(tiny(t))
	for _, w := range want {
		s, err := e.Score(context.Background(), w.Text)
		if err != nil {
			t.Fatalf("%q: %v", w.Text, err)
		}
		if math.Abs(s.Score-w.Score) > 1e-4 || len(s.Pieces) != len(w.Pieces) {
			t.Errorf("%q: %d pieces score %v, torch says %d pieces and %v", w.Text, len(s.Pieces), s.Score, len(w.Pieces), w.Score)
			continue
		}
		for i, p := range s.Pieces {
			if math.Abs(p.LogProb-w.Pieces[i]) > 1e-4 {
				t.Errorf("%q: piece %s has %v, torch says %v", w.Text, p.Piece, p.LogProb, w.Pieces[i])
			}
		}
	}
}

func TestScoreErrors(t *testing.T) {
	e := New(tiny(t))
	for text, is := range map[string]error{
		"":                    ErrEmpty,
		" \n":                 ErrEmpty,
		"[CLS] [SEP]":         ErrEmpty,
		"the [MASK] sleeps .": ErrBlank,
		"the ___ sleeps .":    ErrBlank,
	} {
		if _, err := e.Score(context.Background(), text); !errors.Is(err, is) {
			t.Errorf("%q: %v, want %v", text, err, is)
		}
	}
}
