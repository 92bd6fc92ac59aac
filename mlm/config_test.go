package mlm

import (
	"errors"
	"strings"
	"testing"

	"infill/mlm/internal/source"
)

func TestCheckVocabulary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tokens, logits int
		plain          bool
		stated         int // vocab_size of config.json
		ok             bool
		meant          bool // ok where config.json has unused_logits
	}{
		{100, 100, true, 100, true, true},
		{100, 100, false, 0, true, true},
		{99, 100, true, 100, false, false}, // a line is missing
		{101, 100, true, 100, false, false},
		{101, 100, false, 100, false, false},
		{100, 104, true, 104, true, true},  // padded to a multiple of 8
		{96, 104, true, 104, false, false}, // by more than padding explains
		{100, 104, true, 100, true, true},  // by a trainer that left config.json as it was
		{104, 100, true, 100, false, false},
		{30_522, 30_528, true, 0, true, true},
		{30_522, 30_592, false, 30_522, true, true},
		{30_522, 30_656, false, 30_522, false, false},
		{100, 104, false, 104, true, true},
		{50_280, 50_368, false, 50_368, true, true},
		{50_280, 50_368, false, 0, false, false},
		{872, 30_522, false, 30_522, false, true}, // of another model
		{872, 30_522, true, 0, false, true},
		{890, 1_000, false, 1_000, false, true},
		{900, 1_000, false, 1_000, true, true}, // a tenth
		{10, 16, true, 10, false, true},        // padded, but with more than a tenth
	} {
		for unused, ok := range map[bool]bool{false: c.ok, true: c.meant} {
			err := checkVocabulary(c.tokens, c.logits, c.plain, source.Config{Vocab: c.stated, Unused: unused})
			if (err == nil) != ok || err != nil && !errors.Is(err, errVocabulary) {
				t.Errorf("%+v, %v: %v", c, unused, err)
			}
			if c.meant && err != nil && !strings.Contains(err.Error(), `"unused_logits": true`) {
				t.Errorf("%+v: the error %q does not say how to go on", c, err)
			}
		}
	}
}
