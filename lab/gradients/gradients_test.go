package gradients

import (
	"strings"
	"testing"
)

// A model of the program passes, and a call without a sense is refused.
func TestCommand(t *testing.T) {
	t.Parallel()
	run := func(args ...string) (string, error) {
		var out strings.Builder
		err := Command(t.Context(), args, nil, &out, &out)
		return out.String(), err
	}
	if out, err := run("-model", "small", "-blanks", "2", "-directions", "1"); err != nil ||
		!strings.HasPrefix(out, "2 derivatives at 2 blanks") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := run("-blanks", "1"); err == nil {
		t.Error("one blank has no second term")
	}
}
