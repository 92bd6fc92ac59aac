package read

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func lines(t *testing.T, r io.Reader) ([]string, error) {
	t.Helper()
	var out []string
	err := eachLine(r, "in.txt", func(n int, l string) error {
		out = append(out, l)
		if n != len(out) {
			t.Errorf("line %d numbered %d", len(out), n)
		}
		return nil
	})
	return out, err
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x ", 100_000)
	for in, want := range map[string][]string{
		"a\nb\n":                {"a", "b"},
		"a\nb":                  {"a", "b"},
		"a\r\n\r\nb\r\n":        {"a", "", "b"},
		"\n":                    {""},
		"\ufeffa\n":             {"a"},
		long + "\nb\n" + long:   {long, "b", long},
		"[MASK] is a line\nb c": {"[MASK] is a line", "b c"},
	} {
		for _, r := range []io.Reader{strings.NewReader(in),
			iotest.OneByteReader(strings.NewReader(in))} {
			got, err := lines(t, r)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%.40q: %.80q, %v; want %.80q", in, got, err, want)
			}
		}
	}
}

func TestLinesErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]error{
		"":                                  ErrNoSentences,
		"a\nb\x00c\n":                       ErrFormat,
		"a\n\xff\xfe\n":                     ErrFormat,
		"\x1f\x8b\x08\x00..":                ErrFormat,
		"PK\x03\x04....":                    ErrFormat,
		"\xff\xfea\x00":                     ErrFormat,
		strings.Repeat("y", maxLine+70_000): ErrFormat,
	} {
		_, err := lines(t, strings.NewReader(in))
		if !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", in, err, want)
		} else if !strings.HasPrefix(err.Error(), "in.txt") {
			t.Errorf("%.20q: error does not name the file: %v", in, err)
		}
	}
	if _, err := lines(t, iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err,
		io.ErrUnexpectedEOF) {
		t.Errorf("a failing reader: %v", err)
	}
	stop := errors.New("enough")
	if err := eachLine(strings.NewReader("a\nb"), "x",
		func(int, string) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error of the callee: %v", err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"))
	f.Add([]byte("\xef\xbb\xbf{}\n"))
	f.Add([]byte{0x1f, 0x8b})
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got []string
		err := eachLine(bytes.NewReader(data), "f", func(_ int, l string) error {
			if !utf8.ValidString(l) || strings.ContainsAny(l, "\x00\n") {
				t.Fatalf("line %q handed on", l)
			}
			got = append(got, l)
			return nil
		})
		if err == nil && len(got) == 0 {
			t.Fatal("no line and no error")
		}
	})
}
