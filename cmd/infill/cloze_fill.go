package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	"infill/metrics/cloze"
	"infill/mlm"
	"infill/report/measure"
	"infill/samplers"
	"infill/tokenize"
)

// A clozeBench fills the same lines by several runs.
type clozeBench struct {
	bench
	flags  *clozeFlags
	runs   []*clozeRun
	models []*clozeModel
	tasks  []clozeTask
	few    error // of the first line without enough words
}

// A clozeTask is a line with its words blanked out.
type clozeTask struct {
	line      int
	id        string
	original  []string
	templates []*text.Template // for each of the models
}

// items reads all lines of the input.
func (f *clozeFlags) items(path string, std console.IO) (_ []input.Item, err error) {
	if path == "-" && console.IsTerminal(std.In) {
		return nil, usagef("no input; name a file, or pipe one in")
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
	f := b.flags
	seed := *f.Seed
	rng := rand.New(rand.NewPCG(seed, 0x636c6f7a65)) //nolint:gosec // a sample, no secret
	order := rng.Perm(len(items))
	masking := b.runs[0].filling.made.Masking
	if masking.Fits = b.fits(); f.gaps() {
		masking.Fits = ofLetters
	}
	var out [taken + 1]int // lines by what became of them
	looked := 0
	for _, i := range order {
		if f.sample > 0 && len(b.tasks) == f.sample {
			break
		}
		looked++
		why, err := b.takeLine(&items[i], masking)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out[why]++
	}
	slices.SortFunc(b.tasks, func(x, y clozeTask) int { return x.line - y.line })
	note := fmt.Sprintf("%d of %s taken", len(b.tasks), count.Of(looked, "line"))
	if looked < len(items) {
		note += fmt.Sprintf(", drawn from %d", len(items))
	}
	var reasons []string
	for why, n := range out[:taken] {
		if n > 0 {
			reasons = append(reasons, fmt.Sprint(n, " ", f.reason(why)))
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
	f := b.flags
	if it.Err != nil {
		return unread, b.leave(atLine(it.Line, it.Err))
	}
	if n := text.CountWords(it.Text); n < f.minWords || f.maxWords > 0 && n > f.maxWords {
		return otherLength, nil
	}
	t := clozeTask{line: it.Line, id: it.Key()}
	if f.gaps() {
		rng := samplers.NewStream(*f.Seed, t.id+"\x00gap", 0)
		m.Words, m.Adjacent, m.Joined = 1+rng.IntN(gapWords), true, true
	}
	for i, model := range b.models {
		opt := infill.Options{Seed: *f.Seed, ID: t.id}
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

// fits is what may be blanked out: words that every run can bring back.
func (b *clozeBench) fits() func(text string, word [2]int) bool {
	type asked struct {
		model      *mlm.Model
		vocab      text.Vocab
		allow, ban *text.WordList
	}
	seen := map[asked]bool{}
	var ask []*clozeRun
	for _, r := range b.runs {
		o := r.filling.made.Options
		if key := (asked{r.model.model, o.Words.Vocab, o.Words.Allow, o.Words.Ban}); !seen[key] {
			seen[key] = true
			ask = append(ask, r)
		}
	}
	return func(text string, word [2]int) bool {
		for _, r := range ask {
			if !r.engine.Reaches(text, word, r.filling.made.Options) {
				return false
			}
		}
		return true
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

// fill fills all lines by run n.
func (b *clozeBench) fill(ctx context.Context, n int) (*measure.ClozeRun, error) {
	f, r := b.flags, b.runs[n]
	among, chains := f.fillingFlags.Options.Results.Top, r.filling.made.Options.Sampling.Chains
	out := &measure.ClozeRun{Name: r.name, Lines: make([]cloze.Counts, len(b.tasks))}
	before := processorTime()
	err := b.run(ctx, &way{kind: "run", name: r.name,
		workers: records.InFlight(r.model.model.Streams(), chains),
		fill: func(ctx context.Context, i int) (*infill.Result, error) {
			t, opt := &b.tasks[i], r.filling.made.Options
			opt.ID, opt.Words.Original = t.id, t.original
			res, err := r.engine.Fill(ctx, t.templates[slices.Index(b.models, r.model)], opt)
			if err != nil {
				err = atLine(t.line, err)
			}
			return res, err
		},
		got: func(i int, res *infill.Result, err error) error {
			if err != nil {
				out.Failed++
				res, err = &infill.Result{}, nil
			}
			out.Rows, out.Asked = out.Rows+int64(res.Evaluated), out.Asked+int64(res.Rows)
			words, original := wordsIn(res.Fillings), b.tasks[i].original
			if f.gaps() {
				out.Lines[i] = cloze.CountGap(original[0], slices.Concat(words...), among, b.same)
			} else {
				out.Lines[i], err = cloze.Count(original, words, among, b.same)
			}
			return err
		}}, n, len(b.runs), len(b.tasks))
	if f.times {
		out.Processor = processorTime() - before
	}
	r.engine.Forget() // it is not asked again
	return out, err
}
