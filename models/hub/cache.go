package hub

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"infill/internal/disk"
)

// A Cache is a folder that holds fetched models.
type Cache struct {
	Dir string // need not exist yet
}

// UserCache is the cache of the user's pulled models.
func UserCache() (Cache, error) {
	dir, err := disk.CacheDir("")
	return Cache{Dir: filepath.Join(dir, "models")}, err
}

// folderOf is the name of a model's folder in the cache.
func folderOf(name string) string { return strings.Replace(name, "/", "--", 1) }

// Folder is where the files of this version of a model lie or will lie.
func (c Cache) Folder(m *Model) string { return filepath.Join(c.Dir, folderOf(m.Name), m.Key()) }

// at is where a file of this version lies or will lie.
func (c Cache) at(m *Model, f *File) string {
	return filepath.Join(c.Folder(m), filepath.FromSlash(f.Path))
}

// partial is the folder of a download that is not complete.
func (c Cache) partial(m *Model) string {
	return filepath.Join(c.Dir, folderOf(m.Name), "."+m.Key()+".partial")
}

// Has reports whether every file of a model is there. It reads none of them.
func (c Cache) Has(m *Model) bool {
	return !slices.ContainsFunc(m.Files, func(f *File) bool {
		info, err := os.Stat(c.at(m, f))
		return err != nil || !info.Mode().IsRegular()
	})
}

// State says in a word whether the files are there: no, partly, which is a download that was
// interrupted, or yes. A few bytes, fewer than a stalled connection brings, are not a part.
func (c Cache) State(m *Model) string {
	switch {
	case c.Has(m):
		return "yes"
	case disk.Size(c.partial(m)) >= stallBytes:
		return "partly"
	}
	return "no"
}

// Models lists the models of the catalogue, and the versions of repositories that were pulled.
func (c Cache) Models() []*Model { return slices.Concat(Catalogue(), c.versions()) }

// versions are the versions of repositories that were pulled, sorted by name.
func (c Cache) versions() (all []*Model) {
	paths, _ := fs.Glob(os.DirFS(c.Dir), "*/*.json") // what is not readable has none
	for _, path := range paths {
		path = filepath.Join(c.Dir, filepath.FromSlash(path))
		m := readRecord(path)
		if m == nil || m.Commit == "" || c.recordPath(m) != path {
			continue
		}
		m.Revision = m.Commit
		for _, r := range m.Revisions {
			if m.Revision == m.Commit || r == mainBranch {
				m.Revision = r
			}
		}
		all = append(all, m)
	}
	return all
}

// Find is the model of a name: one of the catalogue, or the version of a repository that was pulled
// last under a revision, and has the given ONNX file unless that is "". It is nil if there is none.
func (c Cache) Find(name, file string) (found *Model) {
	r, ok := parseRepo(name)
	if !ok {
		return find(name)
	}
	all := c.versions()
	last := func(m *Model) bool { return m.Name == r.ID && slices.Contains(m.Revisions, r.Revision) }
	commit := r.Revision
	if i := slices.IndexFunc(all, last); i >= 0 {
		commit = all[i].Commit
	}
	for _, m := range all {
		if m.Name == r.ID && m.Commit == commit && (file == "" || m.Export() == file) &&
			(found == nil || last(m)) {
			found = m
		}
	}
	if found != nil {
		found.Revision = r.Revision
	}
	return found
}

// A PullError is a model of the hub that has to be pulled, as it is not there or not what it was.
type PullError struct {
	Name    string // a short name, or OWNER/NAME@REVISION
	File    string // the ONNX file if it has to be named
	Bytes   int64  // to download, 0 if that is not known
	Changed bool   // it is there, and not what was pulled
	says    string
}

// Error says what is wrong.
func (e *PullError) Error() string { return e.says }

// Locate finds a model by its name. dir is its folder, and export the ONNX file in it, "" if the
// folder has no other. file is the ONNX file that is wanted, "" for any. Errors are of type
// *PullError or wrap [ErrUnknown].
func (c Cache) Locate(name, file string) (dir, export string, err error) {
	m := c.Find(name, file)
	r, ok := parseRepo(name)
	switch {
	case m != nil && c.Has(m):
		if dir := path.Dir(m.Export()); dir != "." && dir != "onnx" {
			file = m.Export()
		}
		return c.Folder(m), file, nil
	case ok:
		return "", "", &PullError{Name: r.String(), File: file,
			says: fmt.Sprintf("no folder is called %s, and no model in the cache", r)}
	case m != nil:
		return "", "", &PullError{Name: m.Name, Bytes: m.Size(),
			says: fmt.Sprintf("the model %s is not in the cache", m.Name)}
	}
	return "", "", fmt.Errorf("%w: %q", ErrUnknown, name)
}
