// Package energies has parts of an energy that users name in a line of text: lists of words, the
// distance from the words that stood there before, and what a classifier, a sentence encoder or a
// second masked model says of the text. Each is an [infill.Term].
//
// [Parse] reads such a line. [Open] reads the files that lines name, and [Parts.Weighted] makes
// terms of them with their weights. Only a program that may read its user's files calls Open with
// what its user wrote. What comes from elsewhere, such as a request to a server, can name
// parts that are open, and no file.
package energies
