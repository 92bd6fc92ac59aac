package output

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
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/unpack"
)

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

// One after the other, the outputs of the shards are the output of the whole, byte for byte. So is
// the joined file, which has the manifest of the whole too.
func TestShards(t *testing.T) {
	t.Parallel()
	inputs := inputtest.Files()
	maps.Copy(inputs, inputtest.Packed(t))
	inputs["a.json"] = "[{\"text\": \"a\"}, \"b\",\n\n{\"id\": 3}, \"bad\", {\"text\":\n\"e\"}]"
	inputs["table.parquet"] = string(inputtest.Read(t, inputtest.Parquet(t, filepath.Join(t.TempDir(), "in"), 200)))
	for name, text := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := inputtest.Write(t, filepath.Join(dir, name), text)
			whole := filepath.Join(dir, "whole.jsonl")
			if _, _, err := process(t, in, whole, config{do: atOnce}); err != nil {
				t.Fatal(err)
			}
			want := inputtest.Read(t, whole)
			counts := []int{1, 2, 3, 7}
			if name == "lines" || name == "CSV.csv" {
				counts = []int{4, 5, 8, 13, 80} // more than there are lines
			}
			for _, n := range counts {
				outputs := shardsOf(t, in, dir, ".jsonl", n)
				var cat []byte
				for _, out := range outputs {
					cat = append(cat, inputtest.Read(t, out)...)
				}
				if !bytes.Equal(cat, want) {
					t.Fatalf("%d shards are\n%.500q, the whole is\n%.500q", n, cat, want)
				}
				rand.Shuffle(n, func(i, j int) { outputs[i], outputs[j] = outputs[j], outputs[i] })
				joined := filepath.Join(dir, fmt.Sprintf("joined-%d.jsonl", n))
				if _, _, err := Join(context.Background(), joined, outputs, Create); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(inputtest.Read(t, joined), want) {
					t.Fatalf("%d shards are joined to another file", n)
				}
				if got := inputtest.Read(t, manifestPath(joined)); !bytes.Equal(got, inputtest.Read(t, manifestPath(whole))) {
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
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(300))
	for _, suffix := range suffixes {
		whole := filepath.Join(dir, "whole"+suffix)
		if _, _, err := process(t, in, whole, config{do: atOnce}); err != nil {
			t.Fatal(err)
		}
		for _, from := range suffixes {
			outputs := shardsOf(t, in, t.TempDir(), from, 3)
			joined := filepath.Join(t.TempDir(), "joined"+suffix)
			records, failed, err := Join(context.Background(), joined, outputs, Create)
			if err != nil || records != 283 || failed < 20 {
				t.Fatalf("%d records, %d failed, %v", records, failed, err)
			}
			if !bytes.Equal(inputtest.Read(t, joined), inputtest.Read(t, whole)) {
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
		in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(400))
		outputs := shardsOf(t, in, dir, suffix, 3)
		want, finished := inputtest.Read(t, outputs[1]), inputtest.Read(t, manifestPath(outputs[1]))
		c := config{do: atOnce, shard: settings.Shard{Index: 1, Of: 3}, mode: Resume}
		file, records := outputs[1], want
		if suffix != ".jsonl" { // its records wait in another file
			file = partPath(outputs[1])
			records = inputtest.Read(t, shardsOf(t, in, t.TempDir(), ".jsonl", 3)[1])
		}
		for n := 0; n <= len(records); n += 1 + len(records)/40 {
			_ = os.Remove(outputs[1])
			inputtest.Write(t, file, string(records[:n]))
			if p, _, err := process(t, in, outputs[1], c); err != nil || p.Records != p.Total {
				t.Fatalf("%s, %d bytes: %+v, %v", suffix, n, p, err)
			}
			if !bytes.Equal(inputtest.Read(t, outputs[1]), want) {
				t.Fatalf("%s: resumed after %d bytes it is another file", suffix, n)
			}
			if got := inputtest.Read(t, manifestPath(outputs[1])); !bytes.Equal(got, finished) {
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
	text := inputtest.Sentences(100)
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), text)
	out := filepath.Join(dir, "out.jsonl")
	shard := settings.Shard{Index: 2, Of: 5}
	stopped := errors.New("stopped")
	if _, _, err := process(t, in, out, config{shard: shard, do: func(ctx context.Context,
		it *input.Item) (Record, error) {
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
	sum := sha256.Sum256(inputtest.Read(t, out))
	if m, err = ReadManifest(out); err != nil || *m.Finished != (Finished{p.Records, p.Failed,
		int64(len(inputtest.Read(t, out))), hex.EncodeToString(sum[:])}) {
		t.Fatalf("%+v, %v", m.Finished, err)
	}
}

// What cannot be cut is refused, with what to do.
func TestShardRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gz, err := gzipped([]byte("one\ntwo\n"))
	if err != nil {
		t.Fatal(err)
	}
	shard := settings.Shard{Index: 1, Of: 2}
	for _, c := range []struct {
		name, data, want string
		is               error
		o                input.Options
	}{
		{"in.txt", string(gz[:len(gz)-3]), "its shards are not known", unpack.ErrDamaged, input.Options{}},
		{"in.csv", "\"text\na\n", "line 1", table.ErrTable, input.Options{}},
		{"in", "a\nb\n", "limit", input.ErrShard, input.Options{Limit: 1}},
	} {
		path := inputtest.Write(t, filepath.Join(dir, c.name), c.data)
		c.o.Shard = shard
		if in, err := input.Open(path, nil, c.o); !errors.Is(err, c.is) ||
			!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", c.name, in, err)
		}
	}
	if _, err := input.Open("-", strings.NewReader("a\n"), input.Options{Shard: shard}); !errors.Is(err,
		input.ErrShard) || !strings.Contains(err.Error(), "name a file") {
		t.Errorf("a stream: %v", err)
	}
	in, err := input.Open(inputtest.Write(t, filepath.Join(dir, "in.txt"), "a\nb\n"), nil, input.Options{Shard: shard})
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
