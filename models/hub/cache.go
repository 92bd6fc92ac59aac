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

// A State tells what the cache holds of a model.
type State int

// The states of a model in a cache.
const (
	Absent  State = iota
	Partial       // a download was interrupted
	Present       // every file is there; see Verify for whether it is whole
)

// String says whether the files are there: no, partly or yes.
func (s State) String() string {
	switch s {
	case Absent:
		return "no"
	case Partial:
		return "partly"
	case Present:
		return "yes"
	}
	return fmt.Sprintf("state(%d)", int(s))
}

// State looks which files are there; it reads none of them.
func (c Cache) State(m *Model) State {
	if len(c.missing(m)) == 0 {
		return Present
	}
	if _, err := os.Stat(c.partial(m)); err == nil {
		return Partial
	}
	return Absent
}

// missing lists the files that are not in the model's folder.
func (c Cache) missing(m *Model) []*File {
	var out []*File
	for _, f := range m.Files {
		info, err := os.Stat(filepath.Join(c.Folder(m), filepath.FromSlash(f.Path)))
		if err != nil || !info.Mode().IsRegular() {
			out = append(out, f)
		}
	}
	return out
}

// A Check is the comparison of one file with what it should be.
type Check struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`            // as found, -1 if it is missing
	SHA256 string `json:"sha256,omitempty"` // as found
	Want   string `json:"want,omitempty"`   // SHA-256 it should have, "" if nothing says
	// what says so: "the catalogue", "the record of the first download", or the name of a file
	By     string `json:"by,omitempty"`
	Result string `json:"result"` // one of Same, Differs, Missing, Extra, Unknown
}

// Results of a Check.
const (
	Same    = "ok"
	Differs = "DIFFERS"
	Missing = "MISSING"
	// does not belong to a fetched model: another tokenizer file, say, changes what it does
	Extra   = "EXTRA"
	Unknown = "not stated" // nothing says what the file should be; not a fault
)

// Faults counts the files that are missing, differ, or do not belong.
func Faults(checks []Check) int {
	n := 0
	for _, c := range checks {
		if c.Result == Missing || c.Result == Differs || c.Result == Extra {
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
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%w: %s: %w", errStore, c.Folder(m), err)
		}
		if f.Bytes > 0 && check.Result == Unknown && check.Bytes != f.Bytes {
			check.Result, check.By = Differs, "the size that was stated"
		}
		if f.Git != "" && check.Result == Unknown {
			switch sum, err := gitHashIn(ctx, dir, f.Path, check.Bytes); {
			case err != nil && ctx.Err() != nil:
				return nil, err
			case err != nil:
				return nil, fmt.Errorf("%w: %s: %w", errStore, c.Folder(m), err)
			case sum != f.Git:
				check.Result, check.By = Differs, "git's hash that the hub lists"
			}
		}
		out = append(out, check)
	}
	extra, err := extraFiles(dir, m)
	for _, p := range extra {
		out = append(out, Check{Path: p, Result: Extra})
	}
	return out, err
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
		case d.IsDir() || hidden:
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
	c := Check{Path: path, Bytes: -1, Want: want, By: by, Result: Missing}
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
		c.Result = Unknown
	case want == c.SHA256:
		c.Result = Same
	default:
		c.Result = Differs
	}
	return c, nil
}

// gitHashIn is the hash that git has of a file of n bytes.
func gitHashIn(ctx context.Context, dir fs.FS, path string, n int64) (string, error) {
	f, err := disk.OpenFS(dir, path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	return gitHashOf(contextReader{ctx, f}, n)
}

// hashOf returns the SHA-256 of what r has left, and how much that is.
func hashOf(ctx context.Context, r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.CopyBuffer(h, contextReader{ctx, r}, make([]byte, 1<<20))
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// contextReader stops reading when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}
