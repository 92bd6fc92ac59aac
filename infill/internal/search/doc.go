// Package search looks for the fillings of a template with the best scores.
package search
