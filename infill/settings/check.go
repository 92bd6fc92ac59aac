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
// open. The error is text.ErrOption, or of [Fill.NewSampler].
func (v *Fill) CheckOptions() error {
	opt, err := v.options()
	if err != nil {
		return err
	}
	if v.Words.Encoder != "" { // which is opened later
		opt.Words.Filter.Similarity = struct{ infill.Term }{}
	}
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
	return v.Words.checkParts()
}

// Implied is what the settings of a manifest would be if these settings left each of them to the
// others of the manifest: by default steps depend on marginals, and method depends on whether
// anything of the sampling is chosen. It is for messages. Two manifests that differ in such a value
// alone do not differ in what somebody chose. A value of v that is chosen is left out where it can
// be told from one that is not.
func (v *Fill) Implied(manifest map[string]string) map[string]string {
	usual, err := fillTable.Recorded(Defaults())
	if err != nil { // it has the names of no files
		return nil
	}
	// without is the value of a setting that follows from those of others.
	without := func(s *Setting[Fill], others []*Setting[Fill]) string {
		rest := Defaults()
		for _, o := range others {
			if o != s {
				_ = o.Set(rest, manifest[o.Name]) // what it cannot read was not written by this program
			}
		}
		text, err := s.Recorded(rest)
		if err != nil {
			return manifest[s.Name]
		}
		return text
	}
	var changed, chosen []*Setting[Fill]
	for _, s := range fillTable {
		if s.record && manifest[s.Name] != usual[s.Name] {
			changed = append(changed, s)
		}
	}
	for _, s := range changed {
		if without(s, changed) != manifest[s.Name] {
			chosen = append(chosen, s)
		}
	}
	out := map[string]string{}
	for _, s := range fillTable {
		if s.record {
			out[s.Name] = without(s, chosen)
		}
	}
	if v.Method != infill.MethodAuto {
		delete(out, "method")
	}
	return out
}
