package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"infill/infill/settings"
)

// partsOf reads the manifests of outputs, and puts the shards into their order.
func partsOf(outputs []string) ([]*part, error) {
	var parts []*part
	for _, path := range outputs {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			inside, err := partsIn(path)
			if err != nil {
				return nil, err
			}
			parts = append(parts, inside...)
			continue
		}
		m, err := ReadManifest(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%w: %s has no manifest, %s; it belongs beside each shard", ErrJoin,
				path, manifestPath(path))
		case err != nil:
			return nil, err
		case m.Shard.Whole():
			return nil, fmt.Errorf("%w: %s is the output of a whole input, not of a shard; "+
				"leave it out", ErrJoin, path)
		}
		parts = append(parts, &part{path, m})
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: no outputs of shards; name all of them", ErrJoin)
	}
	slices.SortStableFunc(parts, func(a, b *part) int {
		return a.manifest.Shard.Index - b.manifest.Shard.Index
	})
	return parts, nil
}

// partsIn are the shards in a folder: the outputs there whose manifests say so.
func partsIn(folder string) ([]*part, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var parts []*part
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), manifestPath(""))
		if !ok || name == "" {
			continue
		}
		path := filepath.Join(folder, name)
		m, err := ReadManifest(path)
		if err != nil {
			return nil, err
		}
		if !m.Shard.Whole() {
			parts = append(parts, &part{path, m})
		}
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: %s has no manifest of a shard; name the folder of the shards, or "+
			"all of them", ErrJoin, folder)
	}
	return parts, nil
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
			return nil, fmt.Errorf("%w: %s, shard %v, is not finished; %s", ErrJoin, p.path,
				p.manifest.Shard, finishIt)
		}
		if _, err := os.Stat(p.path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s, shard %v, is not there, only its manifest; copy it again, or %s",
				ErrJoin, p.path, p.manifest.Shard, finishIt)
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

// finishIt is what helps against a shard that is not whole.
const finishIt = "resume it, and join then"

// A part is an output that is to be joined.
type part struct {
	path     string
	manifest *Manifest
}
