package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/unpack"
)

// No line and no output, however broken, does more than fail.
func FuzzLine(f *testing.F) {
	for _, s := range []string{`{"id":1,"text":"x","y":{"z":[]}}`, `{"text":"\ud800"}`, "{", `{"text":"x"}}`, "\xff", `{"id":null,"text":"x"}`, "[]", `{"text":"x","a":1e999}`, `{"text":"\uFFFD \ud83d\ude00"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		in := Input{options: InputOptions{Format: settings.FormatJSONL}, close: func() {}}
		if err := in.begin(strings.NewReader(s)); err != nil {
			if !errors.Is(err, unpack.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		for {
			it, err := in.Next()
			if err == io.EOF || errors.Is(err, unpack.ErrDamaged) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if it.Err != nil && !errors.Is(it.Err, jsonl.ErrJSON) &&
				!errors.Is(it.Err, jsonl.ErrLineTooLong) {
				t.Fatalf("untyped error %v", it.Err)
			}
			if it.Err == nil && it.ID != nil && !json.Valid(it.ID) {
				t.Fatalf("id %s", it.ID)
			}
		}
	})
}

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
