package table

import (
	"bufio"
	"slices"
)

// pushback is a reader to which the bytes that were read last can be given back.
type pushback struct {
	buf []byte // bytes that were given back
	pos int    // of the next of them
	r   *bufio.Reader
}

// back has the last bytes that were read, b, read again.
func (p *pushback) back(b []byte) {
	if p.pos >= len(b) {
		p.pos -= len(b)
		return
	}
	p.buf, p.pos = slices.Clone(b), 0 // the bytes given back before are used up
}

// ReadByte is the next byte.
func (p *pushback) ReadByte() (byte, error) {
	if p.pos == len(p.buf) {
		return p.r.ReadByte()
	}
	p.pos++
	return p.buf[p.pos-1], nil
}

// Peek returns the next n bytes without reading them, and an error where there are fewer. They are
// valid until the next call.
func (p *pushback) Peek(n int) ([]byte, error) {
	again := p.buf[p.pos:]
	switch {
	case len(again) >= n:
		return again[:n], nil
	case len(again) == 0:
		return p.r.Peek(n)
	}
	rest, err := p.r.Peek(n - len(again))
	return slices.Concat(again, rest), err
}

// Discard passes over bytes that were peeked at.
func (p *pushback) Discard(n int) {
	k := min(n, len(p.buf)-p.pos)
	p.pos += k
	_, _ = p.r.Discard(n - k)
}
