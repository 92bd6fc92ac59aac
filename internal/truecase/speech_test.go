package truecase

import (
	"strings"
	"testing"
)

// What is said by whom starts no sentence, and direct speech does.
func TestStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct { // the word is after the bar
		text string
		want bool
	}{
		{"|he asked", true},
		{`"Is it far?" |he asked.`, false},
		{`"Is it far!" |the old man cried.`, false},
		{`"Is it far?" |he, smiling, asked.`, true},
		{`"Is it far?" |he never asked.`, true},
		{`"Is it far." |he asked.`, true},
		{`“Is it far?” |asked Peter.`, false},
		{`Is it far? |he asked.`, true},
		{`He asked, "|is it far?"`, true},
		{`He asked: “|is it far,” and left.`, true},
		{`‘No!’ she cried; “|you are late.”`, true},
		{`He asked, "|is it far`, false},
		{`It is, "|far" from here.`, false},
		{`It is, "|very far" from here.`, false},
		{`It is a "|far cry."`, false},
		{`"Come," he said, "|or we go."`, false},
		{`"Come." He said, "|we go."`, true},
		{`5", "|we go."`, false},
		{`He asked,"|is it far?"`, false},
		{``, true},
	} {
		a := max(0, strings.IndexByte(c.text, '|'))
		if got := Starts(strings.Replace(c.text, "|", "", 1), a); got != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}
