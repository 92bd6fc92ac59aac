package settings

import (
	"errors"
	"fmt"
	"io"

	"infill/infill/profile"
	"infill/mlm"
	"infill/samplers"
)

// A profileFile is a profile that was read.
type profileFile struct {
	path, sum string
	profile   *profile.Profile
	tuned     func(coordinates int) samplers.Sampler
}

// profileValue is the name of a file with a profile. JSON lines have none.
func profileValue(v *Filling) *Value {
	value := TextValue(&v.ProfileFile)
	value.want, value.wantJSON = "a file with a profile", "the name of a file"
	return value.after(func() { v.Options.Sampler, v.profile = nil, profileFile{} })
}

// readProfile reads the file of ProfileFile, once: it may be a pipe.
func (v *Filling) readProfile() error {
	if v.profile.path == v.ProfileFile {
		return nil
	}
	read := profileFile{path: v.ProfileFile}
	var err error
	read.sum, err = v.hashed(v.ProfileFile, func(r io.Reader) (err error) {
		read.profile, err = profile.Decode(r)
		return err
	})
	if err == nil {
		read.tuned, err = read.profile.Samplers()
	}
	if err != nil {
		return &Error{Name: "profile", Err: err}
	}
	v.profile = read
	return nil
}

// useProfile makes the choices that a profile makes, and refuses those that do not go with it. The
// profile says the sampler and its parameters: a sampler that was chosen has to be the same one,
// and parameters cannot be given beside it.
func (v *Filling) useProfile() error {
	if v.ProfileFile == "" {
		v.Options.Tuned, v.Options.Profile = nil, ""
		return nil
	}
	if err := v.readProfile(); err != nil {
		return err
	}
	p := v.profile.profile
	other := func(what, given, tuned string) error {
		// Without its path, which requests and records are not to know.
		return &Error{Name: "profile", Err: fmt.Errorf("it was tuned for %s %s, and this is %s %s; "+
			"leave the choice out, or tune for it", what, tuned, what, given)}
	}
	gradient := mlm.GradientModeNames()[v.Options.Gradient]
	switch {
	case v.StepSize != "":
		return &Error{Name: "profile", Without: []string{"step-size"}}
	case v.Balance != "":
		return &Error{Name: "profile", Without: []string{"balance"}}
	case len(v.Params) > 0:
		return &Error{Name: "profile", Without: []string{"param"}}
	case v.chosen && v.Sampler != p.Sampler:
		return other("the sampler", v.Sampler, p.Sampler)
	case gradient != p.Gradient:
		return other("the gradient mode", gradient, p.Gradient)
	}
	v.Sampler = p.Sampler
	v.Options.Tuned, v.Options.Profile = v.profile.tuned, v.profile.sum
	return nil
}

// FitsModel refuses a profile of another model. The model is named as in manifests, by "sha256:"
// and its hash. Without a profile any model fits. The error is an [*Error].
func (v *Filling) FitsModel(model string) error {
	if v.ProfileFile == "" {
		return nil
	}
	if err := v.readProfile(); err != nil {
		return err
	}
	if p := v.profile.profile; p.Model != model {
		return &Error{Name: "profile", Err: fmt.Errorf("%s was tuned for the model %s, and this is "+
			"%s; tune for this one, or open that", v.ProfileFile, p.Model, model)}
	}
	return nil
}

// errUnread is a profile whose hash is asked for before it was read.
var errUnread = errors.New("the profile was not read")

// profileRecorded names the profile by the hash of its file.
func (v *Filling) profileRecorded() (string, error) {
	switch v.ProfileFile {
	case "":
		return "", nil
	case v.profile.path:
		return v.profile.sum, nil
	}
	return "", errUnread
}
