package settings

import (
	"context"

	"infill/infill/energies"
)

// energyValue is a list of parts of the energy, with their weights.
func energyValue(v *Filling) *Value {
	value := ListValue(&v.Energy)
	value.want, value.wantJSON = energies.Forms(), "a list of parts: "+energies.Forms()
	checked := func(texts []string) error {
		for _, text := range texts {
			if _, err := energies.Parse(text); err != nil {
				return err
			}
		}
		return nil
	}
	add := value.set
	value.set = func(text string) error {
		if err := checked([]string{text}); err != nil {
			return err
		}
		return add(text)
	}
	value.setJSON = fromJSON(func(texts []string) error {
		if err := checked(texts); err != nil {
			return err
		}
		v.Energy = texts
		return nil
	})
	return value.after(func() { v.Options.Terms = nil })
}

// energyRecorded names the parts by the hashes of their files.
func (v *Filling) energyRecorded() (string, error) { return v.Parts.Recorded(v.Energy) }

// OpenParts opens the parts of Energy, for the caller to close. A program calls it before Prepare,
// if it may read its user's files. The error is an [*Error].
func (v *Filling) OpenParts(ctx context.Context, o energies.Options) (err error) {
	if len(v.Energy) == 0 {
		return nil
	}
	if v.Parts, err = energies.Open(ctx, v.Energy, o); err != nil {
		return &Error{Name: "energy", Err: err}
	}
	return nil
}

// terms makes terms of the parts.
func (v *Filling) terms() (err error) {
	if v.Options.Terms != nil || len(v.Energy) == 0 {
		return nil
	}
	if v.Options.Terms, err = v.Parts.Weighted(v.Energy); err != nil {
		return &Error{Name: "energy", Err: err}
	}
	return nil
}
