// Package trigger searches a prompt of words that makes a masked language model label
// sentences: k tokens, shared by all sentences of a labelled file, put with each of them into
// a template whose mask the model then fills with the word of a label.
//
// With f the model's softmax at the mask, w_c the word of label c and y_n the label of
// sentence n, the search maximises the mean over sentences of
//
//	log f(w_{y_n} | sentence n) − log Σ_c f(w_c | sentence n)     Share, the default
//	log f(w_{y_n} | sentence n)                                   Word
//
// A sentence is given the label whose word is likeliest. The search is the prompt tuning of
// SGDLD (its sections 6.5 and C.5) with text in place of images: a chain of samplers.SGDLD on
// exp(β_t · mean), h = 1 and β_t = βt, from stochastic gradients over sentences. The baseline
// is that paper's too, continuous relaxation: vectors in place of tokens, moved by gradient,
// and read as the nearest tokens at the end.
package trigger
