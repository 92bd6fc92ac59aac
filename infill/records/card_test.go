package records

import (
	"errors"
	"fmt"
	"testing"

	"infill/internal/ort"
)

// A card that is gone, or too small, would fail every line: it ends a run, so that this can go on,
// and makes no error records.
func TestCardEndsRun(t *testing.T) {
	t.Parallel()
	for _, kind := range []error{ort.ErrLost, ort.ErrMemory} {
		if rec := Failed("x", fmt.Errorf("a run of the model: %w", kind)); rec != nil {
			t.Errorf("%v: %+v", kind, rec.Error)
		}
	}
	if Failed("a", errors.New("the disk")) != nil {
		t.Error("an error of all lines became a record")
	}
}
