package settings

import (
	"cmp"
	"errors"
	"math"

	"infill/infill"
	"infill/infill/text"
)

// maskTable has the settings that say which words are masked, and which fillings are refused.
var maskTable = Table[Fill]{
	{
		Name: "keep", Arg: "WORDS", Line: true, record: true, field: "keep_words", Group: words,
		masked: true,
		Doc:    "words and phrases that are not masked, in any case, \"Ann\" also in \"Ann's\"",
		bind:   func(v *Fill) *Value { return wordsValue(&v.Words.Keep) },
	},
	{
		Name: "keep-file", Arg: "FILE", record: true, Group: words,
		masked: true, file: func(v *Fill) string { return v.Words.KeepFile },
		Doc:  "a file of such words, one a line",
		bind: func(v *Fill) *Value { return fileValue(&v.Words.KeepFile, "a file of words, one a line") },
		form: func(v *Fill) (string, error) { return v.recorded(v.Words.KeepFile) },
	},
	{
		Name: "mask-file", Arg: "FILE", record: true, Group: words,
		masked: true, file: func(v *Fill) string { return v.Words.MaskFile },
		Doc:  "a file of the only words and phrases that are masked, one a line",
		bind: func(v *Fill) *Value { return fileValue(&v.Words.MaskFile, "a file of words, one a line") },
		form: func(v *Fill) (string, error) { return v.recorded(v.Words.MaskFile) },
	},
	{
		Name: "mask-class", Line: true, record: true, Group: words, masked: true,
		Doc: "words that may be masked: all, content: with a letter, and not on the list of stop " +
			"words, everything: also addresses, versions, names of files and fields",
		bind: func(v *Fill) *Value {
			return choiceValue(&v.Masking.Class, "all", "content", "everything")
		},
	},
	{
		Name: "stop-words", Arg: "FILE", Line: true, record: true, Group: words,
		file: func(v *Fill) string { return v.Words.StopFile },
		Doc:  "words that are not content words, in place of the program's English ones",
		bind: func(v *Fill) *Value { return wordsFileValue(&v.Words.StopFile, &v.Words.StopWords) },
		form: func(v *Fill) (string, error) { return v.recorded(v.Words.StopFile) },
	},
	{
		Name: "mask-labels", Arg: "LABELS", Line: true, record: true, Group: words, masked: true,
		Doc:  "mask words in spans of these labels only, * for all; lines of JSON have \"spans\"",
		bind: func(v *Fill) *Value { return labelsValue(&v.Masking.MaskLabels) },
	},
	{
		Name: "keep-labels", Arg: "LABELS", Line: true, record: true, Group: words, masked: true,
		Doc:  "mask no word in spans of these labels, * for all",
		bind: func(v *Fill) *Value { return labelsValue(&v.Masking.KeepLabels) },
	},
	{
		Name: "offsets", Line: true, record: true, field: "span_offsets", Group: words, Doc: offsetsDoc,
		bind: func(v *Fill) *Value { return offsetsValue(&v.Words.Offsets) },
	},
	{
		Name: "min-edits", Line: true, record: true, Group: words, masked: true, not: "compare",
		Doc:  "least edit distance, in characters, of a filled text from the text as it was",
		bind: func(v *Fill) *Value { return optionValue(&v.Options, infill.Ranges.MinEdits) },
	},
	{
		Name: "max-edits", Line: true, record: true, Group: words, masked: true, not: "compare",
		Doc:  "greatest edit distance, in characters, of a filled text from the text as it was; 0: any",
		bind: func(v *Fill) *Value { return optionValue(&v.Options, infill.Ranges.MaxEdits) },
	},
	{
		Name: "max-drop", Line: true, record: true, Group: words, masked: true, not: "compare",
		Doc: "nats by which a filling may score below the words that were masked; negative: above them",
		bind: func(v *Fill) *Value {
			return optionalNumber(&v.Options.Words.Filter.MaxDrop, math.MaxFloat64)
		},
	},
	{
		Name: "encoder", Arg: "FOLDER", record: true, Group: words, masked: true, not: "compare",
		file: func(v *Fill) string { return v.Words.Encoder }, folder: true,
		Doc: "a sentence encoder in ONNX, which says how alike a filled text and the text as it was are",
		bind: func(v *Fill) *Value {
			return fileValue(&v.Words.Encoder, "the folder of a sentence encoder")
		}, form: (*Fill).encoderRecorded,
	},
	{
		Name: "min-similarity", Line: true, record: true, Group: words, masked: true, not: "compare",
		Doc:  "least cosine of a filled text and the text as it was by the encoder, from -1 to 1",
		bind: func(v *Fill) *Value { return optionalNumber(&v.Options.Words.Filter.MinSimilarity, 1) },
	},
	{
		Name: "max-similarity", Line: true, record: true, Group: words, masked: true, not: "compare",
		Doc: "greatest cosine of a filled text and the text as it was by the encoder: " +
			"0.98 leaves out what says the same",
		bind: func(v *Fill) *Value { return optionalNumber(&v.Options.Words.Filter.MaxSimilarity, 1) },
	},
}

// labelsValue is a list of labels.
func labelsValue(p *[]string) *Value {
	v := wordsValue(p)
	v.want, v.wantJSON = "labels with commas between", "a list of labels"
	return v
}

// optionalNumber is access to a number from −most to most, or none.
func optionalNumber(p **float64, most float64) *Value {
	var x float64
	return optional(p, &x, NumberValue(&x, -most, most, false))
}

// offsetsDoc is the text of help for offsets.
const offsetsDoc = "what places of words count: characters|utf16|bytes, auto: the one " +
	"that fits, off: none are places"

// offsetsValue is what offsets count: Unicode code points as in Python, bytes of UTF-8 as in Go and
// Rust, or units of UTF-16 as in JavaScript and Java. "auto" is the one that fits all places of a
// record, and "off" takes no number for a place.
func offsetsValue(p *string) *Value {
	v := WordValue(p, "auto", "characters", "utf16", "bytes", "off")
	v.get = func() string { return cmp.Or(*p, "auto") }
	return v
}

// errUnmeasured is why bounds on the similarity need an encoder.
var errUnmeasured = errors.New("it is what a similarity is measured by")

// checkMasks finds settings of this table that do not go together.
func (v *Fill) checkMasks() error {
	m, f := v.Masking, v.Options.Words.Filter
	if !m.On() {
		standard := Defaults()
		for _, s := range fillTable {
			if s.masked && s.bind(v).String() != s.bind(standard).String() {
				return &Error{Name: s.Name, Needs: []string{"mask-rate", "mask-words"},
					Err: errors.New("it is about words that are masked")}
			}
		}
	}
	switch {
	case (v.Words.StopWords != nil || v.Words.StopFile != "") && m.Class != text.ClassContent &&
		v.Options.Words.NoRepeat == text.RepeatAny:
		return &Error{Name: "stop-words", Needs: []string{"mask-class", "no-repeat"},
			Err: errors.New("it says which words are not content")}
	case f.MinSimilarity != nil && v.Words.Encoder == "":
		return &Error{Name: "min-similarity", Needs: []string{"encoder"}, Err: errUnmeasured}
	case f.MaxSimilarity != nil && v.Words.Encoder == "":
		return &Error{Name: "max-similarity", Needs: []string{"encoder"}, Err: errUnmeasured}
	case f.MaxDrop != nil && v.Words.Energy != nil:
		return &Error{Name: "max-drop", Without: []string{"energy"}}
	}
	return nil
}
