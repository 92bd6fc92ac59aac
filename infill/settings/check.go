package settings

import (
	"errors"
	"os"

	"infill/infill"
)

// Check finds settings that do not go together. The error is an [*Error].
func (v *Fill) Check() error {
	switch m := v.Masking; {
	case v.Method == infill.MethodSearch && v.Sampling.Chosen != "":
		return &Error{Name: v.Sampling.Chosen, Needs: []string{"method sample"},
			Err: errors.New("a search has no chains and steps")}
	case m.Both():
		return &Error{Name: "mask-rate", Without: []string{"mask-words"}}
	case v.Options.Words.MinDistance > 0 && !m.On():
		return &Error{
			Name: "min-distance", Needs: []string{"mask-rate", "mask-words"},
			Err: errors.New("it is the distance from the word that was blanked out"),
		}
	}
	return v.checkMasks()
}

// CheckOptions finds options that no text allows, before a model and the files of settings are
// open. The error is text.ErrOption, or of [Fill.NewSampler]. [Fill.Check] has what it finds of
// filters, which an encoder may complete later.
func (v *Fill) CheckOptions() error {
	opt, err := v.options()
	if err != nil {
		return err
	}
	opt.Words.Filter = infill.Filter{}
	return opt.Check()
}

// CheckFiles finds files and folders that settings name and that are not there, and parts of the
// energy that stand twice, before [Fill.Open] has a model. The error is an [*Error].
func (v *Fill) CheckFiles() error {
	for _, s := range fillTable {
		path, stream := s.File(v)
		if path == "" || stream && path == "-" && v.Stdin != nil {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return &Error{Name: s.Name, Err: err}
		}
	}
	return checkParts(v.Words.Energy)
}
