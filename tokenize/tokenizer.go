package tokenize

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Bounds on what is accepted. They are far above any real tokenizer.
const (
	maxVocabulary = 1 << 20 // pieces
	maxPieceBytes = 1024
	maxAdded      = 1 << 16 // added tokens
	maxWordChars  = 1000    // WordPiece is quadratic in the length of a word
	maxTextBytes  = 64 << 20
	// maxMarkedBytes is maxTextBytes where a normalizer may make a text longer,
	// 32 times at most, so that places in it stay below 1 << 31.
	maxMarkedBytes = 8 << 20
)

// A Tokenizer turns text into ids and back. It does not change after it is
// made and is safe for concurrent use.
type Tokenizer struct {
	tokens    []string // by id; "" for an id without a token
	ids       map[string]int32
	kind      []kind // by id
	text      textStage
	model     modelStage
	added     *matcher // in the original text
	prefix    []int32  // of every encoding: [CLS]
	suffix    []int32  // [SEP]
	roles     [numRoles]int32
	lower     bool
	maxLength int
	algorithm algorithm
	continues string // "##"
	mark      string // of a space, in what the model stage gets
	repeated  []string
	// startSpaced: the first word of a text is marked as if a space came before it.
	startSpaced bool

	wholeOnce sync.Once
	whole     []int32
	bare      []int32
}

// algorithm is what the model stage is.
type algorithm int

const (
	wordPieceModel algorithm = iota
	bytePairModel
	unigramModel
	charPairModel
)

// kind is what an id is, as bits.
type kind uint8

const (
	kindSpecial kind = 1 << iota
	kindUnused
	kindContinuation
	kindAdded
)

// The roles that special tokens have.
type role int

const (
	roleUnknown role = iota
	roleMask
	rolePad
	roleCLS
	roleSEP
	numRoles
)

// String is the key of the role in tokenizer_config.json.
func (r role) String() string {
	return [...]string{"unk_token", "mask_token", "pad_token", "cls_token", "sep_token"}[r]
}

// Options are the settings of a tokenizer that is made from a list of pieces.
// The zero value is that of uncased BERT.
type Options struct {
	Cased        bool  // keep upper case
	StripAccents *bool // drop accents; nil: if and only if not Cased
	KeepChinese  bool  // do not make every CJK ideograph a word of its own
	KeepControl  bool  // do not drop control characters

	// Spellings of the special tokens; "" means [UNK], [MASK], [PAD], [CLS], [SEP].
	Unknown, Mask, Pad, CLS, SEP string

	Added       []AddedToken // further added tokens; their IDs are the caller's
	MaxLength   int          // the model's longest sequence, 0 if not known
	MaxWordSize int          // longer words, in characters, are unknown; 0 means 100
}

// New makes a BERT WordPiece tokenizer from its pieces in the order of their
// ids. If a piece occurs twice the later id is used, as Hugging Face does. It
// is an error if a special token is not among the pieces.
func New(pieces []string, o Options) (*Tokenizer, error) {
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

// add gives a piece its id; "" is an id without a piece.
func (s *spec) add(piece string, id int) {
	if piece == "" {
		return
	}
	if _, twice := s.vocab[piece]; twice {
		s.repeated = append(s.repeated, piece)
	}
	s.vocab[piece] = id
}

// Repeated lists the pieces that the vocabulary has already had further up, in its order,
// once for every repetition. Only the last id of such a piece is used.
func (t *Tokenizer) Repeated() []string { return slices.Clone(t.repeated) }

// spec is what the readers of the file formats find out.
type spec struct {
	vocab    map[string]int
	repeated []string // see Tokenizer.Repeated
	size     int      // one more than the highest id of vocab
	added    []AddedToken
	names    [numRoles]string // "" for the usual one
	flags    [numRoles]AddedToken
	instead  [numRoles]string // spellings of tokens that serve where there is no other
	norm     bertNormalizer
	prefix   string // of pieces inside a word
	maxChars int    // 0 for 100
	template bool   // before and after are given; else CLS and SEP
	algorithm
	parts        *pipeline // the text stage of models that are not WordPiece
	merges       [][2]string
	ignoreMerges bool
	scores       []scored
	unknown      int // of a Unigram model; −1: none
	byteFallback bool
	bytesUnknown bool    // a byte without a piece becomes the unknown token
	before       []int32 // ids put before and after every text
	after        []int32
	length       int
}

// usual are the spellings of BERT, and those of RoBERTa, which MPNet shares.
var usual = [numRoles][2]string{{"[UNK]", "<unk>"}, {"[MASK]", "<mask>"}, {"[PAD]", "<pad>"},
	{"[CLS]", "<s>"}, {"[SEP]", "</s>"}}

// build makes the tokenizer or says what is missing.
func (s *spec) build() (*Tokenizer, error) {
	if s.maxChars == 0 {
		s.maxChars = 100
	}
	switch {
	case len(s.vocab) == 0:
		return nil, problem(ErrFormat, "the vocabulary is empty")
	case s.size > maxVocabulary:
		return nil, problem(ErrTooLarge, "%d pieces, at most %d are accepted", s.size, maxVocabulary)
	case len(s.added) > maxAdded:
		return nil, problem(ErrTooLarge, "%d added tokens, at most %d are accepted", len(s.added),
			maxAdded)
	case s.maxChars < 1 || s.maxChars > maxWordChars:
		return nil, problem(ErrFormat, "longest word of %d characters, want 1 to %d", s.maxChars,
			maxWordChars)
	}
	t := &Tokenizer{
		tokens:    make([]string, s.size),
		ids:       make(map[string]int32, len(s.vocab)+len(s.added)),
		kind:      make([]kind, s.size),
		maxLength: s.length,
		continues: s.prefix,
		algorithm: s.algorithm,
		repeated:  s.repeated,
	}
	for p, id := range s.vocab {
		if id < 0 || id >= s.size {
			return nil, problem(ErrFormat, "piece %q has the id %d, want 0 to %d", p, id, s.size-1)
		}
		if other := t.tokens[id]; other != "" {
			return nil, problem(ErrFormat, "pieces %q and %q have the same id %d", other, p, id)
		}
		t.tokens[id], t.ids[p] = p, int32(id)
		if s.algorithm == wordPieceModel && len(p) > len(s.prefix) && s.prefix != "" &&
			strings.HasPrefix(p, s.prefix) {
			t.kind[id] |= kindContinuation
		}
	}
	if err := s.addTokens(t); err != nil {
		return nil, err
	}
	if err := s.addRoles(t); err != nil {
		return nil, err
	}
	for id, token := range t.tokens {
		if token == "" || isPlaceholder(token) {
			t.kind[id] |= kindUnused
		}
	}
	return t, s.stages(t)
}

// stages makes the two stages, and the matchers of added tokens.
func (s *spec) stages(t *Tokenizer) error {
	bert := &bertText{norm: s.norm}
	t.text = bert
	if s.parts != nil {
		t.text = s.parts
	}
	var original, normal []AddedToken
	for _, a := range s.added {
		if a.Normalized {
			a.Content = t.text.normal(a.Content)
			normal = append(normal, a)
		} else {
			original = append(original, a)
		}
	}
	t.added = newMatcher(original)
	t.lower = t.text.normal("A") == "a"
	unknown := int32(-1)
	if id, ok := s.vocab[s.names[roleUnknown]]; ok && s.bytesUnknown {
		unknown = int32(id)
	}
	var err error
	switch s.algorithm {
	case bytePairModel:
		s.parts.added = newMatcher(normal)
		t.model, err = newBytePairs(s.vocab, s.merges, unknown, s.ignoreMerges)
	case charPairModel:
		s.parts.added = newMatcher(normal)
		t.model, err = newCharPairs(s.vocab, s.merges, s.ignoreMerges)
	case unigramModel:
		s.parts.added = newMatcher(normal)
		t.model, err = newUnigram(s.scores, s.unknown, s.byteFallback)
	default:
		bert.added = newMatcher(normal)
		t.model = newWordPiece(s.vocab, s.names[roleUnknown], s.prefix, s.maxChars)
	}
	if s.parts != nil {
		t.findMark(s.parts)
	}
	return err
}

// addTokens gives added tokens their ids; several have ids behind the vocabulary's.
func (s *spec) addTokens(t *Tokenizer) error {
	for _, a := range s.added {
		id := int(a.ID)
		switch {
		case a.Content == "" || len(a.Content) > maxPieceBytes:
			return problem(ErrFormat, "added token %d has %d bytes, want 1 to %d", id, len(a.Content),
				maxPieceBytes)
		case id < 0 || id >= maxVocabulary:
			return problem(ErrFormat, "added token %q has the id %d, want 0 to %d", a.Content, id,
				maxVocabulary-1)
		}
		if known, ok := t.ids[a.Content]; ok && int(known) != id {
			return problem(ErrFormat, "added token %q has the id %d here and %d in the vocabulary",
				a.Content, id, known)
		}
		for len(t.tokens) <= id {
			t.tokens, t.kind = append(t.tokens, ""), append(t.kind, 0)
		}
		if other := t.tokens[id]; other != "" && other != a.Content {
			return problem(ErrFormat, "added token %q has the id %d, which is %q in the vocabulary",
				a.Content, id, other)
		}
		t.tokens[id], t.ids[a.Content] = a.Content, a.ID
		t.kind[id] = t.kind[id]&^kindContinuation | kindAdded
		if a.Special {
			t.kind[id] |= kindSpecial
		}
	}
	return nil
}

// addRoles finds the special tokens and makes those added tokens that are not yet.
func (s *spec) addRoles(t *Tokenizer) error {
	for r := range numRoles {
		if s.names[r] == "" {
			s.names[r] = usual[r][0]
			for _, name := range usual[r] {
				if _, ok := t.ids[name]; ok {
					s.names[r] = name
					break
				}
			}
		}
		name := s.names[r]
		id, ok := t.ids[name]
		if !ok && s.instead[r] != "" {
			name = s.instead[r]
			id, ok = t.ids[name]
		}
		if !ok && r == roleUnknown && s.neverUnknown() {
			t.roles[r] = -1
			continue
		}
		if !ok {
			return problem(ErrMissingToken, "%s %q is not in the vocabulary; set %s in "+
				"tokenizer_config.json to the model's spelling", r, name, r)
		}
		t.roles[r] = id
		if t.kind[id]&kindAdded == 0 {
			a := s.flags[r]
			a.ID, a.Content, a.Special = id, name, true
			s.added = append(s.added, a)
		}
		t.kind[id] = t.kind[id]&^kindContinuation | kindAdded | kindSpecial
	}
	if _, ok := s.vocab[s.names[roleUnknown]]; !ok && s.algorithm == wordPieceModel {
		return problem(ErrMissingToken, "unk_token %q is an added token, it must be in the model's "+
			"vocabulary", s.names[roleUnknown])
	}
	t.prefix, t.suffix = []int32{t.roles[roleCLS]}, []int32{t.roles[roleSEP]}
	if s.template {
		t.prefix, t.suffix = s.before, s.after
	}
	for _, id := range append(append([]int32(nil), t.prefix...), t.suffix...) {
		if id < 0 || int(id) >= len(t.tokens) || t.tokens[id] == "" {
			return problem(ErrFormat, "the post-processor adds the id %d, which has no token", id)
		}
		t.kind[id] |= kindSpecial
	}
	return nil
}

// neverUnknown reports whether every text can be spelt with the pieces, so that no unknown
// token is needed.
func (s *spec) neverUnknown() bool {
	switch s.algorithm {
	case charPairModel:
		return true
	case bytePairModel:
		for _, r := range runeOf {
			if _, ok := s.vocab[string(r)]; !ok {
				return false
			}
		}
		return true
	}
	return false
}

// isPlaceholder reports whether a piece is only there to fill the table:
// [unused7] of BERT, <unused7>, madeupword0001 of RoBERTa.
func isPlaceholder(token string) bool {
	digits := func(s string) bool {
		return s != "" && strings.Trim(s, "0123456789") == ""
	}
	lower := strings.ToLower(token)
	for _, p := range [...][2]string{{"[unused", "]"}, {"<unused", ">"}, {"[unused_", "]"},
		{"<unused_", ">"}, {"madeupword", ""}} {
		if rest, ok := strings.CutPrefix(lower, p[0]); ok {
			if number, ok := strings.CutSuffix(rest, p[1]); ok && digits(number) {
				return true
			}
		}
	}
	return false
}

// VocabSize is one more than the highest id.
func (t *Tokenizer) VocabSize() int { return len(t.tokens) }

// UNKID is the id of words that cannot be made from the vocabulary, -1 if there are none
// such and no token for them.
func (t *Tokenizer) UNKID() int32 { return t.roles[roleUnknown] }

// MaskID is the id of the mask.
func (t *Tokenizer) MaskID() int32 { return t.roles[roleMask] }

// PadID is the id that fills up short rows of a batch.
func (t *Tokenizer) PadID() int32 { return t.roles[rolePad] }

// CLSID is the id put before every text.
func (t *Tokenizer) CLSID() int32 { return t.roles[roleCLS] }

// SEPID is the id put after every text.
func (t *Tokenizer) SEPID() int32 { return t.roles[roleSEP] }

// Token returns the spelling of an id, with the "##" of a continuation. It is
// empty for an id outside [0, VocabSize) and for one that has no token.
func (t *Tokenizer) Token(id int32) string {
	if id < 0 || int(id) >= len(t.tokens) {
		return ""
	}
	return t.tokens[id]
}

// ID returns the id of a token, by its exact spelling in the vocabulary.
func (t *Tokenizer) ID(token string) (int32, bool) {
	id, ok := t.ids[token]
	return id, ok
}

func (t *Tokenizer) is(id int32, k kind) bool {
	return id >= 0 && int(id) < len(t.kind) && t.kind[id]&k != 0
}

// IsSpecial reports whether id is a special token such as [MASK] or [PAD].
func (t *Tokenizer) IsSpecial(id int32) bool { return t.is(id, kindSpecial) }

// IsUnused reports whether id only fills the table: [unused7], or no token at
// all. No text should ever be given such an id.
func (t *Tokenizer) IsUnused(id int32) bool {
	return id < 0 || int(id) >= len(t.kind) || t.is(id, kindUnused)
}

// IsContinuation reports whether id is a piece that stands only inside words,
// such as ##ing. Vocabularies that mark spaces have no such pieces: without a
// mark, a piece may begin a word or go on with one. See [Tokenizer.Surface].
func (t *Tokenizer) IsContinuation(id int32) bool { return t.is(id, kindContinuation) }

// Lowercase reports whether text is lower-cased before it is looked up.
func (t *Tokenizer) Lowercase() bool { return t.lower }

// MaxLength is the longest sequence, with special tokens, that the model's
// files state, or 0 if they state none.
func (t *Tokenizer) MaxLength() int { return t.maxLength }

// WholeWords returns the ids, ascending, that are whole words: only letters
// (and combining marks), not special, unused, added or a continuation, and
// such that the word, encoded, is that one id again. In vocabularies that mark
// spaces they are the words after a space; see [Tokenizer.BareWords]. The
// caller must not change the slice.
func (t *Tokenizer) WholeWords() []int32 {
	t.findWords()
	return t.whole
}

// BareWords is WholeWords of a place that no space is before: the same ids, or
// in vocabularies that mark spaces the words without the mark.
func (t *Tokenizer) BareWords() []int32 {
	t.findWords()
	return t.bare
}

func (t *Tokenizer) findWords() {
	t.wholeOnce.Do(func() {
		for i := range t.tokens {
			id := int32(i)
			word, space := t.Surface(id)
			if word == "" || t.kind[i] != 0 || !isWord(word) {
				continue
			}
			at := AfterSymbol
			if space {
				at = AfterSpace
			}
			if e, err := t.Word(word, at); err != nil || len(e.IDs) != 1 || e.IDs[0] != id {
				continue
			}
			if space || !t.MarksSpaces() {
				t.whole = append(t.whole, id)
			}
			if !space {
				t.bare = append(t.bare, id)
			}
		}
	})
}

func isWord(s string) bool {
	letter := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return false
		}
		letter = letter || unicode.IsLetter(r)
	}
	return letter
}

// String describes the tokenizer in a few words, for people.
func (t *Tokenizer) String() string {
	cased := "cased"
	if t.lower {
		cased = "uncased"
	}
	names := [...]string{"WordPiece", "byte-level BPE", "Unigram", "BPE with byte fallback"}
	return fmt.Sprintf("%s, %s, %d tokens", names[t.algorithm], cased, len(t.tokens))
}
