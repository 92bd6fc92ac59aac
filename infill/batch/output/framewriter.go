package output

import (
	"fmt"
	"io"
)

// A sink takes the records of an output.
type sink interface {
	// write takes a record, which ends in a newline.
	write(record []byte) error
	// finish ends the output. If it is complete, what waits is written too. Otherwise it is left for
	// the run that goes on.
	finish(complete bool) error
}

// A frameWriter writes records in frames.
type frameWriter struct {
	name    string // in messages
	w       io.Writer
	frames  framing
	offset  int64  // end of the last whole frame
	pending []byte // records that wait for their frame to be full
	waiting int    // their number

	undo  func()                   // takes away what a failed write left behind; nil for nothing
	after func(frame []byte) error // is told of each whole frame; nil for nothing
}

// write appends a record, which ends in a newline.
func (o *frameWriter) write(record []byte) error {
	if o.frames.records() == 1 {
		return o.append(record)
	}
	o.pending = append(o.pending, record...)
	o.waiting++
	if o.waiting < o.frames.records() {
		return nil
	}
	return o.frame()
}

// frame writes a frame of the records that wait.
func (o *frameWriter) frame() error {
	b, err := o.frames.encode(o.pending)
	if err != nil {
		return err
	}
	o.pending, o.waiting = o.pending[:0], 0
	return o.append(b)
}

// append writes a whole frame.
func (o *frameWriter) append(frame []byte) error {
	n, err := o.w.Write(frame)
	if err == nil && n < len(frame) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if o.undo != nil {
			o.undo()
		}
		return fmt.Errorf("writing %s: %w", o.name, err)
	}
	o.offset += int64(n)
	if o.after != nil {
		return o.after(frame)
	}
	return nil
}

// finish writes the last frame of a complete output. A compressed file has one at least: one of no
// bytes is not compressed.
func (o *frameWriter) finish(complete bool) error {
	if !complete {
		return nil
	}
	if o.waiting > 0 || o.offset == 0 && o.frames.records() > 1 {
		return o.frame()
	}
	return nil
}
