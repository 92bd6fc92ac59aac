package settings

import (
	"reflect"
	"slices"
	"strings"

	"infill/infill"
)

// startValue is where chains begin: a word of [infill.Start], or the name of a file, which
// only a program that may read its user's files sets.
func startValue(v *Fill) *Value {
	names := infill.StartMasked.Names()
	word := func(s string) error {
		i := slices.Index(names, s)
		if i < 0 {
			return errWant
		}
		v.Sampling.StartFile, v.Options.Sampling.Start = "", infill.Start(i)
		return nil
	}
	list := strings.Join(names, "|")
	return &Value{
		Kind: reflect.String, Choices: names, want: list + ", or a file of records",
		wantJSON: strings.Join(names, " or "),
		get: func() string {
			if v.Sampling.StartFile != "" {
				return v.Sampling.StartFile
			}
			return v.Options.Sampling.Start.String()
		},
		set: func(s string) error {
			if s == "" || s == "sequential" { // which was a word, and is hardly the name of a file
				return errWant
			}
			if word(s) != nil {
				v.Sampling.StartFile, v.Options.Sampling.Start = s, infill.StartMasked
			}
			return nil
		},
		setJSON: fromJSON(word),
	}
}

// startRecorded names the fillings by the hash of their file.
func (v *Fill) startRecorded() (string, error) {
	if v.Sampling.StartFile == "" {
		return v.Options.Sampling.Start.String(), nil
	}
	return v.recorded(v.Sampling.StartFile)
}
