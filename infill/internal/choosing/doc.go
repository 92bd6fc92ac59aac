// Package choosing makes results of the fillings that were found: filters judge them, the model in
// float32 scores them again, and the best or different ones are kept.
package choosing
