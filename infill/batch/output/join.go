package output

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"infill/infill/batch/input"
	"infill/internal/disk"
)

// Join puts the outputs of all shards of a run one after the other, in their order, whatever the
// order of their names. A folder stands for the outputs of shards in it. The output and its
// manifest are the same as from a run of the whole input. The output appears whole or not at all.
// Outputs may be compressed, each as its name says. The records are compared with what the manifest
// of each shard says, and are otherwise not read.
//
// The mode is Create or Force. Errors wrap [ErrJoin] for outputs that are not shards of one run, or
// not whole: a [*MismatchError] where two outputs differ. Other errors come from [Manifest.Open].
func Join(ctx context.Context, output string, outputs []string, mode Mode) (records, failed int,
	err error) {
	parts, err := partsOf(outputs)
	if err != nil {
		return 0, 0, err
	}
	whole, err := wholeOf(parts)
	if err != nil {
		return 0, 0, err
	}
	if err := placeOfJoined(output, parts, mode); err != nil {
		return 0, 0, err
	}
	frames, err := framingOf(output)
	if err != nil {
		return 0, 0, err
	}
	err = disk.WriteFunc(output, func(f io.Writer) error {
		h := sha256.New()
		w := bufio.NewWriterSize(io.MultiWriter(f, h), 1<<20)
		o := &frameWriter{name: output, w: w, frames: frames}
		for _, s := range parts {
			if err := s.copy(ctx, o); err != nil {
				return err
			}
			records += s.manifest.Finished.Records
			failed += s.manifest.Finished.Failed
		}
		if err := errors.Join(o.finish(true), w.Flush()); err != nil {
			return err
		}
		if mode == Force {
			// Records never stand beside the manifest of another run.
			if err := os.Remove(output); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		whole.Written = sumOf(o.offset, h)
		return whole.write(output)
	})
	return records, failed, err
}

// placeOfJoined is an error if the output may not be written.
func placeOfJoined(output string, parts []*part, mode Mode) error {
	info, err := os.Stat(output)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil && isLink(output):
		return &ExistsError{Path: output, Link: true, Join: true}
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file; name another output", ErrJoin, output)
	}
	for _, p := range parts {
		for _, path := range []string{p.path, manifestPath(p.path)} {
			if disk.Same(output, path) || disk.Same(manifestPath(output), path) {
				return fmt.Errorf("%w: the output or its manifest is %s; name another", ErrIsInput, path)
			}
		}
	}
	if err == nil && mode != Force {
		return &ExistsError{Path: output, Join: true}
	}
	l, err := Layout{}.Found(output)
	if err != nil {
		return err
	}
	if l.Whole() {
		return errRowsOfJoin
	}
	return placeOfManifest(output, &input.Reader{}, mode)
}

// copy appends the records of a shard to an output, and compares them with its manifest.
func (s *part) copy(ctx context.Context, o *frameWriter) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	frames, err := framingOf(s.path)
	if err != nil {
		return err
	}
	h := sha256.New()
	r := newFrameReader(frames, io.TeeReader(f, h))
	records := 0
	for {
		b, _, err := r.next()
		if err == io.EOF || errors.Is(err, errTorn) {
			break // a shard that is not whole has other bytes than its manifest says
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		for line := range bytes.Lines(b) {
			records++
			if err := o.write(line); err != nil {
				return err
			}
		}
	}
	if _, err := io.Copy(io.Discard, r.buf); err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekCurrent) // all of it was read
	if err != nil {
		return err
	}
	was := s.manifest.Finished
	hash := hex.EncodeToString(h.Sum(nil))
	switch {
	case size != was.Bytes:
		return s.changed(fmt.Sprintf("%d bytes", was.Bytes), fmt.Sprintf("%d", size))
	case hash != was.SHA256:
		return s.changed("sha256 "+short(was.SHA256), short(hash))
	case records != was.Records:
		return s.changed(fmt.Sprintf("%d records", was.Records), fmt.Sprint(records))
	}
	return nil
}

// changed is the error of a shard that is not what its run finished.
func (s *part) changed(was, is string) error {
	return fmt.Errorf("%w: %s, shard %v, was finished with %s and now has %s; copy it again, or %s",
		ErrJoin, s.path, s.manifest.Shard, was, is, finishIt)
}
