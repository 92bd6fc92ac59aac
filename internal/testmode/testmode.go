// Package testmode has what tests of several packages need, first of all which of them run: the
// usual ones, or the long ones too.
//
// A test that skips says why in one of two forms, so that the end of a run can
// count and name what was left out.
package testmode

import (
	"os"
	"testing"
)

// env is the variable that asks for the long tests. `make test-all` sets it.
const env = "INFILL_TEST_ALL"

// All reports whether the long tests run.
func All() bool { return os.Getenv(env) == "1" }

// Long skips a test that takes too long for every run.
func Long(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("long: run by make test-all")
	}
}

// Missing skips a test that needs data which are not there. What names them and,
// where that is not obvious, how to get them.
func Missing(t testing.TB, what string) {
	t.Helper()
	t.Skip("missing data: " + what)
}
