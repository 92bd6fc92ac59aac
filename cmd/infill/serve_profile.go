package main

import (
	"infill/infill/settings"
	"infill/mlm"
)

// readProfile reads the profile, if there is one, before a model is opened.
func (f *serveFlags) readProfile() error {
	if f.filling.ProfileFile == "" {
		return nil
	}
	_, err := f.filling.NewSampler()
	return err
}

// fitsOne refuses a profile that fits none of the models.
func (f *serveFlags) fitsOne(models []*mlm.Model) (err error) {
	for _, m := range models {
		if err = f.filling.FitsModel(modelHash(m)); err == nil {
			return nil
		}
	}
	return err
}

// fillingOf are the settings of requests to a model: with the profile, if it is of this model.
func (f *serveFlags) fillingOf(m *mlm.Model) (*settings.Filling, error) {
	v := settings.Defaults()
	if f.filling.FitsModel(modelHash(m)) == nil {
		*v = f.filling
	}
	return v, nil
}
