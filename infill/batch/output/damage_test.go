package output

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
	"infill/internal/testmode"
)

// Every byte of an output is changed in turn, of one that is finished and of one that is not, in
// each format. A run that goes on ends with the bytes of a run without damage, or refuses, and then
// names the file. Long files have some of their bytes changed, and all of them in the long tests.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"out.jsonl", "out.jsonl.gz", "out.jsonl.zst", "out.csv", "out.tsv",
		"out.parquet", "out.json", "out.txt", "shard.jsonl"} {
		for _, finished := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				damage(t, name, finished)
			})
		}
	}
}

// Two frames of a few records have all places that can be damaged, and are read in a tenth of the
// time.
func init() { frameRecords = 6 }

func damage(t *testing.T, name string, finished bool) {
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), "one\nbad\ntwo\nthree\n")
	stop := 3
	if packed := filepath.Ext(name); packed == ".gz" || packed == ".zst" { // more than one frame
		in = inputtest.Write(t, filepath.Join(dir, "in.txt"), strings.Repeat("one\n", frameRecords+2))
		stop = frameRecords + 2
	}
	c := config{do: filled, mode: Resume}
	if strings.HasPrefix(name, "shard") {
		c.shard = settings.Shard{Index: 0, Of: 2}
	}
	whole, out := filepath.Join(dir, "whole-"+name), filepath.Join(dir, name)
	if _, _, err := process(t, in, whole, c); err != nil {
		t.Fatal(err)
	}
	want := inputtest.Read(t, whole)
	first := c
	file := out
	if !finished {
		stopped := errors.New("stopped")
		seen := 0
		first.do = func(ctx context.Context, it *input.Item) (Record, error) {
			if seen++; seen == stop {
				return Record{}, stopped
			}
			return filled(ctx, it)
		}
		if l, err := (Layout{}).Found(name); err != nil || l.Whole() {
			file = partPath(out)
		}
	}
	if _, _, err := process(t, in, out, first); (err == nil) != finished && c.shard.Whole() {
		t.Fatal(err)
	}
	is, manifest := inputtest.Read(t, file), inputtest.Read(t, manifestPath(out))
	refused, step := 0, 1
	if !testmode.All() {
		step += len(is) / 200
	}
	for i := 0; i < len(is); i += step {
		bad, bit := bytes.Clone(is), byte(1)<<(i%8)
		bad[i] ^= bit
		inputtest.Write(t, file, string(bad))
		inputtest.Write(t, manifestPath(out), string(manifest))
		if file != out {
			_ = os.Remove(out) // of the round before
		}
		switch _, _, err := process(t, in, out, c); {
		case err == nil && !bytes.Equal(inputtest.Read(t, out), want):
			t.Fatalf("byte %d of %d, bit %#x: another file", i, len(is), bit)
		case err != nil && !strings.Contains(err.Error(), file):
			t.Fatalf("byte %d, bit %#x: %v does not name %s", i, bit, err, file)
		case err != nil:
			refused++
			if !bytes.Equal(inputtest.Read(t, file), bad) ||
				!bytes.Equal(inputtest.Read(t, manifestPath(out)), manifest) {
				t.Fatalf("byte %d, bit %#x: refused, and changed: %v", i, bit, err)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	inputtest.Write(t, file, string(is))
	inputtest.Write(t, manifestPath(out), string(manifest))
	if _, _, err := process(t, in, out, c); err != nil || !bytes.Equal(inputtest.Read(t, out), want) {
		t.Errorf("without damage: %v", err)
	}
}
