// Package text has what package infill knows of texts: blanks and templates, the words of a text
// that may become blanks, lists of words, and how a vocabulary writes where words begin. It puts
// fillings back into texts. It asks no model and knows no states.
//
// [Parse] makes a [Template] of a text with blanks, and [Masking.Template] of one whose words are
// to become blanks. [NewWordList] prepares words that blanks may take, or may not.
package text
