package speed

import (
	"strings"
	"testing"
)

// The sentence has as many words and blanks as the pages of measurements say.
func TestTwentyWords(t *testing.T) {
	t.Parallel()
	words, blanks := len(strings.Fields(twentyWords)), strings.Count(twentyWords, "[MASK]")
	if words != 20 || blanks != 4 {
		t.Errorf("%d words with %d blanks, want 20 with 4", words, blanks)
	}
}
