// Package cache keeps what is made of models: derived graphs, weights of stored models in the form
// that the runtime maps, and the whole numbers of graphs in 8 bits.
package cache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"infill/internal/disk"
)

// Shelf is the folder.
type Shelf struct {
	dir string
	max Limits
}

// Limits of a cache folder. What was used longest ago goes first.
type Limits struct {
	Bytes   int64 // of all entries together; one has at most half of it
	Entries int   // Graphs and weights, and as many notes of what hash a file had
	Least   int64 // size of a model in bytes from which on anything of it is kept
}

// Deriving takes 0.2 s for 100 million parameters and ten times that with 8-bit
// products, whose weights the entry then holds. Below 32 MB it is not worth a file.
var usualLimits = Limits{Bytes: 1 << 30, Entries: 64, Least: 32 << 20}

const (
	graphSuffix   = ".graph"
	noteSuffix    = ".seen"
	weightsSuffix = ".weights"
	staleTemp     = time.Hour // left behind by a process that was killed
)

// Open is the folder "graphs" of a cache, of the user's for "", nil if there is none. nil are the
// usual limits.
func Open(dir string, max *Limits) *Shelf {
	if max == nil {
		max = &usualLimits
	}
	dir, err := disk.CacheDir(dir)
	if err != nil {
		return nil
	}
	return &Shelf{filepath.Join(dir, "graphs"), *max}
}

func (c *Shelf) path(key, suffix string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+suffix)
}

// used notes that an entry was. A folder that is read-only keeps its times.
func used(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

// readSmall is the content of a regular file of at most that many bytes, else nil. A link
// is not followed: nobody puts one there but to mislead.
func readSmall(path string, most int64) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	b, err := disk.Read(path, most)
	if err != nil {
		return nil
	}
	return b
}

func (c *Shelf) write(path string, b []byte) error {
	return c.writeFunc(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

func (c *Shelf) writeFunc(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	return disk.WriteFunc(path, write)
}

// prune removes what is too much and what killed processes left behind.
func (c *Shelf) prune() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var kinds [2][]fs.FileInfo // entries, notes
	for _, f := range entries {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if disk.IsTemp(f.Name()) {
			if time.Since(info.ModTime()) > staleTemp {
				_ = os.Remove(filepath.Join(c.dir, f.Name()))
			}
			continue
		}
		switch filepath.Ext(f.Name()) {
		case graphSuffix, weightsSuffix:
			kinds[0] = append(kinds[0], info)
		case noteSuffix:
			kinds[1] = append(kinds[1], info)
		}
	}
	for _, list := range kinds {
		slices.SortFunc(list, func(a, b fs.FileInfo) int { // latest first
			return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(a.Name(), b.Name()))
		})
		total := int64(0)
		for i, f := range list {
			if total += f.Size(); i >= c.max.Entries || total > c.max.Bytes {
				_ = os.Remove(filepath.Join(c.dir, f.Name()))
			}
		}
	}
}
