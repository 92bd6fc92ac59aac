package main

import (
	"testing"

	"infill/mlm"
)

// TestForwardFlags: the backward pass is left out, but where its precision was chosen, or where the
// weights are used as they lie.
func TestForwardFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low  bool
		p    mlm.Precision
		want bool
	}{{false, mlm.Float32, true}, {true, mlm.Float32, false}, {false, mlm.Int8, false}} {
		var f modelFlags
		f.Options.LowMemory, f.Options.Precision = c.low, c.p
		f.forward()
		if f.Options.Forward != c.want {
			t.Errorf("%+v: %v", c, f.Options.Forward)
		}
	}
}
