package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/infill/text"
	"infill/internal/count"
	"infill/internal/textline"
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

// left counts lines that are left out, by the reason.
type left struct {
	other, blanks, few, unread int
	first                      error // of the few
}

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
	var out left
	looked := 0
	for _, i := range order {
		if f.sample > 0 && len(b.tasks) == f.sample {
			break
		}
		looked++
		if err := b.takeLine(&items[i], masking, &out); err != nil {
			return fmt.Errorf("%s: %w", path, atLine(items[i].Line, err))
		}
	}
	slices.SortFunc(b.tasks, func(x, y clozeTask) int { return x.line - y.line })
	note := fmt.Sprintf("%d of %s taken", len(b.tasks), count.Of(looked, "line"))
	if looked < len(items) {
		note += fmt.Sprintf(", drawn from %d", len(items))
	}
	if reasons := out.reasons(f); reasons != "" {
		note += "; left out: " + reasons
	}
	b.notes = append(b.notes, note)
	if len(b.tasks) == 0 {
		if out.first != nil {
			note += "; the first: " + out.first.Error()
		}
		return usagef("%s: no line can be used: %s", path, note)
	}
	return nil
}

// takeLine makes a task of a line, or counts why it is left out. The error would befall every line.
func (b *clozeBench) takeLine(it *input.Item, m text.Masking, out *left) error {
	f := b.flags
	if it.Err != nil {
		out.unread++
		b.warn(out.unread, atLine(it.Line, it.Err), "", "; left out")
		return nil
	}
	if n := text.CountWords(it.Text); n < f.minWords || f.maxWords > 0 && n > f.maxWords {
		out.other++
		return nil
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
		case errors.Is(err, text.ErrFewWords), err == nil && i > 0 && !slices.Equal(opt.Words.Original,
			t.original): // a mask token of one model may stand in the text
			out.few++
			if out.first == nil && err != nil {
				out.first = atLine(it.Line, err)
			}
			return nil
		case errors.Is(err, text.ErrBlank):
			out.blanks++
			return nil
		case err != nil && jsonl.Code(err) != "":
			out.unread++
			b.warn(out.unread, atLine(it.Line, err), "", "; left out")
			return nil
		case err != nil:
			return err
		}
		t.original, t.templates = opt.Words.Original, append(t.templates, tm)
	}
	b.tasks = append(b.tasks, t)
	return nil
}

// reasons says what was left out and why.
func (l *left) reasons(f *clozeFlags) string {
	var parts []string
	add := func(n int, why string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, why))
		}
	}
	add(l.other, "of other lengths")
	what := "enough words"
	if f.Masking.Words > 0 {
		what = count.Of(f.Masking.Words, "word")
		if f.adjacent && f.Masking.Words > 1 {
			what = fmt.Sprintf("%d adjacent words", f.Masking.Words)
		}
	}
	what += " that are one token and that every run can bring back"
	if f.gaps() {
		what = "as many adjacent words of letters as were drawn for them"
	}
	add(l.few, "without "+what)
	add(l.blanks, "with blanks")
	add(l.unread, "that cannot be read")
	return strings.Join(parts, ", ")
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

// fill fills all lines by one run.
func (b *clozeBench) fill(ctx context.Context, r *clozeRun, bar *console.Progress) (
	*measure.ClozeRun, error) {
	f, among := b.flags, b.flags.fillingFlags.Options.Results.Top
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := &measure.ClozeRun{Name: r.name, Lines: make([]cloze.Counts, len(b.tasks))}
	var mu sync.Mutex
	done := 0
	before := processorTime()
	workers := records.InFlight(r.model.model.Streams(), r.filling.made.Options.Sampling.Chains)
	var each errgroup.Group
	each.SetLimit(max(1, workers))
	for i := range b.tasks {
		each.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			t := &b.tasks[i]
			res, err := b.fillLine(ctx, r, t)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil && jsonl.Code(err) == "":
				err = atLine(t.line, err)
				stop(err)
				return err
			case err != nil:
				out.Failed++
				bar.Clear()
				b.warn(out.Failed, atLine(t.line, err), "run "+textline.Printable(r.name)+": ", "")
				res, err = &infill.Result{}, nil
			}
			out.Rows, out.Asked = out.Rows+int64(res.Evaluated), out.Asked+int64(res.Rows)
			words := wordsIn(res.Fillings)
			if f.gaps() {
				out.Lines[i] = cloze.CountGap(t.original[0], slices.Concat(words...), among, b.same)
			} else {
				out.Lines[i], err = cloze.Count(t.original, words, among, b.same)
			}
			done++
			bar.Step(done, done)
			return err
		})
	}
	err := each.Wait()
	bar.Clear()
	if f.times {
		out.Processor = processorTime() - before
	}
	r.engine.Forget() // it is not asked again
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause // the first error, and not that of a line that it ended
	}
	return out, err
}

// fillLine fills one line by one run.
func (b *clozeBench) fillLine(ctx context.Context, r *clozeRun, t *clozeTask) (*infill.Result,
	error) {
	opt := r.filling.made.Options
	opt.ID, opt.Words.Original = t.id, t.original
	tm := t.templates[slices.Index(b.models, r.model)]
	return r.engine.Fill(ctx, tm, opt)
}
