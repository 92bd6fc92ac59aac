// Package request has the words of a request: the options of a filling, the results that it has,
// and their ranges. Package infill names all that users write, so that nobody has to import it.
package request
