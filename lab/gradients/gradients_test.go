package gradients

import (
	"strings"
	"testing"
)

// A model of the program passes, and a flag without a sense is refused.
func TestCommand(t *testing.T) {
	t.Parallel()
	run := func(args ...string) (string, error) {
		var out strings.Builder
		err := Command(t.Context(), args, nil, &out, &out)
		return out.String(), err
	}
	if out, err := run("-model", "small", "-blanks", "2", "-directions", "1"); err != nil ||
		!strings.Contains(out, "2 derivatives at 2 blanks") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run("-blanks", "many"); err == nil {
		t.Errorf("no number of blanks: %s", out)
	}
}
