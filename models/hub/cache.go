package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"infill/internal/disk"
	"infill/models/weights"
)

// A Cache is a folder that holds fetched models.
type Cache struct {
	Dir string // need not exist yet
}

// Folder is where the files of this version of a model lie or will lie.
func (c Cache) Folder(m *Model) string { return filepath.Join(c.Dir, folderOf(m.Name), m.Key()) }

func (c Cache) recordPath(m *Model) string { return c.Folder(m) + ".json" }

// partial is the folder of a download that is not complete.
func (c Cache) partial(m *Model) string {
	return filepath.Join(c.Dir, folderOf(m.Name), "."+m.Key()+".partial")
}

// Has reports whether every file of a model is there. It reads none of them.
func (c Cache) Has(m *Model) bool {
	return !slices.ContainsFunc(m.Files, func(f *File) bool {
		info, err := os.Stat(filepath.Join(c.Folder(m), filepath.FromSlash(f.Path)))
		return err != nil || !info.Mode().IsRegular()
	})
}

// State says in a word whether the files are there: no, partly, which is a download that was
// interrupted, or yes. A few bytes, fewer than a stalled connection brings, are not a part.
func (c Cache) State(m *Model) string {
	if c.Has(m) {
		return "yes"
	}
	var n int64
	// What cannot be read is not there.
	_ = filepath.WalkDir(c.partial(m), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".part.json") {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	if n >= stallBytes {
		return "partly"
	}
	return "no"
}

// A Check is the comparison of one file with what it should be.
type Check struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`            // as found, -1 if it is missing
	SHA256 string `json:"sha256,omitempty"` // as found
	Want   string `json:"want,omitempty"`   // SHA-256 it should have, "" if nothing says
	// what says so: "the catalogue", "the record of the first download", or the name of a file
	By     string `json:"by,omitempty"`
	Result string `json:"result"` // ok, DIFFERS, MISSING, EXTRA or not stated
}

// Results of a Check.
const (
	right   = "ok"
	differs = "DIFFERS"
	absent  = "MISSING"
	// does not belong to a fetched model: another tokenizer file, say, changes what it does
	extra    = "EXTRA"
	unstated = "not stated" // nothing says what the file should be, which is not a fault
)

// Fault reports whether the file is missing, differs, or does not belong.
func (c Check) Fault() bool { return c.Result != right && c.Result != unstated }

func faults(checks []Check) (n int) {
	for _, c := range checks {
		if c.Fault() {
			n++
		}
	}
	return n
}

// Verify hashes the files of a model in the cache, and names what else lies in its folder, hidden
// files and folders apart. An error wraps errStore or is ctx's cause.
func (c Cache) Verify(ctx context.Context, m *Model) ([]Check, error) {
	rec := c.readRecord(m)
	dir := os.DirFS(c.Folder(m))
	var out []Check
	for _, f := range m.Files {
		by := "the catalogue"
		if !m.pinned(f) {
			by = "the record of the first download"
		}
		check, err := verifyFile(ctx, dir, f.Path, rec.expected(f), by)
		if err == nil && check.Result == unstated {
			err = check.listed(ctx, dir, f)
		}
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %s: %w", errStore, c.Folder(m), err)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, check)
	}
	others, err := extraFiles(dir, m)
	for _, p := range others {
		out = append(out, Check{Path: p, Result: extra})
	}
	return out, err
}

// listed compares what the hub lists of a file whose SHA-256 nothing says: its size and git's hash.
func (c *Check) listed(ctx context.Context, dir fs.FS, f *File) error {
	if f.Bytes > 0 && c.Bytes != f.Bytes {
		c.Result, c.By = differs, "the size that was stated"
		return nil
	}
	if f.Git == "" {
		return nil
	}
	file, err := disk.OpenFS(dir, f.Path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	sum, err := gitHashOf(disk.Stoppable(ctx, file), c.Bytes)
	if err == nil && sum != f.Git {
		c.Result, c.By = differs, "git's hash that the hub lists"
	}
	return err
}

// extraFiles lists the files of a folder that are not the model's.
func extraFiles(dir fs.FS, m *Model) ([]string, error) {
	var out []string
	err := fs.WalkDir(dir, ".", func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		hidden := p != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.IsDir() || hidden || p == weights.Lengths: // its owner made that one
			return nil
		}
		if !slices.ContainsFunc(m.Files, func(f *File) bool { return f.Path == p }) {
			out = append(out, p)
		}
		return nil
	})
	return out, err
}

// verifyFile compares one file; want "" is not stated.
func verifyFile(ctx context.Context, dir fs.FS, path, want, by string) (Check, error) {
	c := Check{Path: path, Bytes: -1, Want: want, By: by, Result: absent}
	if want == "" {
		c.By = ""
	}
	f, err := disk.OpenFS(dir, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, disk.ErrNotRegular) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer func() { _ = f.Close() }()
	c.SHA256, c.Bytes, err = hashOf(ctx, f)
	switch {
	case err != nil:
		return c, fmt.Errorf("%s: %w", path, err)
	case want == "":
		c.Result = unstated
	case want == c.SHA256:
		c.Result = right
	default:
		c.Result = differs
	}
	return c, nil
}

// hashOf returns the SHA-256 of what r has left, and how much that is.
func hashOf(ctx context.Context, r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.CopyBuffer(h, disk.Stoppable(ctx, r), make([]byte, 1<<20))
	return hex.EncodeToString(h.Sum(nil)), n, err
}
