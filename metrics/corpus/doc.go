// Package corpus turns lines of text into interned tokens, the common input of
// the metrics in [infill/metrics/ngram] and [infill/metrics/bleu].
//
// A number such as BLEU means nothing without the way its tokens were made, so every step has a
// name that ends up in the signature of the number: the tokenisation ("ws", "13a", "intl", "zh",
// "char", "none", "glued", "bert"), the case ("lc", "mixed") and the cleaning ("none", "wc").
//
// Sentences of hypotheses and references that are to be compared are read with
// one shared [Vocab]. A token then is a uint32 and a corpus costs four bytes a
// token, so a million sentences of 37 tokens fit in about 150 MB.
package corpus
