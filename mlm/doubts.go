package mlm

import (
	"cmp"
	"fmt"
	"strings"
)

// mostNamed is how many pieces a warning names.
const mostNamed = 3

// addWarnings notes what makes results doubtful without being an error. The other facts
// come first.
func (f *facts) addWarnings() {
	f.Warnings = nil
	if n := len(f.repeated); n > 0 {
		named := f.repeated[:min(n, mostNamed)]
		f.warn("the vocabulary has %d of its pieces more than once, such as %q: their first ids are "+
			"never used, and the ids may be those of another model; compare the tokenizer's files with "+
			"the original",
			n, strings.Join(named, " "))
	}
	if f.newHead {
		f.warn("the layers that make the logits look untrained: their biases and norms are all 0 or " +
			"all 1, as in a new layer, and fillings are then noise; the original checkpoint, as those " +
			"of DeBERTa-v3, may have no such layers; use one that was trained to fill masks")
	}
	c := &f.config
	padded := c.Vocab == f.Tokens && roundedUp(f.Tokens, f.Vocab)
	if c.Vocab > 0 && f.Vocab > 0 && c.Vocab != f.Vocab && !padded {
		f.contradicts("vocab_size", c.Vocab, "%d logits", f.Vocab)
	}
	// Of a factorised table embedding_size is the width; some write both.
	width := cmp.Or(c.Embedding, c.Hidden, c.Dim)
	if f.Hidden > 0 && width > 0 && f.Hidden != width && f.Hidden != c.Hidden {
		f.contradicts("hidden_size", width, "word embeddings of width %d", f.Hidden)
	}
}

func (f *facts) contradicts(field string, states int, format string, has int) {
	f.warn("config.json states %s %d, the model file has "+format+
		": one of the two is of another model", field, states, has)
}

func (f *facts) warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}
