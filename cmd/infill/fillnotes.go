package main

import (
	"fmt"
	"slices"
	"sync"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/text"
	"infill/models/hub"
)

// doubtNote is a doubt in the command's words. model is the name of the one that has it.
func doubtNote(d text.Doubt, model string) string {
	note := console.Printable(d.Message)
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

// notes say what was found. unit is that of the numbers of lines.
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
