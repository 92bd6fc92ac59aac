package records

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/infill/variants"
)

// An Augmenter makes variants of texts, and records of them. Record is safe for concurrent use.
type Augmenter struct {
	Filler
	Augmenting *settings.Augmenting // of items that choose nothing else
	ByLabel    *ByLabel             // the words that tell the labels of the file apart; nil: none
	// Variants, Missing and Short count what the finished records have: variants, those that were
	// wanted besides, and records with fewer than wanted. Failed records are left out.
	Variants, Missing, Short int

	seen seen // texts that no variant may be, but for Augmenting.Repeats
}

// seen is a set of texts without regard to case. It has 16 bytes of the SHA-256 of each, 24 to 38
// bytes of memory a text (TestSeen), so that two texts are taken for one with a probability of
// 2⁻¹²⁸.
type seen map[[16]byte]struct{}

func seenKey(text string) (key [16]byte) {
	sum := sha256.Sum256([]byte(strings.ToLower(text)))
	copy(key[:], sum[:])
	return key
}

func (s seen) has(text string) bool {
	_, ok := s[seenKey(text)]
	return ok
}

func (s *seen) add(text string) {
	if *s == nil {
		*s = seen{}
	}
	(*s)[seenKey(text)] = struct{}{}
}

// isVariantSetting reports whether a field of this name is a setting of a line for an Augmenter.
func isVariantSetting(name string) bool {
	return settings.AugmentTable().Has(name) || settings.FillTable().Has(name)
}

// A search is for the variants of one item.
type search struct {
	*work
	rounds *variants.Rounds
	wanted int
	err    error  // that the item fails with
	left   string // why its text is left as it is, "" for others
}

// Record finds the variants of an item. Those that are taken when all records before it are written
// are replaced when it is finished. The error is one that would befall every item.
func (a *Augmenter) Record(ctx context.Context, it *input.Item) (batch.Record, error) {
	s, err := guarded(func() (*search, error) { return a.search(ctx, it) })
	if err != nil {
		if jsonl.Code(err) == "" {
			return batch.Record{}, err
		}
		s = &search{err: err}
	}
	item := *it
	return batch.Record{Finish: func(ctx context.Context) (batch.Record, error) {
		return a.finish(ctx, &item, s)
	}}, nil
}

// search finds the variants of an item as if it were the only one.
func (a *Augmenter) search(ctx context.Context, it *input.Item) (*search, error) {
	if a.Model == nil || a.Engine == nil || a.Filling == nil || a.Augmenting == nil {
		return nil, fmt.Errorf("%w: an Augmenter needs a Model, an Engine on it, a Filling and an "+
			"Augmenting", errParts)
	}
	if it.Err != nil {
		return nil, it.Err
	}
	if it.Left != "" {
		return &search{left: it.Left}, nil
	}
	line, err := a.Augmenting.ForLine(it.Choices())
	if err != nil {
		return nil, err
	}
	w, err := a.work(it)
	if err != nil {
		return nil, err
	}
	s := &search{work: w, wanted: line.Variants.Count}
	free := w.masking
	a.ByLabel.guide(it, &w.masking, &w.opt)
	s.rounds = variants.New(a.Engine, it.Text, w.masking, w.opt, line.Variants)
	_, _, err = s.rounds.Find(ctx, nil)
	if errors.Is(err, text.ErrFewWords) && free.Keep != w.masking.Keep { // telling words may be why
		if _, other := free.Choose(w.text, w.opt.Seed, w.opt.ID); other == nil {
			return &search{left: "labels"}, nil
		}
	}
	if why := w.labels.left(err, w.masking.Only); why != "" {
		return &search{left: why}, nil
	}
	if err != nil {
		return nil, ownError(err, w.own)
	}
	return s, nil
}

// finish makes the record of an item.
func (a *Augmenter) finish(ctx context.Context, it *input.Item, s *search) (batch.Record, error) {
	var taken func(string) bool
	if !a.Augmenting.Repeats {
		a.see(it, nil)
		taken = a.seen.has
	}
	rec, err := guarded(func() (*jsonl.Filled, error) {
		switch {
		case s.err != nil:
			return nil, s.err
		case s.left != "":
			return a.left(it, s.left), nil
		}
		found, made, err := s.rounds.Find(ctx, taken)
		if err != nil {
			return nil, err
		}
		return ofVariants(it.Text, &s.opt, found, s.wanted, made, s.labels, s.plain)
	})
	if err == nil && s.left == "" {
		rec.Version, rec.Model, rec.Machine = a.Version, hash(a.Model),
			machine(a.Model, s.opt.NeedsGradient())
		rec.Doubts = s.text.Doubts()
		tell(a.Doubted, it, rec.Doubts)
		a.note(it, rec)
	}
	return Encoded(it, rec, err, isVariantSetting)
}

// Known takes note of a record that an earlier run has written.
func (a *Augmenter) Known(it *input.Item, r jsonl.Record) error {
	rec, _ := r.(*jsonl.Filled)
	a.note(it, rec)
	return nil
}

// see puts the text of an item into the set, and the variants of its record, if there is one.
func (a *Augmenter) see(it *input.Item, rec *jsonl.Filled) {
	if it.Err == nil {
		a.seen.add(it.Text)
	}
	if rec == nil {
		return
	}
	for i := range rec.Fillings {
		a.seen.add(rec.Fillings[i].Text)
	}
}

// note counts a record, nil for one that failed, and takes its texts.
func (a *Augmenter) note(it *input.Item, rec *jsonl.Filled) {
	if !a.Augmenting.Repeats {
		a.see(it, rec)
	}
	if rec == nil {
		return
	}
	a.Variants += len(rec.Fillings)
	a.Missing += rec.Missing
	if rec.Missing > 0 {
		a.Short++
	}
}
