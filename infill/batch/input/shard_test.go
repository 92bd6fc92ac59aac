package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"infill/infill/batch/input/inputtest"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/unpack"
)

// Sizes beyond 2^63/n are cut without an overflow.
func TestCut(t *testing.T) {
	t.Parallel()
	const huge = 1<<63 - 1
	for _, c := range []struct {
		size int64
		i, n int
		want int64
	}{{0, 0, 3, 0}, {10, 1, 3, 3}, {10, 2, 3, 6}, {10, 3, 3, 10}, {2, 1, 5, 0},
		{huge, 1_000_000, 1_000_000, huge}, {huge, 1, 2, huge / 2}} {
		if got := cut(c.size, c.i, c.n); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// Whatever the bytes of a file and the number of shards, each line is in one shard, with its
// number.
func FuzzShards(f *testing.F) {
	for _, text := range inputtest.Files() {
		if len(text) < 1<<12 {
			f.Add(text, 3)
		}
	}
	f.Add("\x1f\x8b", 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n = 1 + n%9; n < 1 || len(text) > 1<<16 {
			return
		}
		path := inputtest.Write(t, filepath.Join(t.TempDir(), "in"), text)
		items := func(s settings.Shard) (out []string, ok bool) {
			in, err := Open(path, nil, Options{Shard: s})
			if errors.Is(err, unpack.ErrDamaged) || err != nil && s.Whole() {
				return nil, false
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close() }()
			for {
				it, err := in.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					return nil, false
				}
				out = append(out, fmt.Sprintf("%d %q %q %v", it.Line, it.ID, it.Text, it.Err))
			}
			survey, err := in.Survey()
			if err != nil || survey.Records != len(out) || survey.Bytes != int64(len(text)) {
				t.Fatalf("%d items, survey %+v, %v", len(out), survey, err)
			}
			return out, true
		}
		whole, ok := items(settings.Shard{})
		if !ok {
			return
		}
		var parts []string
		for i := range n {
			part, ok := items(settings.Shard{Index: i, Of: n})
			if !ok {
				return // damaged
			}
			parts = append(parts, part...)
		}
		if strings.Join(parts, "\n") != strings.Join(whole, "\n") {
			t.Fatalf("%d shards have\n%q, the whole has\n%q", n, parts, whole)
		}
	})
}

// However large the file, finding a shard takes the same memory.
func TestShardMemory(t *testing.T) {
	path := inputtest.Write(t, filepath.Join(t.TempDir(), "in.txt"), "")
	const size = 32 << 20
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		in, err := Open(path, nil, Options{Shard: settings.Shard{Index: i, Of: 2}})
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		// A line of the input has at most a mebibyte.
		if n := after.TotalAlloc - before.TotalAlloc; n > 6*jsonl.MaxInput {
			t.Errorf("shard %d of %d bytes takes %d bytes of memory", i, size, n)
		}
	}
}

// A line belongs to the shard that its first byte lies in.
func TestFirstByteDecides(t *testing.T) {
	t.Parallel()
	path := inputtest.Write(t, filepath.Join(t.TempDir(), "in"), "a\nb\nc\nd\neeeeeee\n")
	for i, want := range []string{"1 2", "3 4", "5", ""} {
		in, err := Open(path, nil, Options{Shard: settings.Shard{Index: i, Of: 4}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			it, err := in.Next()
			if err == io.EOF {
				break
			}
			got = append(got, fmt.Sprint(it.Line))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("shard %d has lines %q, want %q", i, got, want)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
