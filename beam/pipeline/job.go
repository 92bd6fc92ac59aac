package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/table"
	"infill/internal/disk"
)

// A Job is a file to be filled.
type Job struct {
	Source Source
	// Output begins the names of the files that are written, see [ShardPath] and [FailedPrefix].
	Output   string
	Settings *Settings
	Version  string // of the program, for records
	// ChunkLines is the number of lines that are filled at a time and, if a worker is lost, again.
	ChunkLines int
	// ShardLines is the number of records of an output file. A worker holds them in memory.
	ShardLines int
	Force      bool // output of an earlier run is fine, and Clear removes it
}

// Defaults of a Job.
const (
	DefaultChunkLines = 64
	DefaultShardLines = 10_000
)

// ErrJob is a job that makes no sense.
var ErrJob = errors.New("bad job")

// An ExistsError is output of an earlier run that Force would remove. It wraps [output.ErrExists].
type ExistsError struct{ Paths []string }

func (e *ExistsError) Error() string {
	if len(e.Paths) == 1 {
		return fmt.Sprintf("%v: %s; overwrite it, or name another", output.ErrExists, e.Paths[0])
	}
	return fmt.Sprintf("%v: %s and %d other files; overwrite them, or name another", output.ErrExists,
		e.Paths[0], len(e.Paths)-1)
}

func (e *ExistsError) Unwrap() error { return output.ErrExists }

// Check finds what would end the pipeline later: an input that cannot be read or that is a table,
// output that is there, and a place where nothing can be written. It looks from this machine, and
// leaves nothing behind.
//
// Errors wrap [ErrJob], [input.ErrNoLines], [table.ErrTable], [output.ErrIsInput],
// [output.ErrExists], or those of the file system.
func (j *Job) Check(ctx context.Context) error {
	switch {
	case j.Source.Path == "" || j.Output == "":
		return fmt.Errorf("%w: an input and an output are needed", ErrJob)
	case j.ChunkLines < 1 || j.ShardLines < 1:
		return fmt.Errorf("%w: chunks of %d lines and files of %d, both have to be 1 at least", ErrJob,
			j.ChunkLines, j.ShardLines)
	case j.Settings == nil:
		return fmt.Errorf("%w: no settings", ErrJob)
	}
	if err := j.Source.check(ctx); err != nil {
		return err
	}
	files, err := filesystem.New(ctx, j.Output)
	if err != nil {
		return fmt.Errorf("the output: %w", err)
	}
	return errors.Join(j.checkOutput(ctx, files), files.Close())
}

// check reads the first line.
func (s *Source) check(ctx context.Context) error {
	if info, err := os.Stat(s.Path); err == nil && info.IsDir() {
		return fmt.Errorf("%w: %s is a folder; name a file in it", ErrJob, s.Path)
	}
	const noTables = "; convert it to JSON lines, or fill it without Beam"
	in, done, err := s.open(ctx)
	switch {
	case errors.Is(err, table.ErrTable):
		return fmt.Errorf("the input: %w%s", err, noTables)
	case err != nil:
		return fmt.Errorf("the input: %w", err)
	}
	_, err = in.NextLine()
	switch {
	case err == io.EOF:
		err = nil
	case errors.Is(err, input.ErrNoLines):
		err = fmt.Errorf("%w%s", err, noTables)
	}
	return errors.Join(err, done())
}

// checkOutput finds what is in the way of the output.
func (j *Job) checkOutput(ctx context.Context, files filesystem.Interface) error {
	if dir := filepath.Dir(j.Output); !strings.Contains(j.Output, "://") {
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("the folder of the output: %w; make it first", err)
		}
	}
	old, err := j.old(ctx, files)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(old, j.Source.is); i >= 0 {
		return fmt.Errorf("%w: %s; name another", output.ErrIsInput, old[i])
	}
	if len(old) > 0 && !j.Force {
		return &ExistsError{old}
	}
	trial := unique(j.Output + ".trial") // a user's file is neither replaced nor removed
	err = replace(ctx, trial, nil)
	if r, ok := files.(filesystem.Remover); ok && err == nil {
		err = r.Remove(ctx, trial)
	}
	if err != nil {
		return fmt.Errorf("the output: %w", err)
	}
	return nil
}

// Clear removes the output of an earlier run, if Force is set. A smaller run would otherwise leave
// files of a larger one among its own.
func (j *Job) Clear(ctx context.Context) (err error) {
	if !j.Force {
		return nil
	}
	files, err := filesystem.New(ctx, j.Output)
	if err != nil {
		return fmt.Errorf("the output: %w", err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	old, err := j.old(ctx, files)
	if err != nil {
		return err
	}
	r, ok := files.(filesystem.Remover)
	if len(old) > 0 && !ok {
		return fmt.Errorf("%w, and its file system cannot remove files", &ExistsError{old})
	}
	for _, path := range old {
		if err := r.Remove(ctx, path); err != nil {
			return fmt.Errorf("removing earlier output: %w", err)
		}
	}
	return nil
}

// old are the files of earlier runs.
func (j *Job) old(ctx context.Context, files filesystem.Interface) (old []string, err error) {
	for _, glob := range []string{
		shardGlob(j.Output), shardGlob(FailedPrefix(j.Output)), quoted.Replace(SummaryPath(j.Output)),
	} {
		found, err := files.List(ctx, glob)
		if err != nil {
			return nil, fmt.Errorf("the output: %w", err)
		}
		old = append(old, found...)
	}
	return old, nil
}

// is reports whether a path leads to the input.
func (s *Source) is(path string) bool {
	return path == s.Path || disk.Same(path, s.Path)
}

// Build puts the job into a pipeline, with its [Summary] as the last file.
func (j *Job) Build(s beam.Scope) {
	chunks := Read(s, j.Source, j.ChunkLines, j.ShardLines)
	all, failed := Fill(s, j.Settings, j.Source.TextField, j.Version, chunks)
	j.summarize(s, Write(s, j.Output, all), Write(s, FailedPrefix(j.Output), failed))
}
