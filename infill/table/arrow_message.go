package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	continuation = "\xff\xff\xff\xff" // begins each message since Arrow 0.15

	maxArrowHead  = 64 << 20 // bytes of a message without its body
	maxArrowBatch = 1 << 30  // bytes of a record batch in memory
	maxArrowRows  = 1<<31 - 1
)

// arrowMessages reads the messages of a stream for the library, which trusts what they say of
// their sizes. It is the library's allocator, too: what a small file can ask for has a bound.
type arrowMessages struct {
	memory.GoAllocator
	r     *bufio.Reader
	most  int           // bytes of a record batch
	used  int           // by the present message
	dicts map[int64]int // by each dictionary, which stays until another takes its place
	kept  int           // by all of them
	head  arrowHead     // of the present message
	views arrowViewCounts
	last  *ipc.Message
	err   error // of r
}

func newArrowMessages(r io.Reader, most int) *arrowMessages {
	return &arrowMessages{r: bufio.NewReaderSize(r, 64<<10), most: most,
		dicts: map[int64]int{}}
}

// Allocate is that of an allocator. The library recovers from its panic.
func (m *arrowMessages) Allocate(size int) []byte {
	if size < 0 || size > m.most-m.kept-m.used {
		panic(fmt.Sprintf("a record batch has more than %d bytes; write it in smaller ones", m.most))
	}
	m.used += size
	return m.GoAllocator.Allocate(size)
}

// Reallocate is that of an allocator.
func (m *arrowMessages) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	out := m.Allocate(size)
	copy(out, b)
	return out
}

// begin passes over what a file has before its stream.
func (m *arrowMessages) begin() (file bool, err error) {
	if head, _ := m.r.Peek(len(arrowMagic)); string(head) != arrowMagic {
		return false, nil
	}
	return true, m.full(make([]byte, 8))
}

// full reads bytes that have to be there.
func (m *arrowMessages) full(b []byte) error {
	_, err := io.ReadFull(m.r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errArrowEnd
	}
	m.err = err
	return err
}

// length is that of the next message without its body. The error is io.EOF after the last.
func (m *arrowMessages) length() (int, error) {
	if _, err := m.r.Peek(1); err != nil {
		if err != io.EOF {
			m.err = err
		}
		return 0, err
	}
	b := make([]byte, 4)
	if err := m.full(b); err != nil {
		return 0, err
	}
	if string(b) == continuation {
		if err := m.full(b); err != nil {
			return 0, err
		}
	}
	n := int64(binary.LittleEndian.Uint32(b))
	switch {
	case n == 0:
		return 0, io.EOF
	case n < 4 || n > maxArrowHead:
		return 0, fmt.Errorf("the head of a message has %d bytes", n)
	}
	return int(n), nil
}

// keep counts what stays of the present message.
func (m *arrowMessages) keep() {
	if h := m.head; h.kind == arrowDict {
		if !h.delta {
			m.kept -= m.dicts[h.id]
			m.dicts[h.id] = 0
		}
		m.dicts[h.id] += m.used
		m.kept += m.used
	}
	m.used, m.head = 0, arrowHead{}
}

// Message is that of an ipc.MessageReader. It is valid until the next call.
func (m *arrowMessages) Message() (*ipc.Message, error) {
	m.keep()
	n, err := m.length()
	if err != nil {
		return nil, err
	}
	head := make([]byte, n)
	if err := m.full(head); err != nil {
		return nil, err
	}
	if m.head, err = m.views.check(head); err != nil {
		return nil, err
	}
	size := m.head.body
	body := memory.NewResizableBuffer(m)
	defer body.Release()
	if size > int64(m.most) {
		return nil, fmt.Errorf("a record batch has %d bytes, at most %d are read; write it in smaller "+
			"ones", size, m.most)
	}
	body.Resize(int(size))
	if err := m.full(body.Bytes()); err != nil {
		return nil, err
	}
	m.Release()
	m.last = ipc.NewMessage(memory.NewBufferBytes(head), body)
	return m.last, nil
}

// Retain is that of an ipc.MessageReader, which has one owner here.
func (m *arrowMessages) Retain() {}

// Release frees the last message.
func (m *arrowMessages) Release() {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

// end looks at what follows the last message: nothing in a stream, and in a file its footer. The
// error is io.EOF if all is well.
func (m *arrowMessages) end(file bool) error {
	tail := make([]byte, 0, 1<<10)
	buf := make([]byte, 512)
	for {
		n, err := m.r.Read(buf)
		if n > 0 && !file {
			return errors.New("more data follow the end of the stream; give each stream a file")
		}
		tail = append(tail, buf[:n]...)
		if over := len(tail) - len(arrowMagic); over > 0 {
			tail = append(tail[:0], tail[over:]...)
		}
		switch {
		case err == io.EOF && file && string(tail) != arrowMagic:
			return errArrowEnd
		case err != nil && err != io.EOF:
			m.err = err
			return err
		case err != nil:
			return io.EOF
		}
	}
}
