package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"infill/infill/batch/input"
	"infill/infill/settings"
)

// A Source is a file of text or JSON lines, maybe compressed by gzip or zstd.
type Source struct {
	Path   string // of a file system that Beam knows
	Format settings.Format
	// TextField is the field of JSON lines that has the text; "" is "text".
	TextField string
	Limit     int // the number of records that are read, 0 for all
}

// options say the same to package batch.
func (s *Source) options() input.Options {
	return input.Options{Format: s.Format, TextField: s.TextField, Limit: s.Limit}
}

// A Chunk is a run of lines of the input that are not empty.
type Chunk struct {
	Number int // among the chunks of the input, from 0
	Shard  int // the output file that its records belong to, from 0
	Format int // of the lines, a [settings.Format]
	Lines  []input.Line
}

// MaxShards bounds the number of output files: their names have five digits, so that the order of
// the names is the order of the files.
const MaxShards = 100_000

// ErrShards is an input that would give more than [MaxShards] output files.
var ErrShards = errors.New("too many output files")

// Cut reads an input and calls emit with its chunks in order. A chunk has at most chunk lines, and
// those of a shard have shard lines together.
func Cut(in *input.Reader, chunk, shard int, emit func(Chunk)) error {
	if chunk < 1 || shard < 1 {
		return fmt.Errorf("%w: chunks of %d lines and files of %d", ErrJob, chunk, shard)
	}
	c := Chunk{Format: int(in.Format())}
	for read := 0; ; read++ {
		l, err := in.NextLine()
		if err == nil && read/shard == MaxShards {
			err = fmt.Errorf("line %d: %w: more than %d of %d lines; write larger ones", l.Number,
				ErrShards, MaxShards, shard)
		}
		if len(c.Lines) == chunk || len(c.Lines) > 0 && (err != nil || read/shard > c.Shard) {
			emit(c)
			c.Number, c.Lines = c.Number+1, nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		c.Shard = read / shard
		c.Lines = append(c.Lines, l)
	}
}

// Read reads a file in one pass, because only the lines before it give a line its number. The
// chunks then go to all workers. It is a PCollection of [Chunk].
func Read(s beam.Scope, src Source, chunk, shard int) beam.PCollection {
	s = s.Scope("infill.Read")
	chunks := beam.ParDo(s, &readFn{Source: src, Chunk: chunk, Shard: shard}, beam.Create(s, src.Path))
	return beam.Reshuffle(s, chunks)
}

type readFn struct {
	Source       Source
	Chunk, Shard int
}

// ProcessElement reads the file of a name.
func (f *readFn) ProcessElement(ctx context.Context, path string, emit func(Chunk)) (err error) {
	in, done, err := f.Source.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return Cut(in, f.Chunk, f.Shard, emit)
}

// open opens the file. done closes it.
func (s *Source) open(ctx context.Context) (in *input.Reader, done func() error, err error) {
	files, err := filesystem.New(ctx, s.Path)
	if err != nil {
		return nil, nil, err
	}
	r, err := files.OpenRead(ctx, s.Path)
	if err != nil {
		return nil, nil, errors.Join(err, files.Close())
	}
	if in, err = input.OpenStream(s.Path, r, s.options()); err != nil {
		return nil, nil, errors.Join(err, r.Close(), files.Close())
	}
	return in, func() error { return errors.Join(in.Close(), r.Close(), files.Close()) }, nil
}

func init() {
	register.DoFn3x1[context.Context, string, func(Chunk), error](&readFn{})
	register.Emitter1[Chunk]()
}
