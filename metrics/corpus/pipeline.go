package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrOption reports an unknown tokenisation, case or cleaning name.
var ErrOption = errors.New("unknown text option")

// Options says how a line becomes tokens. The zero value is the literature's
// way: split on white space, lower-cased, no cleaning.
type Options struct {
	// Tokenizer is one of [Tokenizers]; "" means "ws".
	Tokenizer string
	// Case is "lc" (lower-case, the default) or "mixed" (keep). Under "lc" the
	// marker [unk] is written [UNK] whatever its case, as cleaned references have it,
	// but not where a tokenisation cuts it: its letters are small as all others.
	Case string
	// Clean is "none" (default), "wc" or "wc-hyphen". See [Cleanings].
	Clean string
}

// Tokenizers lists the names of the tokenisations, the default first.
//
//	ws     split on white space
//	13a    mteval-v13a as sacrebleu defines it (WMT's default)
//	intl   mteval-v14 international, as sacrebleu defines it
//	zh     Chinese characters alone, the rest as 13a, as sacrebleu defines it
//	char   every character is a token, as sacrebleu defines it
//	none   the line as it is, split on white space; ws by sacrebleu's name
//	glued  punctuation and contractions glued to the preceding word first, the
//	       way Hugging Face decoding does ("clean_up_tokenization_spaces"), then ws
//	bert   ws, then every ASCII punctuation sign on its own, as BERT's basic
//	       tokeniser does; markers such as [UNK] stay whole
func Tokenizers() []string {
	return []string{"ws", "13a", "intl", "zh", "char", "none", "glued", "bert"}
}

// Cleanings lists the names of the token replacements, the default first.
//
//	none       nothing is replaced
//	wc         Wang & Cho's preparation of their reference files: @@unknown@@ →
//	           [UNK], `` and '' → "; the literature's figures are made with it
//	wc-hyphen  wc, and WikiText's @-@ → -
func Cleanings() []string { return []string{"none", "wc", "wc-hyphen"} }

// Pipeline is a checked Options value, ready for use. It is safe for concurrent use.
type Pipeline struct {
	opt   Options
	cut   func(line string) string // puts spaces between tokens; nil: they are there
	clean bool
	unk   string // the marker of an unknown word, after cases
}

// NewPipeline checks the names in o. An unknown one is an [ErrOption] that lists the known ones.
func NewPipeline(o Options) (*Pipeline, error) {
	o = Options{cmp.Or(o.Tokenizer, "ws"), cmp.Or(o.Case, "lc"), cmp.Or(o.Clean, "none")}
	check := func(what, name string, known []string) error {
		if slices.Contains(known, name) {
			return nil
		}
		return fmt.Errorf("%w: %s %q (known: %s)", ErrOption, what, name, strings.Join(known, ", "))
	}
	err := errors.Join(
		check("tokenisation", o.Tokenizer, Tokenizers()),
		check("case", o.Case, []string{"lc", "mixed"}),
		check("cleaning", o.Clean, Cleanings()))
	if err != nil {
		return nil, err
	}
	p := &Pipeline{opt: o, clean: o.Clean != "none", unk: "[UNK]"}
	if o.Case == "lc" && slices.Contains([]string{"13a", "intl", "zh", "char"}, o.Tokenizer) {
		p.unk = "[unk]"
	}
	p.cut = map[string]func(string) string{"13a": cut13a, "intl": cutIntl, "zh": cutZh,
		"char": cutChar, "glued": glued, "bert": cutBERT}[o.Tokenizer]
	return p, nil
}

func defaultPipeline() *Pipeline {
	p, _ := NewPipeline(Options{}) // there are such names
	return p
}

// Options returns the names in force, none of them empty.
func (p *Pipeline) Options() Options { return p.opt }

// Signature returns the pipeline's part of a metric's signature, such as
// "tok:ws|case:lc" or "tok:ws|case:lc|clean:wc".
func (p *Pipeline) Signature() string {
	s := "tok:" + p.opt.Tokenizer + "|case:" + p.opt.Case
	if p.clean {
		s += "|clean:" + p.opt.Clean
	}
	return s
}

// Each calls yield for every token of the line, in order. A token may share memory with the line.
func (p *Pipeline) Each(line string, yield func(token string)) {
	if p.opt.Case == "lc" {
		line = strings.ReplaceAll(lower(line), "[unk]", p.unk)
	}
	if p.clean { // the replacements are defined on white-space tokens
		line = rewritten(line, p.replace)
	}
	if p.cut != nil {
		line = p.cut(line)
	}
	for token := range words(line) {
		yield(token)
	}
}

// Tokens returns the tokens of the line.
func (p *Pipeline) Tokens(line string) []string {
	var out []string
	p.Each(line, func(t string) { out = append(out, t) })
	return out
}

// replace applies Wang & Cho's replacements to one white-space token. Their code
// lower-cases first, so @@UNKNOWN@@ arrives here in lower case unless case is kept.
func (p *Pipeline) replace(t string) string {
	switch t {
	case "@@unknown@@", "@@UNKNOWN@@":
		return p.unk
	case "``", "''":
		return `"`
	case "@-@":
		if p.opt.Clean == "wc-hyphen" {
			return "-"
		}
	}
	return t
}

// LooseKey reduces a sentence to its letters and digits in lower case, so that two copies of a
// sentence that differ in case, spacing, quotation marks or in how a corpus escapes punctuation
// have the same key. Sentences that were infilled are left out of the references by this key: their
// makers often dropped the quotes. Marks of unknown words ([UNK], @@unknown@@) are left out. A
// sentence without any letter or digit has the key "", which must not be used to exclude.
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

// lower lower-cases a line as Python's str.lower does. It differs from
// strings.ToLower in two letters: İ becomes i followed by a combining dot, and a
// capital sigma at the end of a word becomes ς.
func lower(line string) string {
	if !strings.ContainsAny(line, "İΣ") {
		return strings.ToLower(line)
	}
	var b strings.Builder
	for i, c := range line {
		switch {
		case c == 'İ':
			b.WriteString("i̇")
		case c == 'Σ' && endsWord(line[:i], line[i+len("Σ"):]):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return b.String()
}

// endsWord is Unicode's Final_Sigma condition: a cased letter before, none
// after, characters that case ignores skipped in both directions.
func endsWord(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, caseIgnorable))
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, caseIgnorable))
	return cased(last) && !cased(first)
}

// cased is Unicode's property Cased. Some signs with a case, such as Ⅳ and ⓐ, are not letters.
func cased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) ||
		unicode.In(r, unicode.Other_Uppercase, unicode.Other_Lowercase)
}

// caseIgnorable is Unicode's property Case_Ignorable. The signs that may stand inside of a word,
// such as an apostrophe, have no table in package unicode: they are those whose Word_Break is
// Single_Quote, MidLetter or MidNumLet.
func caseIgnorable(r rune) bool {
	const inside = "':·\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a.‘’\u2024\ufe52\uff07\uff0e"
	return strings.ContainsRune(inside, r) ||
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
