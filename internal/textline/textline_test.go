package textline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// all reads to the end; a line that is too long is "LONG".
func all(r io.Reader, limit int) ([]string, error) {
	var out []string
	in := NewReader(r, limit)
	for {
		b, err := in.Next()
		switch {
		case err == io.EOF:
			return out, nil
		case errors.Is(err, ErrTooLong):
			out = append(out, "LONG")
		case err != nil:
			return out, err
		default:
			out = append(out, string(b))
		}
		if in.Number() != len(out) {
			return out, fmt.Errorf("line %d is numbered %d", len(out), in.Number())
		}
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	const limit = 3 * PeekSize
	most := strings.Repeat("x", limit)
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"\n", []string{""}},
		{"a", []string{"a"}},
		{"a\n\nb\r\n\r\n", []string{"a", "", "b", ""}},
		{"a\rb\n", []string{"a\rb"}},
		{"\ufeffa\n\ufeffb", []string{"a", "\ufeffb"}},
		{"\ufeff", nil},
		{"\xef\xbb", []string{"\xef\xbb"}},
		{most, []string{most}},
		{most + "\n" + most + "\nb", []string{most, most, "b"}},
		{most + "x", []string{"LONG"}},
		{most + "x\na", []string{"LONG", "a"}},
		{"a\n" + most + most + "\n\nb", []string{"a", "LONG", "", "b"}},
		{most + "xx\n" + most + "xx", []string{"LONG", "LONG"}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in),
			iotest.OneByteReader(strings.NewReader(c.in)),
			iotest.DataErrReader(strings.NewReader(c.in))} {
			got, err := all(r, limit)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%.20q (%d bytes): %.80q, %v; want %.80q", c.in, len(c.in), got, err, c.want)
			}
		}
	}
}

// A stream without line ends takes no more memory, and no more of the stream, than a line.
func TestReaderEndless(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	read := 0
	endless := readerFunc(func(p []byte) (int, error) {
		for i := range p {
			p[i] = 'x'
		}
		read += len(p)
		return len(p), nil
	})
	r := NewReader(endless, limit)
	if _, err := r.Next(); !errors.Is(err, ErrTooLong) || read > limit+2*PeekSize {
		t.Errorf("%v after %d bytes", err, read)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// An error of the input comes after the whole lines before it.
func TestReaderError(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	got, err := all(io.MultiReader(strings.NewReader("a\nb\nhalf"), iotest.ErrReader(boom)), 100)
	if !errors.Is(err, boom) || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
	r := NewReader(io.MultiReader(strings.NewReader(strings.Repeat("x", 2*PeekSize)),
		iotest.ErrReader(boom)), 100)
	if _, err := r.Next(); !errors.Is(err, ErrTooLong) {
		t.Errorf("a long line: %v", err)
	}
	if _, err := r.Next(); !errors.Is(err, boom) {
		t.Errorf("its rest: %v", err)
	}
}

// Peek sees what Next returns, without the byte order mark.
func TestPeek(t *testing.T) {
	t.Parallel()
	r := NewReader(strings.NewReader("\ufeffab\nc"), 10)
	if b, err := r.Peek(3); err != nil || string(b) != "ab\n" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := r.Peek(PeekSize); err != io.EOF || string(b) != "ab\nc" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := r.Next(); err != nil || string(b) != "ab" {
		t.Errorf("%q, %v", b, err)
	}
}

// Read keeps the ends: a last line without one can be told.
func TestRead(t *testing.T) {
	t.Parallel()
	r := bufio.NewReader(strings.NewReader("a\r\nb"))
	for _, want := range []string{"a\r\n", "b"} {
		if b, err := Read(r, 10); err != nil || string(b) != want {
			t.Errorf("%q, %v; want %q", b, err, want)
		}
	}
	if _, err := Read(r, 10); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// In the middle of an input the numbers go on, and nothing is a byte order mark.
func TestReaderAfter(t *testing.T) {
	t.Parallel()
	r := NewReaderAfter(7, strings.NewReader("\ufeffa\nb"), 10)
	for i, want := range []string{"\ufeffa", "b"} {
		if b, err := r.Next(); err != nil || string(b) != want || r.Number() != 8+i {
			t.Errorf("line %d is %q, %v; want %q", r.Number(), b, err, want)
		}
	}
}

// No text commands a terminal.
func TestPrintable(t *testing.T) {
	t.Parallel()
	if got := Printable("a\x1b[2Jb\tc\u009bd\xff"); got != "a\uFFFD[2Jb\tc\uFFFDd\uFFFD" {
		t.Errorf("%q", got)
	}
}

// An error about bytes names the encoding that Western texts most often have.
func TestNotUTF8(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"The caf\xe9 was shut.": "windows-1252",
		"\xcf\xf0\xe8\xe2\xe5\xf2 \xec\xe8\xf0": "windows-1251"} {
		if got := NotUTF8(text); !strings.Contains(got, "likely "+want) && !strings.Contains(got, "as "+want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
