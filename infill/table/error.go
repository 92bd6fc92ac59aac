package table

import (
	"errors"
	"fmt"
)

// ErrTable is the kind of every [*Error]: a table that cannot be read.
var ErrTable = errors.New("unreadable table")

// An Error is a table that cannot be read, or not from here on. Its message does
// not have the name of the file.
type Error struct {
	Row    int    // the line (CSV, TSV) or row (Parquet) where it is, from 1; 0 for the whole table
	Reason string // what is wrong, and what to do
	Err    error  // the cause, nil for none
	// Array says that it is an array of JSON, and Row an element of it.
	Array bool
}

// Error says what is wrong and what helps.
func (e *Error) Error() string {
	switch {
	case e.Array && e.Row > 0:
		return fmt.Sprintf("unreadable JSON: element %d: %s", e.Row, e.Reason)
	case e.Array:
		return "unreadable JSON: " + e.Reason
	case e.Row > 0:
		return fmt.Sprintf("%v: line %d: %s", ErrTable, e.Row, e.Reason)
	}
	return fmt.Sprintf("%v: %s", ErrTable, e.Reason)
}

// Is says that the error is an [ErrTable].
func (e *Error) Is(target error) bool { return target == ErrTable }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// A RowError is a single row that cannot be read. The rows after it can.
type RowError struct {
	Raw     string // the row as it stands in the file, without its end
	Reason  string
	TooLong bool // the row has more bytes than the limit; Raw is empty
}

// Error says what is wrong and what helps.
func (e *RowError) Error() string { return e.Reason }

// guard makes an error of a panic: the library panics on some damaged files.
func guard(row int, err *error) {
	if r := recover(); r != nil {
		*err = &Error{Row: row, Reason: fmt.Sprintf("the Parquet file is damaged (%v)", r)}
	}
}

// damaged is the error of a row.
func damaged(row int, err error) error {
	return &Error{Row: row, Reason: "the Parquet file is damaged (" + err.Error() + ")", Err: err}
}
