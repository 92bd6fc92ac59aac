package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"infill/internal/disk"
	"infill/models/weights"
)

// A Check is the comparison of one file with what it should be.
type Check struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`            // as found, -1 if it is missing
	SHA256 string `json:"sha256,omitempty"` // as found
	Want   string `json:"want,omitempty"`   // SHA-256 it should have, "" if nothing says
	// what says so: the catalogue, or the record of the first download
	By     string `json:"by,omitempty"`
	Result string `json:"result"` // ok, DIFFERS, MISSING or EXTRA
	why    string // what of it differs
}

// Results of a Check.
const (
	right   = "ok"
	differs = "DIFFERS"
	absent  = "MISSING"
	// does not belong to a fetched model: another tokenizer file, say, changes what it does
	extra = "EXTRA"
)

// Fault reports whether the file is missing, differs, or does not belong.
func (c Check) Fault() bool { return c.Result != right }

// Verify hashes the files of a model in the cache, and names what else lies in its folder, hidden
// files and folders apart. An error wraps errStore.
func (c Cache) Verify(ctx context.Context, m *Model) (out []Check, err error) {
	record := c.record(m)
	for _, f := range m.Files {
		check, err := f.compare(ctx, c.at(m, f), f.wanted(record))
		if err != nil {
			return nil, err
		}
		switch {
		case m.pinned(f):
			check.By = "the catalogue"
		case check.Want != "":
			check.By = "the record of the first download"
		}
		out = append(out, check)
	}
	others, err := others(c.Folder(m), m)
	for _, p := range others {
		out = append(out, Check{Path: p, Result: extra})
	}
	return out, err
}

// compare hashes what lies at a path and says whether it is the file. want is the SHA-256 that it
// should have. Where that is "", the size has to do, and git's hash if the hub stated it.
func (f *File) compare(ctx context.Context, path, want string) (Check, error) {
	c := Check{Path: f.Path, Bytes: -1, Want: want, Result: absent}
	file, err := disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, disk.ErrNotRegular) {
		return c, nil
	}
	if err != nil {
		return c, stored(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return c, stored(err)
	}
	sum, git := sha256.New(), sha1.New()
	var all io.Writer = sum
	if f.Git != "" { // which only small files have
		_, _ = fmt.Fprintf(git, "blob %d\x00", info.Size())
		all = io.MultiWriter(sum, git)
	}
	c.Bytes, err = io.CopyBuffer(all, disk.Stoppable(ctx, file), make([]byte, 1<<20))
	if err != nil {
		return c, stored(err)
	}
	c.SHA256 = hex.EncodeToString(sum.Sum(nil))
	hash := hex.EncodeToString(git.Sum(nil))
	switch {
	case want != "" && c.SHA256 != want:
		c.why = fmt.Sprintf("SHA-256 %s (%d bytes), not %s", c.SHA256, c.Bytes, want)
	case f.Git != "" && hash != f.Git:
		c.why = fmt.Sprintf("git's hash %s (%d bytes), not %s", hash, c.Bytes, f.Git)
	case want == "" && !f.fits(c.Bytes):
		c.why = fmt.Sprintf("%d bytes, not %d", c.Bytes, f.Bytes)
	}
	if c.Result = right; c.why != "" {
		c.Result = differs
	}
	return c, nil
}

// others lists the files of a folder that are not the model's.
func others(folder string, m *Model) (out []string, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		hidden := p != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return stored(err)
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.IsDir() || hidden || p == weights.Lengths: // its owner made that one
			return nil
		}
		if m.file(p) == nil {
			out = append(out, p)
		}
		return nil
	})
	return out, err
}

// Compare is an error of type *PullError if the ONNX file of a folder, whose SHA-256 is sum,
// belongs to a pulled model and is not what was pulled. The folder may have been named by its path.
// named says that the file was named as well, and did not take the place of the model's.
func (c Cache) Compare(dir, file, sum string, named bool) error {
	file = filepath.Join(dir, filepath.FromSlash(file))
	for _, m := range c.Models() {
		for _, f := range m.Files {
			if !disk.Same(file, c.at(m, f)) {
				continue
			}
			if want := f.wanted(c.record(m)); want != "" && want != sum {
				return m.changed(fmt.Sprintf("it has SHA-256 %s, should have %s", sum, want))
			}
			return nil
		}
		if !named && disk.Same(dir, c.Folder(m)) {
			return m.changed("it is not a file of the model " + m.Name)
		}
	}
	return nil
}

func (m *Model) changed(how string) *PullError {
	e := &PullError{Name: m.String(), Changed: true, says: fmt.Sprintf("%v: %s", errMismatch, how)}
	if file := m.Export(); m.Commit != "" && path.Base(file) != "model.onnx" {
		e.File = file
	}
	return e
}
