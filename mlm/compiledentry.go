package mlm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"infill/internal/disk"
)

const (
	compiledSuffix = ".compiled"
	compiledAbout  = "about"
)

// compiledNote is what stands in an entry's file compiledAbout, with a checksum.
type compiledNote struct {
	Key     string            `json:"key"`
	Graph   string            `json:"graph,omitempty"`   // the file to be opened
	Files   map[string]string `json:"files,omitempty"`   // SHA-256 of that and of those beside it
	Answers string            `json:"answers,omitempty"` // see derived.answers
	Checks  int               `json:"checks,omitempty"`  // under way, or failed
	Checked bool              `json:"checked,omitempty"` // read back, they gave the same answers
	// Refused is the reason why there are no files. The device is not asked for them again.
	Refused string `json:"refused,omitempty"`
}

func (e *compilation) notePath() string { return filepath.Join(e.path, compiledAbout) }

// read is the note of the entry, nil if there is none of this key that is whole.
func (e *compilation) read() *compiledNote {
	if info, err := os.Lstat(e.path); err != nil || !info.IsDir() {
		return nil
	}
	b := readSmall(e.notePath(), maxAbout)
	end := len(b) - sha256.Size
	if end < 0 || !bytes.Equal(b, sealed(slices.Clone(b[:end]))) {
		return nil
	}
	n := &compiledNote{}
	if json.Unmarshal(b[:end], n) != nil || n.Key != e.key {
		return nil
	}
	return n
}

func (e *compilation) writeNote(dir string, n *compiledNote) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return disk.Write(filepath.Join(dir, compiledAbout), sealed(b))
}

// whole reads the files of an entry. They were not synced when they were written.
func (e *compilation) whole(ctx context.Context, n *compiledNote) error {
	found, err := hashFolder(ctx, e.path)
	if err != nil {
		return err
	}
	for name, sum := range n.Files {
		if found[name] != sum {
			return fmt.Errorf("%w: %s is damaged", errEntry, name)
		}
	}
	if n.Files[n.Graph] == "" {
		return errEntry
	}
	return nil
}

// hashFolder has the SHA-256 of the regular files of a folder, but for its note.
func hashFolder(ctx context.Context, dir string) (map[string]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, f := range list {
		if name := f.Name(); f.Type().IsRegular() && name != compiledAbout && !disk.IsTemp(name) {
			if out[name], err = hashFiles(ctx, os.DirFS(dir), []string{name}); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// pruneCompiled removes the entries that are too much, and what killed processes left behind.
func (c *shelf) pruneCompiled() {
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	type entry struct {
		path string
		used time.Time
		size int64
	}
	var entries []entry
	for _, f := range list {
		info, err := f.Info()
		if err != nil || !info.IsDir() {
			continue
		}
		e := entry{path: filepath.Join(c.dir, f.Name()), used: info.ModTime()}
		if disk.IsTemp(f.Name()) && time.Since(e.used) > staleTemp {
			_ = os.RemoveAll(e.path)
		}
		if filepath.Ext(f.Name()) != compiledSuffix {
			continue
		}
		if info, err := os.Stat(filepath.Join(e.path, compiledAbout)); err == nil {
			e.used = info.ModTime()
		}
		e.size = disk.Size(e.path)
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { // latest first
		return cmp.Or(b.used.Compare(a.used), strings.Compare(a.path, b.path))
	})
	total := int64(0)
	for i, e := range entries {
		if total += e.size; i >= c.max.entries || total > c.max.compiled {
			_ = os.RemoveAll(e.path)
		}
	}
}
