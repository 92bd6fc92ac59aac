package corpus

import (
	"strings"
	"unicode"
)

// LooseKey reduces a sentence to its letters and digits in lower case, so that two
// copies of a sentence that differ in case, spacing, quotation marks or in how a
// corpus escapes punctuation have the same key. Sentences that were infilled are
// left out of the references by this key: their makers often dropped the quotes.
// Marks of unknown words ([UNK], @@unknown@@) are left out. A sentence without
// any letter or digit has the key "", which must not be used to exclude.
func LooseKey(line string) string {
	line = lower(line)
	line = strings.ReplaceAll(line, "@@unknown@@", "")
	line = strings.ReplaceAll(line, "[unk]", "")
	var b strings.Builder
	for _, r := range line {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}
