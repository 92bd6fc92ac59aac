package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"infill/mlm/onnx"
)

// recheck is how long the hash of weights in the cache goes by their size and time.
const recheck = 24 * time.Hour

// seen reports whether a file of the cache had the hash that its key stands for with the size and
// time that it has, not long ago. It notes that the file is used.
func (s *Shelf) seen(path, key string) bool {
	note, info := s.stamp(path, key)
	if info == nil {
		return false
	}
	if time.Since(info.ModTime()) > recheck {
		used(path)
		return false
	}
	return readSmall(note, 1) != nil
}

// remember notes that a file has the right hash.
func (s *Shelf) remember(path, key string) {
	if note, info := s.stamp(path, key); info != nil {
		_ = s.write(note, []byte{'\n'})
	}
}

// stamp is the name of the note for a file, by its size and time.
func (s *Shelf) stamp(path, key string) (note string, info fs.FileInfo) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	return s.path(fmt.Sprintf("checked %s %d %d", key, info.Size(), info.ModTime().UnixNano()),
		noteSuffix), info
}

// ExternalMin is the size from which on a weight is left where it is on disk
// instead of being handed to the runtime inside the graph, in bytes.
const ExternalMin = 4096

// integers is the file of the cache with that SHA-256, below its folder.
func integers(sum string) string { return sum[:32] + weightsSuffix }

// KeepIntegers moves the whole numbers of a graph, which lie in memory, to a file that the runtime
// maps, and gives its SHA-256. The graph then refers to it. "" means that they stay.
func (s *Shelf) KeepIntegers(m *onnx.Model) string {
	h, size := sha256.New(), int64(0)
	var list []*onnx.Tensor
	for _, t := range m.Graph.Initializers {
		if t.Type != onnx.Uint8 || t.Origin.File != "" || t.ByteLen() < ExternalMin {
			continue
		}
		data, err := t.Bytes()
		if err != nil {
			return ""
		}
		h.Write(data)
		list, size = append(list, t), size+int64(len(data))
	}
	if len(list) == 0 || size > s.max.Bytes/2 {
		return ""
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if !s.whole(sum) {
		if s.writeFunc(filepath.Join(s.dir, integers(sum)), func(w io.Writer) error {
			for _, t := range list {
				data, err := t.Bytes()
				if err != nil {
					return err
				}
				if _, err := w.Write(data); err != nil {
					return err
				}
			}
			return nil
		}) != nil {
			return ""
		}
	}
	at := int64(0)
	for _, t := range list {
		t.Origin.File, t.Origin.Offset, t.Origin.Length = integers(sum), at, t.ByteLen()
		at += t.ByteLen()
	}
	return sum
}

// whole reports whether the cache has the whole numbers with that SHA-256.
func (s *Shelf) whole(sum string) bool {
	path := filepath.Join(s.dir, integers(sum))
	if s.seen(path, sum) {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // opened for reading
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil || hex.EncodeToString(h.Sum(nil)) != sum {
		return false
	}
	s.remember(path, sum)
	return true
}
