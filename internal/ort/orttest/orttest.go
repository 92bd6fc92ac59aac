// Package orttest loads ONNX Runtime for tests of any package.
package orttest

import (
	"testing"

	"infill/internal/ort"
)

// Load loads the library that the command would use and ends the test when
// there is none: a suite that skips what matters most proves nothing.
func Load(tb testing.TB) ort.Report {
	tb.Helper()
	r, err := ort.Load(ort.FindOptions{})
	if err != nil {
		tb.Fatalf("these tests need ONNX Runtime: %v\n(`make test` installs it)", err)
	}
	return r
}
