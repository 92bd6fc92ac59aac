// Package tokenize turns text into the pieces that a masked language model
// reads, and keeps for every piece the bytes of the text that it stands for.
//
// # From text to ids
//
// BERT reads a text as WordPiece pieces (Wu et al. 2016, section 4.1; Devlin et
// al. 2019). Four steps make them, the same as in Hugging Face's tokenizers,
// down to the Unicode tables (those of 2015 for punctuation, marks and control
// characters):
//
//  1. Special tokens. [MASK], [CLS], [SEP], [PAD], [UNK] and the added tokens of
//     the model are cut out wherever they are spelt exactly, inside a word too:
//     "un[MASK]able" is three pieces.
//  2. Normalisation. Control characters go, white space becomes a space, CJK
//     ideographs are set apart; for an uncased model accents go (canonical
//     decomposition without the non-spacing marks), and case.
//  3. Pre-tokenisation. The rest is split at white space, and before and after
//     each punctuation character, into words.
//  4. WordPiece. Each word is cut into the longest piece of the vocabulary that
//     it begins with, then the longest that the rest begins with, and so on;
//     pieces after the first are written "##ing". A word for which this fails,
//     or of more than 100 characters, is one [UNK].
//
// Normalisation forgets, so ids cannot be turned back into the text. That is
// what [Encoding].Spans is for: to change a text, splice at the bytes of a
// piece and keep all others as they are.
//
//	tok, err := tokenize.Load(os.DirFS("model"))
//	…
//	e, err := tok.Encode("Café [MASK]!")
//	// e.Tokens: [CLS] cafe [MASK] ! [SEP]
//	// e.Spans:  [0 0] [0 5] [6 12] [12 13] [13 13]
//
// # Files
//
// [Load] reads the folder that a model was exported to: tokenizer.json (a
// WordPiece model; BertNormalizer or none; BertPreTokenizer; and
// TemplateProcessing, BertProcessing, RobertaProcessing or none; padding and
// truncation are left to the caller), or vocab.txt, and the configuration
// beside them. The files are not trusted: sizes are bounded, ids checked, and
// every error names the file and its line or JSON path.
//
// # The stages in code
//
// A [Tokenizer] has a text stage (steps 2 and 3) and a model stage (step 4),
// each behind an interface, so that a byte-level BPE tokenizer can be added as
// another pair. The greedy matching of WordPiece is that of
// github.com/sugarme/tokenizer; the steps around it are done here, since that
// module's own lose their place or panic on texts such as "[MASK] a [SEP] b",
// "Café" and "Ⱥ".
package tokenize
