package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/records"
	"infill/infill/text"
	"infill/internal/count"
	"infill/samplers"
	"infill/tokenize"
)

// items reads all lines of the input.
func (f *clozeFlags) items(path string, std console.IO) (_ []input.Item, err error) {
	if err := noInput(path, std); err != nil {
		return nil, err
	}
	in, err := input.Open(path, std.In, input.Options(f.Input))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	var items []input.Item
	for {
		it, err := in.Next()
		switch {
		case err == io.EOF && len(items) == 0:
			return nil, usagef("%s: no text", in.Name)
		case err == io.EOF:
			return items, nil
		case err != nil:
			return nil, err
		}
		items = append(items, it)
	}
}

// Why a line is left out, in the order of the note.
const (
	otherLength = iota
	fewWords
	withBlanks
	unread
	taken // none of these
)

// take blanks out words of lines in random order, until there are as many as wanted.
func (b *clozeBench) take(path string, items []input.Item) error {
	rng := rand.New(rand.NewPCG(*b.Seed, 0x636c6f7a65)) //nolint:gosec // a sample, no secret
	order := rng.Perm(len(items))
	masking := b.runs[0].filling.made.Masking
	if masking.Fits = b.fits(); b.gaps() {
		masking.Fits = ofLetters
	}
	var out [taken + 1]int // lines by what became of them
	looked := 0
	for _, i := range order {
		if b.sample > 0 && len(b.tasks) == b.sample {
			break
		}
		looked++
		why, err := b.takeLine(&items[i], masking)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out[why]++
	}
	slices.SortFunc(b.tasks, func(x, y task) int { return x.line - y.line })
	note := fmt.Sprintf("%d of %s taken", len(b.tasks), count.Of(looked, "line"))
	if looked < len(items) {
		note += fmt.Sprintf(", drawn from %d", len(items))
	}
	var reasons []string
	for why, n := range out[:taken] {
		if n > 0 {
			reasons = append(reasons, fmt.Sprint(n, " ", b.reason(why)))
		}
	}
	if reasons != nil {
		note += "; left out: " + strings.Join(reasons, ", ")
	}
	b.notes = append(b.notes, note)
	if len(b.tasks) == 0 {
		if b.few != nil {
			note += "; the first: " + b.few.Error()
		}
		return usagef("%s: no line can be used: %s", path, note)
	}
	return nil
}

// takeLine makes a task of a line, or says why it is left out. The error would befall every line.
func (b *clozeBench) takeLine(it *input.Item, m text.Masking) (why int, err error) {
	if it.Err != nil {
		return unread, b.leave(atLine(it.Line, it.Err))
	}
	if n := text.CountWords(it.Text); n < b.minWords || b.maxWords > 0 && n > b.maxWords {
		return otherLength, nil
	}
	t := task{line: it.Line, id: it.Key(), name: fmt.Sprint("line ", it.Line)}
	if b.gaps() {
		rng := samplers.NewStream(*b.Seed, t.id+"\x00gap", 0)
		m.Words, m.Adjacent, m.Joined = 1+rng.IntN(gapWords), true, true
	}
	for i, model := range b.models {
		opt := infill.Options{Seed: *b.Seed, ID: t.id}
		item := *it
		filling := *b.runs[0].filling.made
		filling.Masking = m
		tm, _, err := records.TemplateOf(model.model.Tokenizer(), &item, &filling, &opt)
		switch {
		case errors.Is(err, text.ErrFewWords):
			b.few = cmp.Or(b.few, atLine(it.Line, err))
			return fewWords, nil
		case errors.Is(err, text.ErrBlank):
			return withBlanks, nil
		case err != nil:
			return unread, b.leave(atLine(it.Line, err))
		case i > 0 && !slices.Equal(opt.Words.Original, t.original):
			return fewWords, nil // a mask token of one model may stand in the text
		}
		t.original, t.templates = opt.Words.Original, append(t.templates, tm)
	}
	b.tasks = append(b.tasks, t)
	return taken, nil
}

// reason says in words why lines are left out.
func (f *clozeFlags) reason(why int) string {
	switch what := count.Of(f.Masking.Words, "word"); {
	case why == otherLength:
		return "of other lengths"
	case why == withBlanks:
		return "with blanks"
	case why == unread:
		return "that cannot be read"
	case f.gaps():
		return "without as many adjacent words of letters as were drawn for them"
	default:
		if f.Masking.Words == 0 {
			what = "enough words"
		} else if f.adjacent && f.Masking.Words > 1 {
			what = fmt.Sprintf("%d adjacent words", f.Masking.Words)
		}
		return "without " + what + " that are one token and that every run can bring back"
	}
}

// fits is whether a word may be blanked out: every run can bring it back. Runs that take the same
// words are asked once.
func (b *clozeBench) fits() func(text string, word [2]int) bool {
	type asked struct {
		model      int
		vocab      text.Vocab
		allow, ban *text.WordList
	}
	first := map[asked]*clozeRun{}
	for _, r := range b.runs {
		w := &r.options.Words
		first[asked{r.model, w.Vocab, w.Allow, w.Ban}] = r
	}
	runs := slices.Collect(maps.Values(first))
	return func(text string, word [2]int) bool {
		return !slices.ContainsFunc(runs, func(r *clozeRun) bool {
			return !r.engine.Reaches(text, word, r.options)
		})
	}
}

// ofLetters reports whether a word has letters only, and no letter or digit beside it. Such are the
// words of gaps, of however many tokens.
func ofLetters(line string, word [2]int) bool {
	other := func(r rune) bool { return !unicode.IsLetter(r) }
	before, _ := utf8.DecodeLastRuneInString(line[:word[0]])
	after, _ := utf8.DecodeRuneInString(line[word[1]:])
	return !strings.ContainsFunc(line[word[0]:word[1]], other) &&
		!unicode.IsLetter(before) && !unicode.IsLetter(after) && !unicode.IsDigit(before) &&
		!unicode.IsDigit(after) && !strings.ContainsRune("-'’", after)
}

// same is what words are compared by: whether one of the models reads both as the same tokens. A
// model that knows lower case only has no other way to write a word, and runs are to be judged
// alike.
func (b *clozeBench) same(filled, original string) bool {
	return filled == original || slices.ContainsFunc(b.models, func(m *clozeModel) bool {
		tok := m.model.Tokenizer()
		x, err := tok.Word(filled, tokenize.AfterSpace)
		if err != nil || slices.Contains(x.IDs, tok.UNKID()) {
			return false
		}
		y, err := tok.Word(original, tokenize.AfterSpace)
		return err == nil && slices.Equal(x.IDs, y.IDs)
	})
}
