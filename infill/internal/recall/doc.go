// Package recall has a model that is asked nothing twice: a memo of what it said, of the tokens
// that can matter, and counts of the rows that it was asked for.
package recall
