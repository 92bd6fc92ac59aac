package tokenize

// options are the settings of a tokenizer that is made from a list of pieces.
// The zero value stands for uncased BERT.
type options struct {
	Cased        bool  // keep upper case
	StripAccents *bool // drop accents; nil: if and only if not Cased
	KeepChinese  bool  // do not make every CJK ideograph a word of its own
	KeepControl  bool  // do not drop control characters

	// Spellings of the special tokens; "" means [UNK], [MASK], [PAD], [CLS], [SEP].
	Unknown, Mask, Pad, CLS, SEP string

	Added       []addedToken // further added tokens; their IDs are the caller's
	MaxLength   int          // the model's longest sequence, 0 if not known
	MaxWordSize int          // longer words, in characters, are unknown; 0 means 100
}

// newTokenizer makes a BERT WordPiece tokenizer from its pieces in the order of their
// ids. If a piece occurs twice the later id is used, as Hugging Face does. It
// is an error if a special token is not among the pieces.
func newTokenizer(pieces []string, o options) (*Tokenizer, error) {
	s := spec{
		vocab:    make(map[string]int, len(pieces)),
		size:     len(pieces),
		added:    o.Added,
		names:    [numRoles]string{o.Unknown, o.Mask, o.Pad, o.CLS, o.SEP},
		prefix:   "##",
		maxChars: o.MaxWordSize,
		length:   o.MaxLength,
		norm: bertNormalizer{
			clean: !o.KeepControl, chinese: !o.KeepChinese, lower: !o.Cased, strip: !o.Cased,
		},
	}
	if o.StripAccents != nil {
		s.norm.strip = *o.StripAccents
	}
	for id, p := range pieces {
		s.add(p, id)
	}
	return s.build()
}
