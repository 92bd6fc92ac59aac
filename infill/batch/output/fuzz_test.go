package output

import (
	"bufio"
	"bytes"
	"testing"
)

func FuzzFrames(f *testing.F) {
	for _, suffix := range suffixes {
		fr, err := framingOf(suffix)
		if err != nil {
			f.Fatal(err)
		}
		b, err := fr.encode([]byte("{\"line\":1}\n{\"line\":2}\n"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append(b, b[:len(b)/2]...))
	}
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, suffix := range suffixes {
			fr, err := framingOf(suffix)
			if err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(bytes.NewReader(b))
			var total int64
			for {
				_, n, err := fr.next(r)
				if err != nil {
					break
				}
				if n < 1 {
					t.Fatal("a frame of no bytes")
				}
				total += n
			}
			if total > int64(len(b)) {
				t.Fatalf("frames of %d bytes in %d", total, len(b))
			}
		}
	})
}
