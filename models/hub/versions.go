package hub

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"infill/internal/disk"
)

// recorded are the versions of a repository that were pulled, with the record of each. Folders of
// other names, such as refs, are none.
func (c Cache) recorded(id string) (all []*Model) {
	entries, _ := os.ReadDir(filepath.Join(c.Dir, folderOf(id))) // what is not readable has none
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(c.Dir, folderOf(id), e.Name())
		m := readListing(path)
		if m != nil && m.Name == id && c.recordPath(m) == path {
			all = append(all, m)
		}
	}
	return all
}

// repositories are the versions of repositories that were pulled, sorted by name.
func (c Cache) repositories() (all []*Model) {
	folders, _ := os.ReadDir(c.Dir) // sorted
	for _, folder := range folders {
		id := strings.Replace(folder.Name(), "--", "/", 1)
		if !isRepository(id) {
			continue
		}
		for _, m := range c.recorded(id) {
			m.Revision = c.revisionOf(m)
			all = append(all, m)
		}
	}
	return all
}

// Find is the model of a name: one of the catalogue, or the version of a repository that was pulled
// last under a revision, and has the given ONNX file unless that is "". It is nil if there is none.
func (c Cache) Find(name, file string) *Model {
	r, ok := parseRepo(name)
	if !ok {
		m, _ := find(name)
		return m
	}
	key := c.ref(r)
	all := c.recorded(r.ID)
	commit := r.Revision
	for _, m := range all {
		if m.Key() == key {
			commit = m.Commit
		}
	}
	var found *Model
	for _, m := range all {
		if m.Commit == commit && (file == "" || m.Export() == file) && (found == nil || m.Key() == key) {
			found = m
		}
	}
	if found != nil {
		found.Revision = r.Revision
	}
	return found
}

// refPath is the file that has the key of the version that was pulled last under a revision.
func (c Cache) refPath(r repo) string {
	return filepath.Join(c.Dir, folderOf(r.ID), "refs", url.PathEscape(r.Revision))
}

func (c Cache) ref(r repo) string {
	key, err := disk.Read(c.refPath(r), 100)
	if err != nil {
		return ""
	}
	return string(key)
}

// revisionOf is a branch or tag whose last pull was this version, the commit if there is none.
func (c Cache) revisionOf(m *Model) string {
	if c.ref(repo{m.Name, mainBranch}) == m.Key() {
		return mainBranch
	}
	refs, _ := os.ReadDir(filepath.Join(c.Dir, folderOf(m.Name), "refs"))
	for _, e := range refs {
		revision, err := url.PathUnescape(e.Name())
		if err == nil && c.ref(repo{m.Name, revision}) == m.Key() {
			return revision
		}
	}
	return m.Commit
}

// writeRef notes what a revision stood for.
func (c Cache) writeRef(m *Model) error {
	r := repo{m.Name, m.Revision}
	if m.Revision == "" || c.ref(r) == m.Key() {
		return nil
	}
	path := c.refPath(r)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	if err := disk.Write(path, []byte(m.Key())); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	return nil
}

// folderOf is the name of a model's folder in the cache.
func folderOf(name string) string { return strings.Replace(name, "/", "--", 1) }
