package batch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"infill/infill/settings"
	"infill/internal/disk"
)

// A JoinError is an output that is not a shard of the same run as another. It wraps [ErrJoin].
type JoinError struct {
	Path, Other string       // of the outputs
	Differences []Difference // Was is of Other, Is of Path
}

func (e *JoinError) Error() string { return e.Spell(func(name string) string { return name }) }

// Spell is the message with settings as a function spells them.
func (e *JoinError) Spell(spell func(name string) string) string {
	var parts bytes.Buffer
	for i, d := range e.Differences {
		if i > 0 {
			parts.WriteString("; ")
		}
		what := d.What
		if d.Setting {
			what = spell(what)
		}
		fmt.Fprintf(&parts, "%s is %s in %s, and %s in %s", what, d.Is, e.Path, d.Was, e.Other)
	}
	return fmt.Sprintf("%v: %s; join shards of one run only", ErrJoin, parts.String())
}

func (e *JoinError) Unwrap() error { return ErrJoin }

// finishIt is what helps against a shard that is not whole.
const finishIt = "resume it, and join then"

// A part is an output that is to be joined.
type part struct {
	path     string
	manifest *Manifest
}

// Join puts the outputs of all shards of a run one after the other, in their order, whatever
// the order of their names. The output and its manifest are those of a run of the whole input.
// The output appears whole or not at all. Outputs may be compressed, each as its name says. The
// records are compared with what the manifest of each shard says, and are otherwise not read.
//
// The mode is Create or Force. Errors wrap [ErrJoin] for outputs that are not the shards of one
// run, or not whole, and are [*JoinError] where two of them differ. The other errors are those of
// [Manifest.Open].
func Join(ctx context.Context, output string, outputs []string, mode Mode) (Progress, error) {
	parts, err := partsOf(outputs)
	if err != nil {
		return Progress{}, err
	}
	whole, err := wholeOf(parts)
	if err != nil {
		return Progress{}, err
	}
	if err := placeOfJoined(output, parts, mode); err != nil {
		return Progress{}, err
	}
	frames, err := framingOf(output)
	if err != nil {
		return Progress{}, err
	}
	p := Progress{}
	err = disk.WriteFunc(output, func(f io.Writer) error {
		w := bufio.NewWriterSize(f, 1<<20)
		o := &Output{Path: output, file: output, w: w, frames: frames}
		for _, s := range parts {
			if err := s.copy(ctx, o); err != nil {
				return err
			}
			p.Records += s.manifest.Finished.Records
			p.Failed += s.manifest.Finished.Failed
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
		return whole.write(output)
	})
	p.Total = p.Records
	return p, err
}

// partsOf reads the manifests of outputs, and puts the shards into their order.
func partsOf(outputs []string) ([]*part, error) {
	if len(outputs) == 0 {
		return nil, fmt.Errorf("%w: no outputs of shards; name all of them", ErrJoin)
	}
	var parts []*part
	for _, path := range outputs {
		m, err := ReadManifest(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%w: %s has no manifest, %s; it belongs beside each shard", ErrJoin,
				path, ManifestPath(path))
		case err != nil:
			return nil, err
		case m.Shard.Whole():
			return nil, fmt.Errorf("%w: %s is the output of a whole input, not of a shard; "+
				"leave it out", ErrJoin, path)
		}
		parts = append(parts, &part{path, m})
	}
	slices.SortStableFunc(parts, func(a, b *part) int {
		return a.manifest.Shard.Index - b.manifest.Shard.Index
	})
	return parts, nil
}

// wholeOf checks that parts are all shards of one run, finished, and returns the manifest of the
// whole.
func wholeOf(parts []*part) (*Manifest, error) {
	first := parts[0]
	whole := *first.manifest
	whole.Shard, whole.Finished = settings.Shard{}, nil
	for _, p := range parts[1:] {
		m := *p.manifest
		var d []Difference
		if was, is := first.manifest.Shard.Of, m.Shard.Of; was != is {
			d = []Difference{{"the number of shards", false, fmt.Sprint(was), fmt.Sprint(is)}}
		}
		m.Shard, m.Finished = settings.Shard{}, nil
		if d = append(d, joinDifferences(&whole, &m)...); len(d) > 0 {
			return nil, &JoinError{p.path, first.path, d}
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
			return nil, fmt.Errorf("%w: %s, shard %v, is not finished; %s", ErrJoin, p.path,
				p.manifest.Shard, finishIt)
		}
	}
	return &whole, nil
}

// joinDifferences is what two manifests disagree on. Two inputs of one name and size are told
// apart by their hashes.
func joinDifferences(was, is *Manifest) []Difference {
	d := was.differences(is)
	for i := range d {
		if d[i].Setting { // a manifest may leave it out
			d[i].Was, d[i].Is = cmp.Or(d[i].Was, "the default"), cmp.Or(d[i].Is, "the default")
		}
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

// placeOfJoined is an error if the output may not be written.
func placeOfJoined(output string, parts []*part, mode Mode) error {
	info, err := os.Stat(output)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil && isLink(output):
		return &ExistsError{output, true}
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file; name another output", ErrJoin, output)
	}
	for _, p := range parts {
		for _, path := range []string{p.path, ManifestPath(p.path)} {
			is, serr := os.Stat(path)
			if serr != nil {
				return serr
			}
			manifest, merr := os.Stat(ManifestPath(output))
			if err == nil && os.SameFile(info, is) || merr == nil && os.SameFile(manifest, is) {
				return fmt.Errorf("%w: the output or its manifest is %s; name another", ErrIsInput, path)
			}
		}
	}
	if err == nil && mode != Force {
		return &ExistsError{output, false}
	}
	l, err := Layout{}.Found(output)
	if err != nil {
		return err
	}
	if l.Rows() {
		return errRowsOfShard
	}
	return placeOfManifest(output, &Input{}, mode)
}

// copy appends the records of a shard to an output, and compares them with its manifest.
func (s *part) copy(ctx context.Context, o *Output) error {
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
	size := &counter{r: io.TeeReader(f, h)}
	r := bufio.NewReaderSize(size, 1<<16)
	records := 0
	for {
		b, _, err := frames.next(r)
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
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	was := s.manifest.Finished
	hash := hex.EncodeToString(h.Sum(nil))
	switch {
	case size.n != was.Bytes:
		return s.changed(fmt.Sprintf("%d bytes", was.Bytes), fmt.Sprintf("%d", size.n))
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
