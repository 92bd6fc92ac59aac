package records

import (
	"errors"
	"os"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
)

// A maker of records without its parts says which, and does not take it for an error of the item.
func TestMakersWithoutParts(t *testing.T) {
	t.Parallel()
	it := &input.Item{Line: 1, Text: "the [MASK] of it"}
	for name, err := range map[string]error{
		"filler":    second((&Filler{}).Record(t.Context(), it)),
		"augmenter": second((&Augmenter{}).Record(t.Context(), it)),
		"scorer":    second((&Scorer{}).Record(t.Context(), it)),
		"n-best":    second((&NBest{}).Record(t.Context(), it)),
		"ranking":   second((&Scorer{Ranking: &settings.Ranking{}}).Record(t.Context(), it)),
	} {
		if !errors.Is(err, errParts) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A panic is an error of its item, with its place.
func TestGuarded(t *testing.T) {
	t.Parallel()
	_, err := guarded(func() (int, error) { return []int{}[len(os.Args)], nil })
	if jsonl.Code(err) != "fault" || !strings.Contains(err.Error(), "parts_test.go:") {
		t.Errorf("%v", err)
	}
}
