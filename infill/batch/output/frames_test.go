package output

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// A torn frame is cut off with all that follows. An error of the file is another thing, since
// Finished records lie behind it.
func TestFramesOfAFileThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	for _, suffix := range []string{"o.jsonl", "o.jsonl.gz", "o.jsonl.zst"} {
		frames, err := framingOf(suffix)
		if err != nil {
			t.Fatal(err)
		}
		one, err := frames.encode([]byte(`{"line":1,"text":"a b c d e f g h i j k l m n o p"}` + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		for cut := 0; cut < len(one); cut++ {
			file := append(bytes.Clone(one), one[:cut]...)
			read := func(rest io.Reader) (whole int, err error) {
				r := newFrameReader(frames, io.MultiReader(bytes.NewReader(file), rest))
				for ; ; whole++ {
					if _, _, err = r.next(); err != nil {
						return whole, err
					}
				}
			}
			if n, err := read(iotest.ErrReader(broken)); n != 1 || !errors.Is(err, broken) {
				t.Fatalf("%s, %d bytes of a frame and an error: %d frames, %v", suffix, cut, n, err)
			}
			want := errTorn
			if cut == 0 {
				want = io.EOF
			}
			if n, err := read(bytes.NewReader(nil)); n != 1 || !errors.Is(err, want) {
				t.Fatalf("%s, %d bytes of a frame: %d frames, %v, want %v", suffix, cut, n, err, want)
			}
		}
	}
}
