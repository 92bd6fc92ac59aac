package hub

import (
	"encoding/json"
	"fmt"

	"infill/internal/disk"
)

// A record says what was fetched. It lies beside the model's folder and is what files without a
// known hash are compared with ever after. Its tags are the format of that file.
type record struct {
	Version int    `json:"version"`
	Model   string `json:"model"`
	Files   []sum  `json:"files"`
	// Listing is what the hub listed of a repository, nil for a model of the catalogue.
	Listing *Model `json:"listing,omitempty"`
}

// A sum is one file of a record.
type sum struct {
	Path     string `json:"path"`
	From     string `json:"from"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
	FirstUse bool   `json:"first_use,omitempty"` // the hash was not known before the first download
}

// readRecord returns the record of a model, nil if there is none or it is not readable as one.
func (c Cache) readRecord(m *Model) *record {
	if r := readRecord(c.recordPath(m)); r != nil && r.Model == m.Name {
		return r
	}
	return nil
}

func readRecord(path string) *record {
	data, err := disk.Read(path, maxRecord)
	if err != nil {
		return nil
	}
	var r record
	if json.Unmarshal(data, &r) != nil || r.Version != 1 {
		return nil
	}
	return &r
}

// readListing is the version of a repository that a record is of, nil if it is not one.
func readListing(path string) *Model {
	r := readRecord(path)
	if r == nil || r.Listing == nil || r.Listing.Commit == "" || r.Listing.check() != nil {
		return nil
	}
	return r.Listing
}

// newRecord is the record of a model without its files.
func newRecord(m *Model) *record {
	r := &record{Version: 1, Model: m.Name}
	if m.Commit != "" {
		r.Listing = m
	}
	return r
}

// contradicts is an error if a file of a model is not the one that was pulled first under its
// commit. Hubs may say less than others of a file, and versions of this program may take other
// files. It wraps ErrMismatch.
func (r *record) contradicts(m *Model, path string) error {
	if r == nil || r.Listing == nil || m.Commit == "" {
		return nil
	}
	for _, f := range m.Files {
		var was File
		for _, old := range r.Listing.Files {
			if old != nil && old.Path == f.Path {
				was = *old
			}
		}
		if got := r.find(f.Path); got != nil { // what arrived, even if the hub stated no hash
			was.SHA256, was.Bytes = got.SHA256, got.Bytes
		}
		if contradict(was.SHA256, f.SHA256) || contradict(was.Git, f.Git) ||
			contradict(was.Bytes, f.Bytes) {
			return fmt.Errorf("%w: the hub lists another size or hash of %s for commit %s of %s than at "+
				"the first download, which is recorded in %s: remove that file only if you know why",
				ErrMismatch, f.Path, m.Commit, m.Name, path)
		}
	}
	return nil
}

// contradict reports whether two values are both known and differ.
func contradict[T comparable](a, b T) bool {
	var unknown T
	return a != unknown && b != unknown && a != b
}

func (r *record) find(path string) *sum {
	if r == nil {
		return nil
	}
	for i := range r.Files {
		if r.Files[i].Path == path && goodHash.MatchString(r.Files[i].SHA256) {
			return &r.Files[i]
		}
	}
	return nil
}

// expected is the hash that a file must have: the one stated, else the recorded one, else "".
func (r *record) expected(f *File) string {
	if f.SHA256 != "" {
		return f.SHA256
	}
	if s := r.find(f.Path); s != nil {
		return s.SHA256
	}
	return ""
}
