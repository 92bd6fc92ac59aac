// Package tokenize turns text into the pieces that a masked language model
// reads, and keeps for every piece the bytes of the text that it stands for.
//
// Four kinds of models are read: WordPiece (BERT, DistilBERT, ELECTRA, MPNet),
// byte-level BPE (RoBERTa, ModernBERT, EuroBERT), BPE with byte fallback (mmBERT) and
// Unigram (ALBERT, DeBERTa-v2 and -v3, XLM-RoBERTa). For each, ids and spans are
// compared with those of Hugging Face's tokenizers on 1,200 lines, see testdata/hf.
//
// # From text to ids: WordPiece
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
// # Byte-level BPE and Unigram
//
// These have the same steps with other parts. Byte-level BPE normalises by NFC or
// not. The text is split into words that each keep the one space before them, and
// a word's bytes are joined, pair by pair, in the order in which the pairs were
// learnt. Unigram normalises by Unicode's forms, SentencePiece's compiled rules,
// lower case and replacements. The text is split at white space, whose mark ▁
// begins the words, and a word is cut into the pieces with the highest sum of
// scores.
//
// BPE with byte fallback (Gemma's, which mmBERT has) joins characters instead. A
// normalizer turns spaces into ▁, the text is not split, and a character without a
// piece is its bytes, <0xE2> and so on.
//
// Where WordPiece marks the pieces that go on with a word, these vocabularies
// mark those that follow a space: "cat" and "Ġcat" are two pieces. See
// [Tokenizer.Surface], [Tokenizer.Word] and [Tokenizer.FollowsSpace].
//
// Spans leave out the space that a piece stands for, so that they cover just
// the words; Hugging Face's do so for some tokenizers and not for others. They
// differ from its spans in one more place: where SentencePiece's rules drop the
// first character of a text (a control character), Hugging Face's spans are off
// by one from there on, and these are not.
//
// # Files
//
// [Load] reads the folder that a model was exported to: tokenizer.json, or
// vocab.txt (WordPiece), or vocab.json with merges.txt (byte-level BPE), and
// the configuration beside them. A SentencePiece model (spiece.model, spm.model)
// is not read: saved by transformers, the tokenizer has a tokenizer.json. The
// files are not trusted: sizes are bounded, ids checked, and every error names
// the file and its line or JSON path.
//
// Of a tokenizer.json these parts are understood, others are refused by name;
// padding, truncation and the decoder are left to the caller.
//
//	WordPiece      BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation
//	all            BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Nmt, Strip, Replace
//	               (a string, or the expressions of ALBERT and DeBERTa), Precompiled
//	BPE            ByteLevel, last; WhitespaceSplit, Punctuation, Split before it
//	               (Split: a string, or the expressions of Llama 3 and Qwen 2)
//	BPE, fallback  byte_fallback with the pieces of all bytes; Split or none
//	Unigram        Metaspace, WhitespaceSplit, Punctuation
//	all            TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel
//	               or none; a Sequence of parts wherever there may be one
//
// # The stages in code
//
// A [Tokenizer] has a text stage (steps 2 and 3), a pipeline of parts, and a model stage (step 4):
// wordPiece, bytePairs, charPairs or unigram.
//
// # Ours, and whose else
//
// github.com/sugarme/tokenizer v0.3.0 does the greedy matching of WordPiece. A word of the
// vocabulary is its own match, and one that was matched is remembered, because the module takes
// about 1 µs for a word, thirteen times as long. The rest is done here, each part for a reason:
//
//   - Special tokens, normalisation and pre-tokenisation: the module's lose their place or panic on
//     texts such as "[MASK] a [SEP] b", "Café" and "Ⱥ".
//   - Byte-pair encoding: the module joins equal pairs of a word in any order, and not the leftmost
//     first. "teeeee" is "t ee ee e" for Hugging Face, and "t ee e ee" there. It takes 25 to 35 µs
//     a word, thirty-five times as long.
//   - Unigram: the module adds .1 to a score for every byte of a piece and knows no piece above 20
//     bytes, so that its cuts are not the best sums of scores. With byte fallback it cuts all text
//     into bytes.
package tokenize
