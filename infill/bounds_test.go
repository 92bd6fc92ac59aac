package infill

import (
	"errors"
	"testing"
)

// Every bound is taken, and a value beyond it refused, whoever makes the options.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ at, beyond Options }{
		{Options{Steps: MaxSteps}, Options{Steps: MaxSteps + 1}},
		{Options{Chains: MaxChains}, Options{Chains: MaxChains + 1}},
		{Options{Top: MaxTop}, Options{Top: MaxTop + 1}},
		{Options{Shortlist: MaxShortlist}, Options{Shortlist: MaxShortlist + 1}},
		{Options{MinDistance: MaxMinDistance}, Options{MinDistance: MaxMinDistance + 1}},
	} {
		if err := c.at.fill(); err != nil {
			t.Error(err)
		}
		if err := c.beyond.fill(); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", c.beyond, err)
		}
	}
	if err := (Masking{Words: MaxMaskWords}).Check(); err != nil {
		t.Error(err)
	}
	for _, m := range []Masking{{Words: MaxMaskWords + 1}, {Rate: 0.5, Words: 1}} {
		if err := m.Check(); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
