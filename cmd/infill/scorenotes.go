package main

import (
	"fmt"
	"io"
	"strings"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/tokenize"
)

// onceEach makes a function that prints a note on a line of w, unless it was printed before or is
// not wanted: of every text the same would be said.
func onceEach(w io.Writer, quiet bool) func(note string) {
	printed := map[string]bool{}
	return func(note string) {
		if !quiet && !printed[note] {
			printed[note] = true
			fmt.Fprintln(w, note)
		}
	}
}

// scoringMeans says in a few words what a score is.
var scoringMeans = map[string]string{
	infill.ScorePLL.String():        "each piece beside all others",
	infill.ScoreWithinWord.String(): "each piece beside all others but the later ones of its word",
	infill.ScoreBlended.String():    "half pll, half the pieces in order from both ends",
}

// scoringNote names the score of a record. Numbers of different scores do not compare.
func scoringNote(rec *jsonl.Record) string {
	what := "score"
	if rec.Candidates != nil {
		what = "score of candidates"
	}
	return fmt.Sprintf("%s: %s, %s", what, rec.Scoring, scoringMeans[rec.Scoring])
}

// candidateNotes say which of the given candidates a record does not rank, and why, and that a list
// in the blank was not used.
func candidateNotes(tok *tokenize.Tokenizer, given []string, rec *jsonl.Record) []string {
	if len(given) == 0 || rec.Candidates == nil {
		return nil
	}
	ranked := map[string]string{} // by tokens
	for _, c := range rec.Candidates {
		ranked[piecesOf(tok, c.Candidate)] = c.Candidate
	}
	var unfit, twice, notes []string
	for _, w := range given {
		w = strings.TrimSpace(w)
		switch kept, ok := ranked[piecesOf(tok, w)]; {
		case !ok:
			unfit = append(unfit, console.Printable(w))
		case kept != w:
			twice = append(twice, console.Printable(w+" as "+kept))
		}
	}
	if len(unfit) > 0 {
		notes = append(notes, "left out, since the count or the expression of the blank does not "+
			"allow it: "+strings.Join(unfit, ", "))
	}
	if len(twice) > 0 {
		notes = append(notes, "left out, since the model spells it like another: "+
			strings.Join(twice, ", "))
	}
	if t, err := text.Parse(tok, rec.Text); err == nil && t.Blanks[0].Words != nil {
		notes = append(notes, "ranked in place of what the blank lists: "+
			console.Printable(strings.Join(t.Blanks[0].Words, ", ")))
	}
	return notes
}

// piecesOf names the tokens of a word.
func piecesOf(tok *tokenize.Tokenizer, w string) string {
	e, err := tok.Pieces(w)
	if err != nil {
		return w
	}
	return fmt.Sprint(e.IDs)
}
