package hub

import (
	"encoding/json"
	"fmt"
	"slices"

	"infill/internal/disk"
)

func (c Cache) recordPath(m *Model) string { return c.Folder(m) + ".json" }

// record is a model as it was fetched, nil if there is no record of it: every file has the size and
// the hash of what arrived, with which it is compared ever after.
func (c Cache) record(m *Model) *Model { return readRecord(c.recordPath(m)) }

func readRecord(path string) *Model {
	data, err := disk.Read(path, maxRecord)
	var m Model
	if err != nil || json.Unmarshal(data, &m) != nil || m.check() != nil {
		return nil // what is not readable says nothing
	}
	return &m
}

// write replaces the record of a model in one step. files are what its folder has.
func (c Cache) write(m *Model, files []*File) error {
	r := *m
	r.Files = files
	data, err := json.MarshalIndent(&r, "", "  ")
	if err != nil {
		return err
	}
	return stored(disk.Write(c.recordPath(m), append(data, '\n')))
}

// wanted is the SHA-256 that a file must have: the one that is stated, else that of the record,
// which may be nil, else "".
func (f *File) wanted(record *Model) string {
	if f.SHA256 == "" && record != nil {
		if was := record.file(f.Path); was != nil {
			return was.SHA256
		}
	}
	return f.SHA256
}

// contradicted is an error if a file of a model is not the one that was pulled first under its
// commit. Hubs may say less than others of a file, and versions of this program may take other
// files. It wraps errMismatch.
func (c Cache) contradicted(m *Model) error {
	record := c.record(m)
	if record == nil || m.Commit == "" {
		return nil
	}
	for _, f := range m.Files {
		was := record.file(f.Path)
		if was != nil && (differ(was.SHA256, f.SHA256) || differ(was.Git, f.Git) ||
			differ(was.Bytes, f.Bytes)) {
			return fmt.Errorf("%w: the hub lists another size or hash of %s for commit %s of %s than at "+
				"the first download, which is recorded in %s: remove that file only if you know why",
				errMismatch, f.Path, m.Commit, m.Name, c.recordPath(m))
		}
	}
	return nil
}

// differ reports whether two values are both known and differ.
func differ[T comparable](a, b T) bool {
	var unknown T
	return a != unknown && b != unknown && a != b
}

// name notes that the revision a model was asked for stands for this version, and for no other.
func (c Cache) name(m *Model) error {
	if m.Revision == m.Commit { // both are "" for a model of the catalogue
		return nil
	}
	for _, v := range c.versions() {
		i := slices.Index(v.Revisions, m.Revision)
		stands := v.Key() == m.Key()
		if v.Name != m.Name || stands == (i >= 0) {
			continue
		}
		if stands {
			v.Revisions = append(v.Revisions, m.Revision)
		} else {
			v.Revisions = slices.Delete(v.Revisions, i, i+1)
		}
		if err := c.write(v, v.Files); err != nil {
			return err
		}
	}
	return nil
}
