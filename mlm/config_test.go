package mlm

import (
	"errors"
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
	}{
		{100, 100, true, 100, true},
		{100, 100, false, 0, true},
		{99, 100, true, 100, false}, // a line is missing
		{101, 100, true, 100, false},
		{101, 100, false, 100, false},
		{100, 104, true, 104, true}, // padded to a multiple of 8
		{96, 104, true, 104, false}, // by more than padding explains
		{100, 104, true, 100, true}, // by a trainer that left config.json as it was
		{104, 100, true, 100, false},
		{30_522, 30_528, true, 0, true},
		{30_522, 30_592, false, 30_522, true},
		{30_522, 30_656, false, 30_522, false},
		{100, 104, false, 104, true},
		{50_280, 50_368, false, 50_368, true},
		{50_280, 50_368, false, 0, false},
	} {
		err := checkVocabulary(c.tokens, c.logits, c.plain, source.Config{Vocab: c.stated})
		if (err == nil) != c.ok || err != nil && !errors.Is(err, errVocabulary) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
