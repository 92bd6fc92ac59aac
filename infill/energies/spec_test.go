package energies

import (
	"slices"
	"strings"
	"testing"
)

// The forms of messages and of help are those that are read, and no others.
func TestForms(t *testing.T) {
	t.Parallel()
	texts := strings.Split(Forms(false), " or ")
	all := strings.Split(Forms(true), " or ")
	for i, k := range Kinds() {
		s, err := Parse(strings.Replace(all[i], "WEIGHT", "1", 1))
		if err != nil || s.Kind != k.Name || s.Compares() != k.Compares || (s.Label != "") != k.Labelled {
			t.Errorf("%s is read as %+v, %v", all[i], s, err)
		}
		if slices.Contains(texts, all[i]) == k.Compares {
			t.Errorf("%s: of texts %q", k.Name, texts)
		}
		if _, err := ParseName(k.Form); (err == nil) != k.Opened {
			t.Errorf("%s without a weight: %v", k.Form, err)
		}
	}
	if len(all) != len(Kinds()) {
		t.Errorf("%d forms of %d kinds", len(all), len(Kinds()))
	}
}
