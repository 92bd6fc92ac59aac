package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// ShardPath is the name of an output file, from 0.
func ShardPath(prefix string, shard int) string {
	return fmt.Sprintf("%s-%05d.jsonl", prefix, shard)
}

// FailedPrefix is the prefix of the files with the records of lines that failed, beside those of
// all records.
func FailedPrefix(prefix string) string { return prefix + "-failed" }

// shardGlob matches the names that ShardPath gives.
func shardGlob(prefix string) string {
	return quoted.Replace(prefix) + "-[0-9][0-9][0-9][0-9][0-9].jsonl"
}

// quoted takes the meaning in patterns from the characters of a name.
var quoted = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// A File is an output file that was written.
type File struct {
	Path            string
	Chunks, Records int // in it
}

// Write writes parts, KV<int, [Part]>, into a file for each shard, in the order of the input. It is
// a PCollection of [File]. A file appears whole, under a name that its shard alone decides: a
// second attempt replaces it by the same bytes. A worker holds the records of one shard.
func Write(s beam.Scope, prefix string, parts beam.PCollection) beam.PCollection {
	s = s.Scope("infill.Write")
	return beam.ParDo(s, &writeFn{Prefix: prefix}, beam.GroupByKey(s, parts))
}

type writeFn struct{ Prefix string }

// ProcessElement writes a shard.
func (f *writeFn) ProcessElement(ctx context.Context, shard int, next func(*Part) bool,
	emit func(File)) error {
	var parts []Part
	for {
		var p Part
		if !next(&p) {
			break
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b Part) int { return a.Chunk - b.Chunk })
	var text bytes.Buffer
	done := File{Path: ShardPath(f.Prefix, shard), Chunks: len(parts)}
	for _, p := range parts {
		done.Records += len(p.Records)
		for _, r := range p.Records {
			text.Write(r)
			text.WriteByte('\n')
		}
	}
	if err := replace(ctx, done.Path, text.Bytes()); err != nil {
		return fmt.Errorf("writing %s: %w", done.Path, err)
	}
	emit(done)
	return nil
}

// replace writes a file whole or not at all, whoever else writes it at the same time.
func replace(ctx context.Context, path string, text []byte) (err error) {
	files, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	part := unique(path + ".part")
	err = filesystem.Write(ctx, files, part, text)
	if err == nil {
		err = filesystem.Rename(ctx, files, part, path)
	}
	if r, ok := files.(filesystem.Remover); ok && err != nil {
		_ = r.Remove(ctx, part) // it may not be there
	}
	return err
}

// unique is a name that no other file has.
func unique(prefix string) string { return fmt.Sprintf("%s-%016x", prefix, rand.Uint64()) }

func init() {
	register.DoFn4x1[context.Context, int, func(*Part) bool, func(File), error](&writeFn{})
	register.Emitter1[File]()
	register.Iter1[Part]()
}
