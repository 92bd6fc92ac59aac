// Package truecase gives English words in lower case the capitals that they have in running text:
// "the capital of france" becomes "the capital of France". The task is known as truecasing (Lita,
// Ittycheriah, Roukos and Kambhatla, ACL 2003).
//
// It knows a table of words, which a test counts in a corpus. A word that has one form with
// capitals in at least 80 % of its uses within sentences gets that form: France, October, Mr, DNA.
// Other words are in lower case. Both have exceptions: "may" is a month after "in" and before a
// number. It takes these contexts from beside the word, as in the decision lists of Yarowsky (ACL
// 1994): the word before, the word after, and whether the two have capitals. A capital has to be
// likely there (85 %), since a wrong one is worse than none.
//
// A second table, technical.txt, is written by hand and comes first. It has words that the corpus
// lacks, such as GPU, and the nicknames of teams.
//
// The package changes the case of letters and nothing else. An uncased model reads the same pieces
// before and after.
package truecase
