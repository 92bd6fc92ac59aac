// Package target has the energy of a sentence: a template that is resolved once for a model and
// options, and for every choice of lengths the states of its blanks with their scores.
package target
