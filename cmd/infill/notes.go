package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/internal/textline"
	"infill/models/hub"
	"infill/tokenize"
)

// doubtNote is a doubt in the command's words. model is the name of the one that has it.
func doubtNote(d text.Doubt, model string) string {
	note := textline.Printable(d.Message)
	if m := hub.ForScript(d.Script); m != nil && m.Name != model {
		note += fmt.Sprintf(": infill model pull %s, then --model %[1]s", m.Name)
	}
	return note
}

// doubted are the doubts about the texts of a file, each kind once. It may be used by several
// goroutines.
type doubted struct {
	model string // its name
	mu    sync.Mutex
	kinds []*doubtKind
}

// A doubtKind is the first doubt of a kind, and how many texts have such.
type doubtKind struct {
	text.Doubt
	line, texts int
}

// add takes the doubts of a line.
func (s *doubted) add(line int, doubts []text.Doubt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range doubts {
		i := slices.IndexFunc(s.kinds, func(k *doubtKind) bool { return k.Code == d.Code })
		if i < 0 {
			s.kinds = append(s.kinds, &doubtKind{d, line, 1})
			continue
		}
		k := s.kinds[i]
		if k.texts++; line < k.line {
			k.Doubt, k.line = d, line
		}
	}
}

// notes say what was found. unit names what the numbers count.
func (s *doubted) notes(unit string) []string {
	var out []string
	for _, k := range s.kinds {
		note := fmt.Sprintf("%s %d: %s", unit, k.line, doubtNote(k.Doubt, s.model))
		if k.texts > 1 {
			note += fmt.Sprintf(" (%d texts have such)", k.texts)
		}
		out = append(out, note)
	}
	return out
}

// recutNote says which fillings have another score when infill score scores their text.
func recutNote(fillings []infill.Filling) string {
	n, first := 0, ""
	for _, f := range fillings {
		if f.Recut {
			if n++; n == 1 {
				first = f.Text
			}
		}
	}
	if n == 0 {
		return ""
	}
	they := "are cut into other pieces once they are finished, so infill score gives them"
	if n == 1 {
		they = "is cut into other pieces once it is finished, so infill score gives it"
	}
	return fmt.Sprintf("%d of these %s another score: %q", n, they, first)
}

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

// scoringNote names a score. Numbers of different scores do not compare.
func scoringNote(what, scoring string) string {
	return fmt.Sprintf("%s: %s, %s", what, scoring, scoringMeans[scoring])
}

// candidateNotes say which of the given candidates a record does not rank, and why, and that a list
// in the blank was not used.
func candidateNotes(tok *tokenize.Tokenizer, given []string, rec *jsonl.Ranked) []string {
	if len(given) == 0 {
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
			unfit = append(unfit, textline.Printable(w))
		case kept != w:
			twice = append(twice, textline.Printable(w+" as "+kept))
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
			textline.Printable(strings.Join(t.Blanks[0].Words, ", ")))
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

// paperNote says how the samplers of DLP are run in its paper, where nothing of it is chosen. The
// defaults were chosen for rows and for the best fillings.
func paperNote(o *infill.Options) string {
	s := o.Sampling.Sampler
	if s == nil || o.Sampling.Steps != 0 || o.Results.Collect != infill.CollectVisited {
		return ""
	}
	name := s.Info().Name
	if name != "dula" && name != "dmala" {
		return ""
	}
	return fmt.Sprintf("%s makes %d steps here, and every state that it visited is ranked; its paper "+
		"has --steps %d --start random --collect last --vocab all", name, infill.DefaultSteps,
		infill.PublishedSteps)
}

// Printing, and the cells of tables for people.

// printRecord prints a record as a line of JSON, or its text for people.
func printRecord(out io.Writer, asJSON bool, record any, text func() string) error {
	if asJSON {
		return jsonl.Encode(out, record)
	}
	return printText(out, text())
}

func printText(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// percent is a share as a column of a table.
func percent(share float64) string {
	if share > 0 && share < .0005 {
		return " <0.1 %"
	}
	return fmt.Sprintf("%5.1f %%", 100*share)
}

// plusMinus is a standard error as a column of a table, in percent.
func plusMinus(e *float64) string {
	switch {
	case e == nil:
		return "±   ?"
	case *e > 0 && *e < .0005:
		return "± 0.1"
	}
	return fmt.Sprintf("±%4.1f", 100**e)
}

// besides are the parts of a score, the model's first and the others by their names, with space
// behind them; "" for a score without parts.
func besides(parts map[string]float64) string {
	if parts == nil {
		return ""
	}
	names := slices.Sorted(maps.Keys(parts))
	names = slices.DeleteFunc(names, func(n string) bool { return n == infill.ModelEnergy })
	names = slices.Insert(names, 0, infill.ModelEnergy)
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %.2f", n, parts[n])
	}
	return "(" + strings.Join(names, ", ") + ")  "
}

// shown is a text as it may be printed on a writer.
func shown(out io.Writer, text string) string {
	if console.IsTerminal(out) {
		return textline.Printable(text)
	}
	return text
}
