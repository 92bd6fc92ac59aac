package cache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"infill/internal/disk"
	"infill/mlm/onnx"
)

// Weights that have no file of their own on the disk, because a model stores them in few bits or a
// derivation made them, are kept in one that the runtime maps. In memory they would lie beside what
// the runtime makes of them. The file has them one after the other, and at its end the SHA-256 of
// all before and of its name. The name is the SHA-256 of what the weights are made from, so that it
// is known before any is unpacked, and graphs with the same weights share the file.

// ErrTooLarge is returned for weights that are too large for the cache.
var ErrTooLarge = errors.New("the weights are larger than the cache keeps")

// ExternalMin is the size from which on a weight is left where it is on disk
// instead of being handed to the runtime inside the graph, in bytes.
const ExternalMin = 4096

const (
	// weightsLayout changes with the layout, and with the numbers that package weights gives.
	weightsLayout = "infill weights 2"
	weightsAlign  = 64
	// weightsPart is how much of a weight is unpacked at a time, in bytes.
	weightsPart = 8 << 20
	// recheck is how long the hash of weights goes by the file's size and time.
	recheck = 24 * time.Hour
)

// KeepWeights moves the large weights of a graph to a file of the cache, unless they have files of
// their own. It gives the graph that refers to it and the file's name. model is the hash of the
// model. m is not changed. Errors are [ErrTooLarge], or come from the disk or the weights.
func (c *Graphs) KeepWeights(model string, m *onnx.Model) (*onnx.Model, string, error) {
	loose := int64(0)
	for _, t := range m.Graph.Initializers {
		if _, inMemory := t.Source(); t.ByteLen() >= ExternalMin && (c.stored != "" || inMemory) {
			loose += t.ByteLen()
		}
	}
	if loose == 0 || loose < c.max.Least {
		return m, "", nil
	}
	out := m.Clone()
	list, name, size, err := layout(model, out.Graph)
	if err != nil {
		return nil, "", err
	}
	if size > c.max.Bytes/2 {
		return nil, "", ErrTooLarge
	}
	if !c.whole(name) {
		if err := c.writeWeights(name, size, list); err != nil {
			return nil, "", err
		}
	}
	return out, name, nil
}

// A placed weight has its data at an offset of the file.
type placed struct {
	t  *onnx.Tensor
	at int64
}

// layout places the large weights of a graph, which become ones of the file. Those that are
// read from one place, or from a part of it, are written once. size is the file's.
func layout(model string, g *onnx.Graph) (list []placed, name string, size int64, err error) {
	all := sha256.New()
	fmt.Fprintln(all, weightsLayout, model)
	large := []*onnx.Tensor{}
	for _, t := range g.Initializers {
		if t.ByteLen() >= ExternalMin {
			large = append(large, t)
		}
	}
	slices.SortFunc(large, bySource)
	seen := map[string]int64{}
	for _, t := range large {
		from, inMemory := t.Source()
		id := fmt.Sprint(t.Type, from)
		if inMemory {
			data, err := t.Bytes()
			if err != nil {
				return nil, "", 0, err
			}
			id = fmt.Sprintf("%v %x", t.Type, sha256.Sum256(data))
		}
		at, ok := seen[id]
		if k := len(list) - 1; !ok && k >= 0 && !inMemory {
			at, ok = list[k].part(t)
		}
		if !ok {
			at = size
			whole := *t
			list = append(list, placed{&whole, at})
			size += (t.ByteLen() + weightsAlign - 1) / weightsAlign * weightsAlign
			fmt.Fprintln(all, id)
		}
		seen[id] = at
		t.Origin.Offset, t.Origin.Length = at, t.ByteLen()
	}
	name = hex.EncodeToString(all.Sum(nil)) + weightsSuffix
	for _, t := range large {
		t.Origin.File = name
	}
	return list, name, size + sha256.Size, nil
}

// bySource orders weights by the file and the place that they are read from, a whole before its
// parts, and those in memory by their names.
func bySource(a, b *onnx.Tensor) int {
	x, _ := a.Source()
	y, _ := b.Source()
	return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(a.Type, b.Type),
		cmp.Compare(x.Offset, y.Offset), cmp.Compare(y.Length, x.Length),
		cmp.Compare(a.Name, b.Name))
}

// part is where t lies in the file if it is read from a part of what p is read from.
func (p placed) part(t *onnx.Tensor) (at int64, ok bool) {
	whole, inMemory := p.t.Source()
	from, _ := t.Source()
	if inMemory || t.Type != p.t.Type || from.File != whole.File || from.Offset < whole.Offset ||
		from.Offset+from.Length > whole.Offset+whole.Length || whole.Length == 0 {
		return 0, false
	}
	return p.at + (from.Offset-whole.Offset)*p.t.ByteLen()/whole.Length, true
}

// isWeights reports whether a name is one that layout gives.
func isWeights(name string) bool {
	sum, ok := strings.CutSuffix(name, weightsSuffix)
	b, err := hex.DecodeString(sum)
	return ok && err == nil && len(b) == sha256.Size
}

// writeWeights writes a file of weights.
func (c *Graphs) writeWeights(name string, size int64, list []placed) error {
	if err := disk.Room(c.dir, size); err != nil {
		return err
	}
	err := c.writeFunc(filepath.Join(c.dir, name), func(file io.Writer) error {
		h := sha256.New()
		w, at := io.MultiWriter(file, h), int64(0)
		for _, p := range list {
			if _, err := w.Write(make([]byte, p.at-at)); err != nil {
				return err
			}
			if err := unpack(w, p.t); err != nil {
				return err
			}
			at = p.at + p.t.ByteLen()
		}
		if _, err := w.Write(make([]byte, size-sha256.Size-at)); err != nil {
			return err
		}
		_, err := file.Write(endOf(h, name))
		return err
	})
	if err == nil {
		c.remember(name)
		c.prune()
	}
	return err
}

// endOf is the end of a file. h has hashed the rest.
func endOf(h hash.Hash, name string) []byte {
	_, _ = io.WriteString(h, name) // never fails
	return h.Sum(nil)
}

// unpack writes the data of a weight, a large one in parts.
func unpack(w io.Writer, t *onnx.Tensor) error {
	rows, step := int64(1), int64(1)
	if len(t.Dims) > 0 && t.ByteLen() > weightsPart {
		rows, step = t.Dims[0], max(1, weightsPart/(t.ByteLen()/t.Dims[0]))
	}
	for from := int64(0); from < rows; from += step {
		part := t
		if rows > 1 {
			part = t.Rows(t.Name, from, min(from+step, rows))
		}
		data, err := part.Bytes()
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// whole reports whether the cache has a file of weights. It notes that the file is used.
func (s *Shelf) whole(name string) bool {
	path := filepath.Join(s.dir, name)
	note, info := s.stamp(name)
	switch {
	case info == nil || info.Size() < sha256.Size:
		return false
	case time.Since(info.ModTime()) > recheck:
		used(path)
	case readSmall(note, 1) != nil:
		return true
	}
	f, err := disk.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // opened for reading
	h, end := sha256.New(), make([]byte, sha256.Size)
	if _, err := io.CopyN(h, f, info.Size()-sha256.Size); err != nil {
		return false
	}
	if _, err := io.ReadFull(f, end); err != nil || string(end) != string(endOf(h, name)) {
		return false
	}
	s.remember(name)
	return true
}

// remember notes that a file has the right hash.
func (s *Shelf) remember(name string) {
	if note, info := s.stamp(name); info != nil {
		_ = s.write(note, []byte{'\n'})
	}
}

// stamp is the name of the note for a file, by its size and time.
func (s *Shelf) stamp(name string) (note string, info fs.FileInfo) {
	info, err := os.Lstat(filepath.Join(s.dir, name))
	if err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	return s.path(fmt.Sprintf("checked %s %d %d", name, info.Size(), info.ModTime().UnixNano()),
		noteSuffix), info
}
