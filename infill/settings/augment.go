package settings

import (
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"infill/infill/text"
	"infill/infill/variants"
)

// Augmenting is how variants of texts are made, besides how their blanks are filled.
type Augmenting struct {
	Variants  variants.Options
	Repeats   bool // a variant may be that of another text, or another text itself
	Originals bool // each text is written too, before its variants
	// ByLabel is the field whose values are labels of whole texts: words that tell these apart stay.
	// "auto" is the first field with a usual name, "off" none.
	ByLabel string
}

// AugmentDefaults are the values of settings that nobody chose, of who makes variants. Those of the
// [Fill] make them of content words, and each of these becomes another. A round needs one good
// filling, so its chains are fewer than infill.DefaultChains. lab/notebook/augment.md has both
// measured.
func AugmentDefaults() (*Fill, *Augmenting) {
	v := Defaults()
	v.Masking.Rate, v.Masking.Class = 0.3, text.ClassContent
	v.Options.Words.Filter.MinEdits, v.Options.Words.MinDistance = 1, 1
	v.Options.Sampling.Chains = 10
	return v, &Augmenting{Variants: variants.Default(), ByLabel: "auto"}
}

// AugmentTable lists the settings of an [Augmenting] in the order of help and documents.
func AugmentTable() Table[Augmenting] { return slices.Clone(augmentTable) }

var augmentTable = Table[Augmenting]{
	{
		Name: "variants", Line: true, record: true, Group: results, Doc: "variants to make of each text",
		bind: func(v *Augmenting) *Value { return WholeValue(&v.Variants.Count, 1, variants.Max) },
	},
	{
		Name: "action", record: true, Group: words,
		Doc: "substitute: other words for some, insert: words between two others, delete: words taken " +
			"out where the sentence scores per token what it did",
		bind: func(v *Augmenting) *Value { return namedValue(&v.Variants.Action) },
	},
	{
		Name: "per-masking", Line: true, record: true, Group: words,
		Doc:  "variants to take of one choice of masked words, before others are masked; 0: any number",
		bind: func(v *Augmenting) *Value { return WholeValue(&v.Variants.PerMasking, 0, variants.Max) },
	},
	{
		Name: "extra-rounds", Line: true, record: true, Group: words,
		Doc:  "further choices of words to mask while variants are missing",
		bind: func(v *Augmenting) *Value { return WholeValue(&v.Variants.ExtraRounds, 0, variants.Max) },
	},
	{
		Name: "keep-by-label", Arg: "auto|off|NAME", record: true, Group: words,
		Doc: "the field whose values are labels: words that tell the labels of the file apart are " +
			"not masked; auto: the first of a usual name",
		bind: func(v *Augmenting) *Value {
			return nameValue(&v.ByLabel, "auto, off or the name of a field")
		},
	},
	{
		Name: "repeats", record: true, Group: results,
		Doc:  "let a variant be one of another line too, or a line before",
		bind: func(v *Augmenting) *Value { return boolValue(&v.Repeats) },
	},
	{
		Name: "originals", record: true, Group: results,
		Doc:  "write each text itself too, before its variants",
		bind: func(v *Augmenting) *Value { return boolValue(&v.Originals) },
	},
}

// errNotOfVariants is why a line of variants may not have a setting of a [Fill].
func errNotOfVariants(s *Setting[Fill]) error {
	switch {
	case s == nil || !s.isNotOf("augment"):
		return nil
	case s.Name == "top":
		return errors.New("there are as many results as variants; leave it out")
	}
	return errors.New("variants have no probabilities; leave it out")
}

// ForLine are the settings of one line: v with those among the line's JSON fields. Settings
// that the command augment has not are refused. Errors are of type [*Error]. v is not changed.
func (v *Augmenting) ForLine(fields iter.Seq2[string, json.RawMessage]) (Augmenting, error) {
	line := *v
	for name, raw := range fields {
		s := fillTable.OfLine(name)
		if err := errNotOfVariants(s); err != nil && string(raw) != "null" {
			return line, &Error{Name: s.Name, Err: err, field: name}
		}
	}
	return line, augmentTable.choose(&line, fields)
}
