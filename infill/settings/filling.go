package settings

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"sync/atomic"

	"infill/infill"
	"infill/infill/energies"
	"infill/infill/text"
	"infill/internal/disk"
	"infill/internal/unpack"
	"infill/tokenize"
)

// A Filling is what [Fill.Prepare] made of a [Fill]: the options, with the sampler, the lists of
// words and the parts of the energy. Nothing changes it. It is safe for concurrent use.
type Filling struct {
	Options infill.Options
	Masking text.Masking // its Spans come from a line
	Offsets string       // what offsets of spans count, see [FillWords]
	Alike   string       // infill.Options.Alike of Options as they are
	Unspelt []string     // banned words that the model cannot spell, and so never fills in

	given Fill
}

// prepared counts fillings, for infill.Options.Alike.
var prepared atomic.Int64

// Prepare makes a filling, for models with a tokenizer. Files are read once, also by the copies of
// v. Errors: [*Error] for words and files, those of [samplers.New] for the sampler.
func (v *Fill) Prepare(tok *tokenize.Tokenizer) (*Filling, error) { return v.prepare(tok, nil) }

// prepare is Prepare, which takes from the filling before what was made of the same words.
func (v *Fill) prepare(tok *tokenize.Tokenizer, was *Filling) (*Filling, error) {
	if v.read == nil {
		v.read = newReadFiles()
	}
	if was == nil {
		was = &Filling{}
	}
	f := &Filling{Masking: v.Masking, Offsets: v.Words.Offsets, given: *v}
	var err error
	if f.Options, err = v.options(); err != nil {
		return nil, err
	}
	f.Alike = strconv.FormatInt(prepared.Add(1), 10)
	if v.read.encoder != nil {
		f.Options.Words.Filter.Similarity = v.read.encoder
	}
	for _, part := range []struct {
		setting string
		make    func(*tokenize.Tokenizer, *Filling) error
	}{{"ban", f.ban}, {"allow", f.allow}, {"start", f.start}, {"keep", f.keep},
		{"mask-file", f.only}, {"stop-words", f.stop},
		{"energy", f.terms}} {
		if err := part.make(tok, was); err != nil {
			if e, ok := err.(*Error); ok { // it has a name of its own
				return nil, e
			}
			return nil, &Error{Name: part.setting, Err: err}
		}
	}
	return f, nil
}

func (f *Filling) ban(tok *tokenize.Tokenizer, was *Filling) (err error) {
	switch now := f.given.Words.Ban; {
	case len(now) == 0:
	case slices.Equal(now, was.given.Words.Ban):
		f.Options.Words.Ban, f.Unspelt = was.Options.Words.Ban, was.Unspelt
	default:
		f.Options.Words.Ban, f.Unspelt, err = text.NewBanList(tok, now)
	}
	return err
}

func (f *Filling) allow(tok *tokenize.Tokenizer, was *Filling) (err error) {
	list := &f.Options.Words.Allow
	switch now := &f.given.Words; {
	case now.Allow != nil && was.Options.Words.Allow != nil &&
		slices.Equal(now.Allow, was.given.Words.Allow):
		*list = was.Options.Words.Allow
	case now.Allow != nil:
		*list, err = text.NewWordList(tok, now.Allow)
	case now.AllowFile != "":
		*list, err = once(&f.given, "allow", now.AllowFile, tok,
			func(r io.Reader) (*text.WordList, error) { return text.ReadWordList(tok, r) })
	}
	return err
}

// start reads the fillings that chains begin with.
func (f *Filling) start(tok *tokenize.Tokenizer, _ *Filling) (err error) {
	path := f.given.Sampling.StartFile
	if path == "" {
		return nil
	}
	name := path
	if path == "-" && f.given.Stdin != nil {
		name = "standard input"
	}
	f.Options.Sampling.Starts, err = once(&f.given, "start", path, tok,
		func(r io.Reader) (*infill.Starts, error) { return infill.ReadStarts(tok, name, r) })
	return err
}

// keep makes the set of words that are not masked, of a list and of a file.
func (f *Filling) keep(_ *tokenize.Tokenizer, was *Filling) (err error) {
	now, before := &f.given.Words, &was.given.Words
	if was.Masking.Keep != nil && slices.Equal(now.Keep, before.Keep) &&
		now.KeepFile == before.KeepFile {
		f.Masking.Keep = was.Masking.Keep
		return nil
	}
	ofFile, err := f.ofFile("keep-file", now.KeepFile)
	if f.Masking.Keep = ofFile; err != nil || now.Keep == nil {
		return err
	}
	if f.Masking.Keep, err = text.NewWordSet(now.Keep); err == nil {
		f.Masking.Keep.Add(ofFile)
	}
	return err
}

// only makes the set of the only words that are masked.
func (f *Filling) only(*tokenize.Tokenizer, *Filling) (err error) {
	f.Masking.Only, err = f.ofFile("mask-file", f.given.Words.MaskFile)
	return err
}

// ofFile is the set of words of a file that a setting names, nil for none.
func (f *Filling) ofFile(setting, path string) (*text.WordSet, error) {
	if path == "" {
		return nil, nil
	}
	set, err := once(&f.given, setting, path, nil, text.ReadWordSet)
	if err != nil {
		return nil, &Error{Name: setting, Err: err}
	}
	return set, nil
}

// stop makes the set of words that are not content words.
func (f *Filling) stop(_ *tokenize.Tokenizer, was *Filling) (err error) {
	set := &f.Masking.Stop
	switch now := &f.given.Words; {
	case now.StopWords != nil && was.Masking.Stop != nil &&
		slices.Equal(now.StopWords, was.given.Words.StopWords):
		*set = was.Masking.Stop
	case now.StopWords != nil:
		*set, err = text.NewWordSet(now.StopWords)
	default:
		*set, err = f.ofFile("stop-words", now.StopFile)
	}
	f.Options.Words.Function = *set
	return err
}

// terms makes terms of the parts of the energy.
func (f *Filling) terms(*tokenize.Tokenizer, *Filling) (err error) {
	if now := f.given.Words; f.Options.Words.Terms == nil && len(now.Energy) > 0 {
		f.Options.Words.Terms, err = now.Parts.Weighted(now.Energy)
	}
	return err
}

// readFiles is what was read of the files that settings name, each once, for it may be a pipe.
type readFiles struct {
	made    map[readFile]any
	sums    map[string]string // the hash of a file by its path
	encoder *energies.Encoder
}

// A readFile names what was made of a file for a setting. tok is nil where it has no part in it.
type readFile struct {
	setting, path string
	tok           *tokenize.Tokenizer
}

func newReadFiles() *readFiles { return &readFiles{map[readFile]any{}, map[string]string{}, nil} }

// once is what a setting makes of a file, which is read by the first call. The file may be standard
// input, and compressed. The hash is of its bytes as they are there.
func once[T any](v *Fill, setting, path string, tok *tokenize.Tokenizer,
	read func(io.Reader) (T, error)) (made T, err error) {
	key := readFile{setting, path, tok}
	if done, ok := v.read.made[key]; ok {
		return done.(T), nil
	}
	use := func(r io.Reader) error {
		u, err := unpack.New(r)
		if err != nil {
			return err
		}
		made, err = read(u)
		return errors.Join(err, u.Close())
	}
	sum := ""
	if path == "-" && v.Stdin != nil {
		sum, err = disk.HashedStream("standard input", v.Stdin, use)
	} else {
		sum, err = disk.Hashed(path, use)
	}
	if err == nil {
		v.read.made[key], v.read.sums[path] = made, sum
	}
	return made, err
}
