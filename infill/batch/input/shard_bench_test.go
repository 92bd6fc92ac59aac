package input

import (
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
)

// BenchmarkOpenShard is what a shard costs before its first record: the whole file is read once,
// for its hash and for the number of lines before the shard.
func BenchmarkOpenShard(b *testing.B) {
	const line = "The old [MASK] sat down and closed his [MASK] for a [MASK] before the rain came back.\n"
	text := strings.Repeat(line, 1<<20)
	path := inputtest.Write(b, filepath.Join(b.TempDir(), "in.txt"), text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		in, err := Open(path, nil, Options{Shard: settings.Shard{Index: 7, Of: 8}})
		if err != nil {
			b.Fatal(err)
		}
		if err := in.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
