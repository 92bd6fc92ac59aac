package records

import (
	"context"
	"errors"
	"fmt"

	"infill/infill"
	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/gate"
	"infill/mlm"
	"infill/samplers"
	"infill/tokenize"
)

// A Filler makes the records of texts whose blanks it fills. It is safe for concurrent use.
type Filler struct {
	Model   *mlm.Model
	Engine  *infill.Engine    // on Model
	Filling *settings.Filling // of lines that choose nothing else
	Version string            // of the program, for records
	// Doubted, if not nil, is told of the doubts about the texts of items that have a record.
	Doubted func(line int, doubts []text.Doubt)
	// Watched, if not nil, is told how far the texts of items are, by several goroutines.
	Watched func(line int, p infill.Progress)
}

// Record is the record of an item as a batch file has it. The error is one that would befall every
// item.
func (f *Filler) Record(ctx context.Context, it *input.Item) (batch.Record, error) {
	rec, err := guarded(func() (*jsonl.Filled, error) { return f.Fill(ctx, it, nil) })
	if err == nil {
		tell(f.Doubted, it, rec.Doubts)
	}
	return Encoded(it, rec, err, settings.FillTable().Has)
}

// Fill is the record of an item without what the item gives it: ID, Line and fields. The settings
// among the item's fields hold for it. change, if not nil, sees the options before they are used.
//
// Errors: errParts, the item's own, those of [settings.Filling.ForLine], of [text.Parse] and of
// [infill.Engine.Fill]. An option that the item chose itself and that the engine refuses is a
// [settings.ErrSetting].
func (f *Filler) Fill(ctx context.Context, it *input.Item, change func(*text.Template,
	*infill.Options) error) (*jsonl.Filled, error) {
	if f.Model == nil || f.Engine == nil || f.Filling == nil {
		return nil, fmt.Errorf("%w: a Filler needs a Model, an Engine on it and a Filling", errParts)
	}
	if it.Err != nil {
		return nil, it.Err
	}
	if it.Left != "" {
		return f.left(it, it.Left), nil
	}
	w, err := f.work(it)
	if err != nil {
		return nil, err
	}
	t, masked, err := blanks(w.text, w.masking, &w.opt)
	if it.Source != nil && errors.Is(err, text.ErrNoBlank) && !w.masking.On() {
		return f.left(it, ""), nil // a sentence without a blank
	}
	if why := w.labels.left(err, w.masking.Only); why != "" {
		return f.left(it, why), nil
	}
	if err == nil && change != nil {
		err = change(t, &w.opt)
	}
	if err != nil {
		return nil, err
	}
	r, err := f.Engine.Fill(ctx, t, w.opt)
	if err != nil {
		return nil, ownError(err, w.own)
	}
	rec := Filled(f.Model, f.Version, it.Text, masked, &w.opt, r)
	rec.Doubts = w.text.Doubts(r.Numbers...)
	return rec, w.labels.follow(rec, w.plain, t, w.opt.Words.Original)
}

// A work is an item with its settings, masking and labels.
type work struct {
	opt     infill.Options // with the item's own settings
	own     bool           // it has some
	text    *text.Plain
	masking text.Masking
	labels  *labels
	plain   change // of the text that loses its escapes
}

// work reads the settings, masking and labels of an item.
func (f *Filler) work(it *input.Item) (*work, error) {
	tok := f.Model.Tokenizer()
	filling, own, err := f.Filling.ForLine(tok, it.Choices())
	if err != nil {
		return nil, err
	}
	w, err := worked(tok, it, filling)
	if err != nil {
		return nil, err
	}
	w.opt, w.own = filling.Options, own
	w.opt.ID, w.opt.Alike = it.Key(), filling.Alike
	w.labels.guide(&w.opt)
	if f.Watched != nil {
		w.opt.Watch.Progress = func(p infill.Progress) error {
			f.Watched(it.Line, p)
			return nil
		}
	}
	return w, nil
}

// left is the record of an item whose text is left as it is.
func (f *Filler) left(it *input.Item, why string) *jsonl.Filled {
	return &jsonl.Filled{Item: jsonl.Item{Text: it.Text}, Machine: machine(f.Model, false),
		Origin: jsonl.Origin{Model: hash(f.Model), Version: f.Version, Left: why}}
}

// guarded has a panic as an error of the item, a [jsonl.ErrFault].
func guarded[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := gate.Recovered(recover()); p != nil {
			err = fmt.Errorf("%w: %v (%s); please report it with this line", jsonl.ErrFault, p.Value,
				p.Where())
		}
	}()
	return f()
}

// ownError is the error of an item that the engine did not fill. own says that the item has
// settings of its own, which may be to blame.
func ownError(err error, own bool) error {
	if own && (errors.Is(err, text.ErrOption) || errors.Is(err, samplers.ErrParam) ||
		errors.Is(err, samplers.ErrUnsupported)) {
		return fmt.Errorf("%w: %w", settings.ErrSetting, err) // of this line, not of all
	}
	return err
}

// worked reads the text of an item with its labels. Words that have labels stay unless labels
// choose what is masked. Errors wrap text.ErrSpan, or come from [text.Read].
func worked(tok *tokenize.Tokenizer, it *input.Item, filling *settings.Filling) (w *work,
	err error) {
	w = &work{masking: filling.Masking}
	if w.text, err = text.Read(tok, it.Text); err != nil {
		return nil, err
	}
	w.plain = unescaped(w.text)
	if w.labels, err = labelsOf(it, filling.Offsets); err != nil || !w.masking.On() {
		return w, err
	}
	if m := &w.masking; len(m.MaskLabels) == 0 && len(m.KeepLabels) == 0 {
		m.KeepLabels = []string{"*"}
	}
	w.masking.Spans = w.labels.in(w.plain)
	return w, nil
}

// TemplateOf is Blanks for the text of an item, with what the item says of its masking. filling is
// the line's own settings.
func TemplateOf(tok *tokenize.Tokenizer, it *input.Item, filling *settings.Filling,
	opt *infill.Options) (t *text.Template, masked string, err error) {
	w, err := worked(tok, it, filling)
	if err != nil {
		return nil, "", err
	}
	return blanks(w.text, w.masking, opt)
}

// Blanks makes the template of a text. If the text has no blanks, it first blanks out words as the
// masking asks, and puts them into the options. masked is the text with its blanks. Errors come
// from [text.Parse] and [text.Masking.Template].
func Blanks(tok *tokenize.Tokenizer, line string, m text.Masking, opt *infill.Options) (
	t *text.Template, masked string, err error) {
	p, err := text.Read(tok, line)
	if err != nil {
		return nil, "", err
	}
	return blanks(p, m, opt)
}

// blanks is Blanks of a text that was read.
func blanks(p *text.Plain, m text.Masking, opt *infill.Options) (t *text.Template, masked string,
	err error) {
	if !m.On() {
		t, err = p.Template()
		return t, p.Raw, err
	}
	if t, opt.Words.Original, err = m.Blanked(p, opt.Seed, opt.ID); err != nil {
		return nil, "", err
	}
	return t, t.Source(), nil
}

// Filled is the record of a text as it was given, with its blanks as [Blanks] made them, that was
// filled with these options. ID, Line, Doubts and fields are left to the caller.
func Filled(m *mlm.Model, version, given, masked string, opt *infill.Options,
	r *infill.Result) *jsonl.Filled {
	rec := ofResult(masked, opt, r)
	rec.Version, rec.Model, rec.Machine = version, hash(m), machine(m, opt.NeedsGradient())
	if opt.Words.Original != nil {
		rec.Gold = given
	}
	return rec
}

// machine is what evaluates a model, or its form with gradients, unless that is the usual.
func machine(m *mlm.Model, gradients bool) (on jsonl.Machine) {
	if d := m.Device(); d != mlm.CPUDevice {
		on.Device = d
	}
	p := m.Precision()
	if gradients {
		p, _ = m.Gradients()
	}
	if p != mlm.Float32 {
		on.Precision = p.String()
	}
	return on
}

// tell calls a function with the doubts of a record, if there are any.
func tell(of func(int, []text.Doubt), it *input.Item, doubts []text.Doubt) {
	if of != nil && doubts != nil {
		of(it.Line, doubts)
	}
}

// hash names a model in records.
func hash(m *mlm.Model) string { return "sha256:" + m.Info().SHA256 }

// Encoded is the record of an item with what the item gives it, encoded. cause, if not nil, makes
// it an error record. setting says which fields are settings. The error is a cause that would
// befall every item.
func Encoded(it *input.Item, rec jsonl.Record, cause error,
	setting func(name string) bool) (batch.Record, error) {
	if cause != nil {
		failed := Failed(it.Text, cause)
		if failed == nil {
			return batch.Record{}, cause
		}
		rec = failed
	}
	of, from := rec.Of(), rec.By()
	of.ID, of.Line, from.TextField, from.Source = it.ID, it.Line, it.TextField, it.Source
	jsonl.Keep(rec, it.Fields, func(name string) bool {
		return !it.Columns && !it.Whole && setting(name)
	})
	var taken []string
	for _, f := range it.Fields {
		if !it.Columns && setting(f.Name) && string(f.Value) != "null" {
			taken = append(taken, f.Name)
		}
	}
	b, err := jsonl.Append(nil, rec)
	if jsonl.Code(err) != "" && cause == nil {
		return Encoded(it, nil, err, setting)
	}
	return batch.Record{JSON: b, Failed: cause != nil, Left: rec.By().Left != "",
		Cause: cause, Settings: taken}, err
}

// errParts is returned by a maker of records that was not filled in.
var errParts = errors.New("a maker of records lacks a part")

// The chains of a text ask the model for a few rows at a time, and some are known. A call of a
// model of two layers takes 1.4 ms, and .3 ms more for each row. It is to have some forty rows,
// which this many chains of the texts in work see to, for each thread.
const (
	chainsInWork = 80
	fewestTexts  = 4 // for each thread, of many chains
	mostTexts    = 32
)

// InFlight is how many texts are to be in work at the same time, so that the calls of a model with
// a number of threads are large, for fillings of a number of chains: 0 chains for a default
// number, and for scores. Results do not depend on it. Memory does: a chain has two rows of float64
// over the vocabulary for every blank.
func InFlight(threads, chains int) int {
	if chains <= 0 {
		return fewestTexts * threads
	}
	return threads * min(max(chainsInWork/chains, fewestTexts), mostTexts)
}
