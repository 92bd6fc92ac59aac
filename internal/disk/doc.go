// Package disk has the rules for files of this module, each in one place: where the
// cache is, how a file is replaced, how a lock is taken, and how a file is opened that
// must be a regular one.
package disk
