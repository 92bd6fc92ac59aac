package tokenize

import "fmt"

// Typography is how a model sees marks of typesetting: curly quotes, dashes, the ellipsis, and
// spaces that are not plain. Models whose texts had straight marks alone were hardly taught the
// others, and find a sentence unlikely for its quotes. Spans are of the text in any case.
type Typography int

const (
	// OfModel is the way that the model's tokenizer_config.json names by "typography", else AsIs.
	OfModel Typography = iota
	// Straight turns quotes into ' and ", dashes into -, the ellipsis into three dots and spaces into
	// plain ones, and drops characters without width.
	Straight
	// AsIs leaves all characters to the model's own normalizer.
	AsIs
)

var typographyNames = []string{"auto", "straight", "as-is"}

// Names are the names of all ways, in the order of their numbers.
func (Typography) Names() []string { return typographyNames }

// String is the name: auto, straight or as-is.
func (t Typography) String() string { return typographyNames[t] }

// UnmarshalText reads a name.
func (t *Typography) UnmarshalText(name []byte) error {
	for i, n := range typographyNames {
		if n == string(name) {
			*t = Typography(i)
			return nil
		}
	}
	return fmt.Errorf("typography %q, want one of %q", name, typographyNames)
}

// straightened has the plain characters for those of typesetting.
var straightened = map[rune]string{
	'‘': "'", '’': "'", '‚': "'", '‛': "'", '‹': "'", '›': "'",
	'“': `"`, '”': `"`, '„': `"`, '‟': `"`, '«': `"`, '»': `"`,
	'\u2010': "-", '\u2011': "-", '\u2012': "-", '–': "-", '—': "-", '\u2015': "-", '−': "-",
	'…':      "...",
	'\u00A0': " ", '\u202F': " ", '\u205F': " ", '\u2028': " ", '\u2029': " ",
	'\u00AD': "", '\u200B': "", '\u200C': "", '\u200D': "", '\u2060': "", '\uFEFF': "",
}

func init() {
	for r := '\u2000'; r <= '\u200A'; r++ { // the spaces of given widths
		straightened[r] = " "
	}
}

// straight is the normalizer of Straight, which goes before those of the model.
type straight struct{}

func (straight) run(chars []char, _ int32) ([]char, error) {
	out := make([]char, 0, len(chars))
	for _, c := range chars {
		plain, found := straightened[c.r]
		if !found {
			out = append(out, c)
			continue
		}
		for _, r := range plain {
			out = append(out, char{r: r, lo: c.lo, hi: c.hi, made: c.made})
			c.made = true
		}
	}
	return out, nil
}
