package settings

import (
	"context"
	"errors"

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

// OpenParts opens the parts of Energy and the Encoder, which [Filling.CloseParts] closes. A
// program calls it before Prepare, if it may read its user's files. The error is an [*Error].
func (v *Filling) OpenParts(ctx context.Context, o energies.Options) (err error) {
	if len(v.Energy) > 0 {
		if v.Parts, err = energies.Open(ctx, v.Energy, o); err != nil {
			return &Error{Name: "energy", Err: err}
		}
	}
	if v.Encoder == "" {
		return nil
	}
	if v.encoder, err = energies.OpenEncoder(ctx, v.Encoder, o.Options); err != nil {
		return &Error{Name: "encoder", Err: errors.Join(err, v.CloseParts())}
	}
	v.Options.Filter.Similarity = v.encoder
	return nil
}

// CloseParts closes what OpenParts has opened.
func (v *Filling) CloseParts() error {
	err := v.Parts.Close()
	if v.encoder != nil {
		err = errors.Join(err, v.encoder.Close())
	}
	return err
}

// encoderRecorded names the encoder by its hash.
func (v *Filling) encoderRecorded() (string, error) {
	if v.encoder == nil {
		return "", nil
	}
	return "sha256:" + v.encoder.SHA256(), nil
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
