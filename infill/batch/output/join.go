package output

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/settings"
	"infill/internal/disk"
	"infill/internal/textline"
	"infill/internal/unpack"
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
	err = disk.WriteFunc(output, func(f io.Writer) error {
		sum := newSumming()
		buffered := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<20)
		w, err := packing(output, buffered, true)
		if err != nil {
			return err
		}
		for _, s := range parts {
			if err := s.copy(ctx, w); err != nil {
				return err
			}
			records += s.manifest.Finished.Records
			failed += s.manifest.Finished.Failed
		}
		if err := errors.Join(w.Close(), buffered.Flush()); err != nil {
			return err
		}
		if mode == Force {
			// Records never stand beside the manifest of another run.
			if err := os.Remove(output); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		whole.Written = sum.sum()
		if packed(output) {
			whole.Finished = &Finished{records, failed, whole.Written.Bytes, whole.Written.SHA256}
			whole.Written = nil
		}
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
	if l.form() != asRecords {
		return errRowsOfJoin
	}
	return placeOfManifest(output, &input.Reader{}, mode)
}

// copy appends the records of a shard to an output, and compares them with its manifest.
func (s *part) copy(ctx context.Context, w io.Writer) error {
	var is Finished
	err := is.measure(s.path, func(r io.Reader) (err error) {
		is.Records, err = copyRecords(ctx, w, r)
		return err
	})
	if err != nil {
		return err
	}
	was := s.manifest.Finished
	switch {
	case is.Bytes != was.Bytes:
		return s.changed(fmt.Sprintf("%d bytes", was.Bytes), fmt.Sprint(is.Bytes))
	case is.SHA256 != was.SHA256:
		return s.changed("sha256 "+short(was.SHA256), short(is.SHA256))
	case is.Records != was.Records:
		return s.changed(fmt.Sprintf("%d records", was.Records), fmt.Sprint(is.Records))
	}
	return nil
}

// copyRecords copies whole records as far as they can be read, and says how many these are. A shard
// that is not whole has other bytes than its manifest says.
func copyRecords(ctx context.Context, w io.Writer, shard io.Reader) (records int, err error) {
	r, err := unpack.New(shard)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = r.Close() }()
	in := bufio.NewReaderSize(r, 1<<16)
	for ; ; records++ {
		line, err := textline.Read(in, maxRecord)
		if err != nil || line[len(line)-1] != '\n' || ctx.Err() != nil {
			return records, context.Cause(ctx)
		}
		if _, err := w.Write(line); err != nil {
			return records, err
		}
	}
}

// changed is the error of a shard that is not what its run finished.
func (s *part) changed(was, is string) error {
	return fmt.Errorf("%w: %s, shard %v, was finished with %s and now has %s; copy it again, or "+
		"begin it again, and join then", ErrJoin, s.path, s.manifest.Shard, was, is)
}

// partsOf reads the manifests of outputs, and puts the shards into their order. A folder stands for
// the outputs in it whose manifests say so.
func partsOf(outputs []string) (parts []*part, err error) {
	for _, path := range outputs {
		inside, before := []string{path}, len(parts)
		info, err := os.Stat(path)
		folder := err == nil && info.IsDir()
		if folder {
			if inside, err = outputsIn(path); err != nil {
				return nil, err
			}
		}
		for _, path := range inside {
			m, err := ReadManifest(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil, fmt.Errorf("%w: %s has no manifest, %s; it belongs beside each shard", ErrJoin,
					path, manifestPath(path))
			case err != nil:
				return nil, err
			case !m.Shard.Whole():
				parts = append(parts, &part{path, m})
			case !folder:
				return nil, fmt.Errorf("%w: %s is the output of a whole input, not of a shard; "+
					"leave it out", ErrJoin, path)
			}
		}
		if folder && len(parts) == before {
			return nil, fmt.Errorf("%w: %s has no manifest of a shard; name the folder of the shards, or "+
				"all of them", ErrJoin, path)
		}
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: no outputs of shards; name all of them", ErrJoin)
	}
	slices.SortStableFunc(parts, func(a, b *part) int {
		return a.manifest.Shard.Index - b.manifest.Shard.Index
	})
	return parts, nil
}

// outputsIn are the outputs in a folder that have a manifest.
func outputsIn(folder string) (out []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), manifestPath("")); ok && name != "" {
			out = append(out, filepath.Join(folder, name))
		}
	}
	return out, err
}

// wholeOf checks that parts are all shards of one run, finished, and returns the manifest of the
// whole.
func wholeOf(parts []*part) (*Manifest, error) {
	first := parts[0]
	whole := *first.manifest
	whole.Shard, whole.Written, whole.Finished = settings.Shard{}, nil, nil
	for _, p := range parts[1:] {
		m := *p.manifest
		var d []Difference
		if was, is := first.manifest.Shard.Of, m.Shard.Of; was != is {
			d = []Difference{{"the number of shards", false, fmt.Sprint(was), fmt.Sprint(is)}}
		}
		m.Shard, m.Finished = settings.Shard{}, nil
		if d = append(d, joinDifferences(&whole, &m)...); len(d) > 0 {
			return nil, &MismatchError{d, p.path, first.path}
		}
	}
	var missing []string
	next := 0
	for i, p := range parts {
		at := p.manifest.Shard.Index
		if i > 0 && at == parts[i-1].manifest.Shard.Index {
			return nil, fmt.Errorf("%w: %s and %s are both shard %v; leave one out", ErrJoin,
				parts[i-1].path, p.path, p.manifest.Shard)
		}
		missing = append(missing, gap(next, at)...)
		next = at + 1
	}
	of := first.manifest.Shard.Of
	if missing = append(missing, gap(next, of)...); len(missing) > 0 {
		return nil, fmt.Errorf("%w: of %d shards there are %d, and these are missing: %s; name all of "+
			"them", ErrJoin, of, len(parts), join(missing))
	}
	for _, p := range parts {
		if p.manifest.Finished == nil {
			return nil, fmt.Errorf("%w: %s, shard %v, is not finished; resume it, and join then",
				ErrJoin, p.path, p.manifest.Shard)
		}
		if _, err := os.Stat(p.path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s, shard %v, is not there, only its manifest; copy it again, "+
				"or begin it again, and join then", ErrJoin, p.path, p.manifest.Shard)
		}
	}
	return &whole, nil
}

// joinDifferences is what two manifests disagree on. Two inputs of one name and size are told
// apart by their hashes.
func joinDifferences(was, is *Manifest) []Difference {
	d := was.differences(is)
	for i := range d {
		if d[i].What == "the input" && d[i].Was == d[i].Is {
			d[i].Was += ", sha256 " + short(was.SHA256)
			d[i].Is += ", sha256 " + short(is.SHA256)
		}
	}
	return d
}

// short is the beginning of a hash.
func short(hash string) string { return hash[:min(len(hash), 12)] }

// gap are the numbers from one to another, in words that stay short.
func gap(from, to int) []string {
	switch to - from {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprint(from)}
	}
	return []string{fmt.Sprintf("%d to %d", from, to-1)}
}

// join lists words, and leaves out those that nobody would read.
func join(words []string) string {
	const most = 10
	var b bytes.Buffer
	for i, w := range words {
		switch {
		case i == most:
			fmt.Fprintf(&b, " and %d more", len(words)-most)
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(w)
	}
	return b.String()
}

// A part is an output that is to be joined.
type part struct {
	path     string
	manifest *Manifest
}
