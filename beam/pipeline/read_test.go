package pipeline

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
)

// opened is an input of these bytes.
func opened(t *testing.T, name, text string) *input.Reader {
	t.Helper()
	in, err := input.OpenStream(name, strings.NewReader(text), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// items are the records that infill batch reads.
func items(t *testing.T, name, text string) (out []input.Item) {
	t.Helper()
	for in := opened(t, name, text); ; {
		it, err := in.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, it)
	}
}

// checkCut cuts an input and holds the chunks against what infill batch reads.
func checkCut(t *testing.T, name, text string, chunk, shard int) {
	t.Helper()
	in := opened(t, name, text)
	how := input.Options{Format: in.Format()}
	var got []input.Item
	number := 0
	err := Cut(in, chunk, shard, func(c Chunk) {
		if c.Number != number || c.Format != int(in.Format()) {
			t.Errorf("chunk %d comes as number %d", c.Number, number)
		}
		number++
		if n := len(c.Lines); n == 0 || n > chunk {
			t.Errorf("chunk %d has %d lines, at most %d are wanted", c.Number, n, chunk)
		}
		for _, l := range c.Lines {
			if want := len(got) / shard; c.Shard != want {
				t.Errorf("record %d is in shard %d, want %d", len(got), c.Shard, want)
			}
			got = append(got, how.Item(l))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := items(t, name, text)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q in chunks of %d: %d records, want %d\n%v\n%v", name, chunk, len(got), len(want),
			got, want)
	}
	// No chunk is smaller than it has to be.
	least := 0
	for left := len(want); left > 0; left -= shard {
		least += (min(left, shard) + chunk - 1) / chunk
	}
	if number != least {
		t.Errorf("%d chunks, want %d", number, least)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", jsonl.MaxInput+1)
	for name, text := range map[string]string{
		"empty":        "",
		"only ends":    "\n\r\n \n",
		"no final end": "one\ntwo",
		"CRLF":         "\ufeffone\r\n\r\ntwo\r\nthree\r\n",
		"long":         "one\n" + long + "\nthree\n" + long[1:] + "\nfive",
		"JSON lines":   "{\"text\":\"a\",\"id\":1}\n\n{bad\n{\"text\":\"b\"}\n",
		"many":         strings.Repeat("line\n", 100),
	} {
		for _, size := range [][2]int{{1, 1}, {2, 3}, {3, 2}, {7, 100}, {100, 7}} {
			checkCut(t, name, text, size[0], size[1])
		}
	}
}

func TestCutRefuses(t *testing.T) {
	t.Parallel()
	none := func(Chunk) {}
	if err := Cut(opened(t, "a.txt", "x"), 0, 1, none); !errors.Is(err, ErrJob) {
		t.Errorf("chunks of no line: %v", err)
	}
	if err := Cut(opened(t, "a.csv", "text\nx\n"), 1, 1, none); !errors.Is(err, input.ErrNoLines) {
		t.Errorf("a table: %v", err)
	}
	many := strings.Repeat("x\n", MaxShards)
	if err := Cut(opened(t, "a.txt", many), 64, 1, none); err != nil {
		t.Errorf("%d files: %v", MaxShards, err)
	}
	err := Cut(opened(t, "a.txt", many+"x\n"), 64, 1, none)
	if !errors.Is(err, ErrShards) || !strings.Contains(err.Error(), "line 100001") {
		t.Errorf("%d files and one: %v", MaxShards, err)
	}
}

// Chunks hold the records that infill batch reads, each once and in order.
func FuzzCut(f *testing.F) {
	f.Add("one\r\n\n\ufefftwo", uint8(1), uint8(2))
	f.Add("{\"text\":\"a\"}\n{\n", uint8(3), uint8(1))
	f.Add("\f", uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, text string, chunk, shard uint8) {
		in, err := input.OpenStream("x", strings.NewReader(text), input.Options{})
		if err != nil || in.Close() != nil {
			return // damaged compressed data
		}
		if strings.HasPrefix(text, "\x1f\x8b") || strings.HasPrefix(text, "\x28\xb5\x2f\xfd") {
			return // compressed: it may end in an error
		}
		checkCut(t, "x", text, int(chunk)+1, int(shard)+1)
	})
}
