package tokenize

import (
	"cmp"
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
	tokens     []string // by id; "" for an id without a token
	ids        map[string]int32
	kind       []kind // by id
	text       *pipeline
	model      modelStage
	added      *matcher // in the original text
	prefix     []int32  // of every encoding: [CLS]
	suffix     []int32  // [SEP]
	roles      [numRoles]int32
	lower      bool
	maxLength  int
	algorithm  algorithm
	continues  string // "##"
	mark       string // of a space, in what the model stage gets
	repeated   []string
	typography Typography
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

// Repeated lists the pieces that the vocabulary has already had further up, in its order,
// once for every repetition. Only the last id of such a piece is used.
func (t *Tokenizer) Repeated() []string { return slices.Clone(t.repeated) }

// VocabSize is one more than the highest id.
func (t *Tokenizer) VocabSize() int { return len(t.tokens) }

// UNKID is the id of words that cannot be made from the vocabulary, -1 if there are none
// such and no token for them.
func (t *Tokenizer) UNKID() int32 { return t.roles[roleUnknown] }

// MaskID is the id of the mask.
func (t *Tokenizer) MaskID() int32 { return t.roles[roleMask] }

// PadID is the id that fills up short rows of a batch, -1 if there is none.
func (t *Tokenizer) PadID() int32 { return t.roles[rolePad] }

// CLSID is the id put before every text, -1 if there is none.
func (t *Tokenizer) CLSID() int32 { return t.roles[roleCLS] }

// SEPID is the id put after every text, -1 if there is none.
func (t *Tokenizer) SEPID() int32 { return t.roles[roleSEP] }

// Token returns the spelling of an id, with the "##" of a continuation. It is
// empty for an id outside [0, VocabSize) and for one that has no token.
func (t *Tokenizer) Token(id int32) string {
	if id < 0 || int(id) >= len(t.tokens) {
		return ""
	}
	return t.tokens[id]
}

// Spelling is tokens as the vocabulary spells them, with spaces between.
func (t *Tokenizer) Spelling(ids []int32) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = t.Token(id)
	}
	return strings.Join(list, " ")
}

// Same reports whether two tokenizers have the same tokens, number by number.
func (t *Tokenizer) Same(o *Tokenizer) bool {
	if t == o {
		return true
	}
	if t.VocabSize() != o.VocabSize() || t.MaskID() != o.MaskID() || t.lower != o.lower {
		return false
	}
	for id := range int32(t.VocabSize()) {
		if t.Token(id) != o.Token(id) {
			return false
		}
	}
	return true
}

// ID returns the id of a token, by its exact spelling in the vocabulary.
func (t *Tokenizer) ID(token string) (int32, bool) {
	id, ok := t.ids[token]
	return id, ok
}

func (t *Tokenizer) is(id int32, k kind) bool {
	return id >= 0 && int(id) < len(t.kind) && t.kind[id]&k != 0
}

// Typography is how the tokenizer sees marks of typesetting: Straight, else AsIs.
func (t *Tokenizer) Typography() Typography { return cmp.Or(t.typography, AsIs) }

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
