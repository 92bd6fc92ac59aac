//go:build !linux

package main

import "io"

// endWithReader does nothing here: the next record finds out that nobody reads it.
func endWithReader(io.Writer) {}
