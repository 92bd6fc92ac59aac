package settings

import (
	"errors"
	"io"
	"slices"
	"strings"

	"infill/infill"
	"infill/internal/disk"
	"infill/internal/unpack"
	"infill/tokenize"
)

// startValue is where chains begin: a word of [infill.StartNames], or the name of a file, which
// only a program that may read its user's files sets.
func startValue(v *Filling) *Value {
	names := infill.StartNames()
	word := func(s string) error {
		i := slices.Index(names, s)
		if i < 0 {
			return errWant
		}
		v.StartFile, v.Options.Starts, v.Options.Start = "", nil, infill.Start(i)
		return nil
	}
	list := strings.Join(names, "|")
	return &Value{
		Kind: Choice, Choices: names, want: list + ", or a file of records",
		wantJSON: strings.Join(names, " or "),
		get: func() string {
			if v.StartFile != "" {
				return v.StartFile
			}
			return v.Options.Start.String()
		},
		set: func(s string) error {
			if s == "" {
				return errWant
			}
			if word(s) != nil {
				v.StartFile, v.Options.Starts, v.Options.Start = s, nil, infill.StartMasked
			}
			return nil
		},
		setJSON: fromJSON(word),
	}
}

// prepareStart reads the fillings of StartFile, once.
func (v *Filling) prepareStart(tok *tokenize.Tokenizer) error {
	if v.StartFile == "" || v.Options.Starts != nil {
		return nil
	}
	name := v.StartFile
	if name == "-" && v.Stdin != nil {
		name = "standard input"
	}
	sum, err := v.hashed(v.StartFile, func(r io.Reader) error {
		u, err := unpack.New(r)
		if err != nil {
			return err
		}
		v.Options.Starts, err = infill.ReadStarts(tok, name, u)
		return errors.Join(err, u.Close())
	})
	if err != nil {
		v.Options.Starts = nil
		return &Error{Name: "start", Err: err}
	}
	v.Options.Start, v.started = infill.StartGiven, wordFile{v.StartFile, sum}
	return nil
}

// startRecorded names the fillings by the hash of their file.
func (v *Filling) startRecorded() (string, error) {
	switch v.StartFile {
	case "":
		return v.Options.Start.String(), nil
	case v.started.path:
		return v.started.sum, nil
	}
	return disk.Hashed(v.StartFile, func(io.Reader) error { return nil })
}
