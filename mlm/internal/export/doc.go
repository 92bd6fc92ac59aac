// Package export knows the graphs of exported models: what their inputs, weights and outputs are,
// and how a graph is given the form that the rest of the program takes. No function changes the
// model that it is given.
package export
