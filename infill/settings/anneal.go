package settings

import (
	"fmt"
	"strings"

	"infill/infill"
)

// annealValue is a schedule of temperatures. "" is none.
func annealValue(o *infill.Options) *Value {
	set := func(s string) error {
		o.Anneal = nil
		if s == "" {
			return nil
		}
		a, err := infill.ParseAnneal(s)
		if err != nil {
			return errWant
		}
		o.Anneal = a
		return nil
	}
	return &Value{
		Kind: Text,
		want: fmt.Sprintf("FROM..TO, FROM..TO:%s, with temperatures from %g to %g, or one of %s",
			strings.Join(infill.ShapeNames()[1:], " or FROM..TO:"), infill.MinAnneal, infill.MaxAnneal,
			strings.Join(infill.AnnealNames(), ", ")),
		get: func() string { return o.Anneal.String() }, set: set, setJSON: fromJSON(set),
	}
}
