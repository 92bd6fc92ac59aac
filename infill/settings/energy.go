package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"infill/infill"
	"infill/infill/energies"
)

// partsValue is a list of parts as energies.Parse reads them.
func partsValue(list *[]string) *Value {
	bad := func(text string) bool {
		_, err := energies.Parse(text)
		return err != nil
	}
	value := listValue(list).refusing(bad)
	value.want = energies.Forms(true) + fmt.Sprintf(", WEIGHT from %.0f to %.0f", -infill.MaxWeight,
		infill.MaxWeight)
	value.wantJSON = "a list of parts: " + value.want
	value.setJSON = fromJSON(func(texts []string) error {
		if slices.ContainsFunc(texts, bad) {
			return errWant
		}
		*list = texts
		return nil
	})
	return value
}

// Energies are parts of the energy besides the model's.
type Energies struct {
	Energy []string // as energies.Parse reads them
	// Parts are those that are made from files, which a program opens that may read its user's files.
	Parts *energies.Parts
}

// OpenParts opens the parts that are made from files, for the caller to close. The error is an
// [*Error].
func (v *Energies) OpenParts(ctx context.Context, o energies.Options) (err error) {
	if v.Parts = nil; len(v.Energy) == 0 {
		return nil
	}
	if v.Parts, err = energies.Open(ctx, v.Energy, o); err != nil {
		return &Error{Name: "energy", Err: err}
	}
	return nil
}

// checkParts is energies.Check. The error is an [*Error].
func (v *Energies) checkParts() error {
	if err := energies.Check(v.Energy); err != nil {
		return &Error{Name: "energy", Err: err}
	}
	return nil
}

// energyRecorded names the parts by the hashes of their files.
func (v *Energies) energyRecorded() (string, error) { return v.Parts.Recorded(v.Energy) }

// OpenParts opens the parts of Energy and the Encoder, which [Fill.CloseParts] closes. A
// program calls it before Prepare, if it may read its user's files. The error is an [*Error].
func (v *Fill) OpenParts(ctx context.Context, o energies.Options) (err error) {
	if err = v.Words.OpenParts(ctx, o); err != nil || v.Words.Encoder == "" {
		return err
	}
	if v.read == nil {
		v.read = newReadFiles()
	}
	if v.read.encoder, err = energies.OpenEncoder(ctx, v.Words.Encoder, o.Options); err != nil {
		return &Error{Name: "encoder", Err: errors.Join(err, v.CloseParts())}
	}
	return nil
}

// CloseParts closes what OpenParts has opened.
func (v *Fill) CloseParts() error {
	err := v.Words.Parts.Close()
	if v.read != nil && v.read.encoder != nil {
		err = errors.Join(err, v.read.encoder.Close())
	}
	return err
}

// encoderRecorded names the encoder by its hash.
func (v *Fill) encoderRecorded() (string, error) {
	if v.read == nil || v.read.encoder == nil {
		return "", nil
	}
	return "sha256:" + v.read.encoder.SHA256(), nil
}

// CheckFiles is [Fill.CheckFiles] of the parts of Energy, and refuses what Prepare does.
func (v *Ranking) CheckFiles() error {
	if err := v.checkCompares(); err != nil {
		return err
	}
	return v.checkParts()
}

// checkCompares refuses parts that compare with the words before.
func (v *Ranking) checkCompares() error {
	for _, text := range v.Energy {
		if s, err := energies.Parse(text); err == nil && s.Compares() {
			return &Error{Name: "energy", Err: fmt.Errorf("%w: %s compares with the words before a "+
				"text was filled, which are not known of a text that is scored", energies.ErrSpec, s.Name())}
		}
	}
	return nil
}

// Prepare makes terms of the parts of Energy. A part that compares with words before is refused:
// of a text that is scored none are known. The error is an [*Error].
func (v *Ranking) Prepare() (err error) {
	if err := v.checkCompares(); err != nil {
		return err
	}
	if v.Options.Terms, err = v.Parts.Weighted(v.Energy); err != nil {
		return &Error{Name: "energy", Err: err}
	}
	return nil
}
