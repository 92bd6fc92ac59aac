// Package batch works through a file record by record, many at once. Package input reads the
// records, and package output writes what becomes of them, in the order of the input. Whatever
// ended a [Job], another can go on where it stopped.
package batch
