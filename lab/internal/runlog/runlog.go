// Package runlog is the file of a program that makes many runs: each finished run is a line, and
// a program that was stopped goes on where it was.
package runlog

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Read reads a file of finished runs, one JSON object a line. A last line that was cut off
// is left out, and its first byte returned; without one, that is the length of the file. A file
// that does not exist has no runs.
func Read[T any](path string) (all []T, end int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return all, end, nil
		}
		if err != nil {
			return nil, 0, err
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		all = append(all, v)
		end += int64(len(line))
	}
}

// A Log is a file that finished runs are appended to.
type Log struct{ f *os.File }

// Append opens a file behind its last whole line, which [Read] found to end at a byte.
func Append(path string, end int64) (*Log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	err = f.Truncate(end) // a line that was cut off
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Log{f}, nil
}

// Add appends a run.
func (l *Log) Add(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = l.f.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (l *Log) Close() error { return l.f.Close() }
