package batch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// shardInputs are files whose lines are hard to cut.
func shardInputs() map[string]string {
	return map[string]string{
		"lines":           sentences(60),
		"nothing":         "",
		"one byte":        "a",
		"one end":         "\n",
		"blank lines":     "\n\n \r\n\na b\n\n\t\n",
		"CRLF":            "one\r\ntwo\r\n\r\nthree\r\nbad 4\r\nfive",
		"a mark":          "\ufeffone\n\ufefftwo\nthree\n",
		"a mark, alone":   "\ufeff",
		"two marks":       "\ufeff\ufeff0\n1",
		"a long line":     "a\n" + strings.Repeat("x", 3*textline.PeekSize) + "\nb\n",
		"too long":        "a\n" + strings.Repeat("y", jsonl.MaxInput+5) + "\nb\nc",
		"magic in a line": "one\n\x1f\x8btwo\n(\xb5/\xfdthree\nPAR1\nfour\n",
		"JSON lines": "{\"text\":\"a\",\"id\":1}\n\nno json\n{\"text\":\"b\"}\n" +
			"{\"text\":\"c\",\"id\":\"c\",\"line\":7}\n{\"text\":\"d\"}",
		"CSV.csv":    "id,text\n1,\"a\nb\"\n2,c\n3,\"bad\n\n\nrow\"\n4\n5,\"d \"\"e\"\"\n\"\n6,f",
		"TSV.tsv":    "text\n\"a\nc\"\n\nd\n",
		"header.csv": "text\n",
		"JSON later": "text comes first\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n",
	}
}

// packedInputs are the first of them, compressed.
func packedInputs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, suffix := range suffixes[1:] {
		frames, err := framingOf(suffix)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"lines", "JSON lines", "CSV.csv", "nothing", "a mark"} {
			b, err := frames.encode([]byte(shardInputs()[name]))
			if err != nil {
				t.Fatal(err)
			}
			out[name+suffix[len(".jsonl"):]] = string(b)
		}
	}
	return out
}

// shardsOf works through every shard of an input and returns the outputs.
func shardsOf(t *testing.T, in, dir, suffix string, n int) (outputs []string) {
	t.Helper()
	for i := range n {
		out := filepath.Join(dir, fmt.Sprintf("part-%d-of-%d%s", i, n, suffix))
		p, _, err := process(t, in, out, config{do: atOnce, shard: settings.Shard{Index: i, Of: n}})
		if err != nil || p.Records != p.Total {
			t.Fatalf("shard %d/%d: %+v, %v", i, n, p, err)
		}
		outputs = append(outputs, out)
	}
	return outputs
}

// One after the other, the outputs of the shards are that of the whole, byte for byte, and joined
// they are so, too, with its manifest.
func TestShards(t *testing.T) {
	t.Parallel()
	inputs := shardInputs()
	maps.Copy(inputs, packedInputs(t))
	inputs["a.json"] = "[{\"text\": \"a\"}, \"b\",\n\n{\"id\": 3}, \"bad\", {\"text\":\n\"e\"}]"
	inputs["table.parquet"] = string(read(t, parquetFile(t, filepath.Join(t.TempDir(), "in"), 200)))
	for name, text := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := write(t, filepath.Join(dir, name), text)
			whole := filepath.Join(dir, "whole.jsonl")
			if _, _, err := process(t, in, whole, config{do: atOnce}); err != nil {
				t.Fatal(err)
			}
			want := read(t, whole)
			counts := []int{1, 2, 3, 7}
			if name == "lines" || name == "CSV.csv" {
				counts = []int{4, 5, 8, 13, 80} // more than there are lines
			}
			for _, n := range counts {
				outputs := shardsOf(t, in, dir, ".jsonl", n)
				var cat []byte
				for _, out := range outputs {
					cat = append(cat, read(t, out)...)
				}
				if !bytes.Equal(cat, want) {
					t.Fatalf("%d shards are\n%.500q, the whole is\n%.500q", n, cat, want)
				}
				rand.Shuffle(n, func(i, j int) { outputs[i], outputs[j] = outputs[j], outputs[i] })
				joined := filepath.Join(dir, fmt.Sprintf("joined-%d.jsonl", n))
				if _, err := Join(context.Background(), joined, outputs, Create, nil); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(read(t, joined), want) {
					t.Fatalf("%d shards are joined to another file", n)
				}
				if got := read(t, ManifestPath(joined)); !bytes.Equal(got, read(t, ManifestPath(whole))) {
					t.Errorf("the manifest of %d shards is %s", n, got)
				}
			}
		})
	}
}

// Compressed outputs are joined to the bytes of a run of the whole, in whatever form.
func TestJoinCompressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := write(t, filepath.Join(dir, "in.txt"), sentences(300))
	for _, suffix := range suffixes {
		whole := filepath.Join(dir, "whole"+suffix)
		if _, _, err := process(t, in, whole, config{do: atOnce}); err != nil {
			t.Fatal(err)
		}
		for _, from := range suffixes {
			outputs := shardsOf(t, in, t.TempDir(), from, 3)
			joined := filepath.Join(t.TempDir(), "joined"+suffix)
			p, err := Join(context.Background(), joined, outputs, Create, unsaid)
			if err != nil || p.Records != 283 || p.Failed < 20 {
				t.Fatalf("%+v, %v", p, err)
			}
			if !bytes.Equal(read(t, joined), read(t, whole)) {
				t.Errorf("%s joined to %s is another file than that of the whole", from, suffix)
			}
		}
	}
}

// A shard that was cut off anywhere goes on to the same bytes, and is then whole for Join.
func TestResumedShard(t *testing.T) {
	t.Parallel()
	for _, suffix := range suffixes {
		dir := t.TempDir()
		in := write(t, filepath.Join(dir, "in.txt"), sentences(400))
		outputs := shardsOf(t, in, dir, suffix, 3)
		want, finished := read(t, outputs[1]), read(t, ManifestPath(outputs[1]))
		c := config{do: atOnce, shard: settings.Shard{Index: 1, Of: 3}, mode: Resume}
		for n := 0; n <= len(want); n += 1 + len(want)/40 {
			write(t, outputs[1], string(want[:n]))
			if p, _, err := process(t, in, outputs[1], c); err != nil || p.Records != p.Total {
				t.Fatalf("%s, %d bytes: %+v, %v", suffix, n, p, err)
			}
			if !bytes.Equal(read(t, outputs[1]), want) {
				t.Fatalf("%s: resumed after %d bytes it is another file", suffix, n)
			}
			if got := read(t, ManifestPath(outputs[1])); !bytes.Equal(got, finished) {
				t.Fatalf("%s: its manifest is %s", suffix, got)
			}
		}
		for what, other := range map[string]settings.Shard{"shard was 1/3, is 2/3": {Index: 2, Of: 3},
			"shard was 1/3, is 1/4": {Index: 1, Of: 4}, "shard was 1/3, is the whole input": {}} {
			c.shard = other
			if _, _, err := process(t, in, outputs[1], c); !errors.Is(err, ErrMismatch) ||
				!strings.Contains(err.Error(), what) {
				t.Errorf("%v: %v", other, err)
			}
		}
	}
}

// A manifest says what is read, and what came of it.
func TestManifestOfShard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := sentences(100)
	in := write(t, filepath.Join(dir, "in.txt"), text)
	out := filepath.Join(dir, "out.jsonl")
	shard := settings.Shard{Index: 2, Of: 5}
	stopped := errors.New("stopped")
	if _, _, err := process(t, in, out, config{shard: shard, do: func(ctx context.Context,
		it *Item) (Record, error) {
		if it.Line > 45 {
			return Record{}, stopped
		}
		return atOnce(ctx, it)
	}}); !errors.Is(err, stopped) {
		t.Fatal(err)
	}
	m, err := ReadManifest(out)
	if err != nil || m.Shard != shard || m.Bytes != int64(len(text)) || m.Finished != nil {
		t.Fatalf("%+v, %v", m, err)
	}
	p, _, err := process(t, in, out, config{shard: shard, mode: Resume})
	if err != nil || p.Resumed == 0 || p.Resumed == p.Records {
		t.Fatalf("%+v, %v", p, err)
	}
	sum := sha256.Sum256(read(t, out))
	if m, err = ReadManifest(out); err != nil || *m.Finished != (finished{p.Records, p.Failed,
		int64(len(read(t, out))), hex.EncodeToString(sum[:])}) {
		t.Fatalf("%+v, %v", m.Finished, err)
	}
}

// What cannot be cut is refused, with what to do.
func TestShardRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gz, err := gzipFrames{}.encode([]byte("one\ntwo\n"))
	if err != nil {
		t.Fatal(err)
	}
	shard := settings.Shard{Index: 1, Of: 2}
	for _, c := range []struct {
		name, data, want string
		is               error
		o                InputOptions
	}{
		{"in.txt", string(gz[:len(gz)-3]), "its shards are not known", unpack.ErrDamaged, InputOptions{}},
		{"in.csv", "\"text\na\n", "line 1", table.ErrTable, InputOptions{}},
		{"in", "a\nb\n", "limit", ErrShard, InputOptions{Limit: 1}},
	} {
		path := write(t, filepath.Join(dir, c.name), c.data)
		c.o.Shard = shard
		if in, err := Open(path, nil, c.o); !errors.Is(err, c.is) ||
			!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", c.name, in, err)
		}
	}
	if _, err := Open("-", strings.NewReader("a\n"), InputOptions{Shard: shard}); !errors.Is(err,
		ErrShard) || !strings.Contains(err.Error(), "name a file") {
		t.Errorf("a stream: %v", err)
	}
	in, err := Open(write(t, filepath.Join(dir, "in.txt"), "a\nb\n"), nil, InputOptions{Shard: shard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	for _, l := range []Layout{{Format: settings.FormatCSV}, {Format: settings.FormatParquet},
		{Per: settings.PerFilling}} {
		if _, err := manifest().Open(filepath.Join(dir, "out"), in, Create, l); !errors.Is(err,
			ErrLayout) {
			t.Errorf("%+v: %v", l, err)
		}
		if _, err := l.Stream(io.Discard, in); !errors.Is(err, ErrLayout) {
			t.Errorf("a stream of %+v: %v", l, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("%d files, %v", len(left), err)
	}
}

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
	for _, text := range shardInputs() {
		if len(text) < 1<<12 {
			f.Add(text, 3)
		}
	}
	f.Add("\x1f\x8b", 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n = 1 + n%9; n < 1 || len(text) > 1<<16 {
			return
		}
		path := write(t, filepath.Join(t.TempDir(), "in"), text)
		items := func(s settings.Shard) (out []string, ok bool) {
			in, err := Open(path, nil, InputOptions{Shard: s})
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
	path := write(t, filepath.Join(t.TempDir(), "in.txt"), "")
	const size = 32 << 20
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		in, err := Open(path, nil, InputOptions{Shard: settings.Shard{Index: i, Of: 2}})
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
	path := write(t, filepath.Join(t.TempDir(), "in"), "a\nb\nc\nd\neeeeeee\n")
	for i, want := range []string{"1 2", "3 4", "5", ""} {
		in, err := Open(path, nil, InputOptions{Shard: settings.Shard{Index: i, Of: 4}})
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
