package hub

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"infill/internal/jsonwords"
)

// A listing is what the hub's API says of a repository at a revision, as far as it is read.
type listing struct {
	Commit   string          `json:"sha"`
	Pipeline string          `json:"pipeline_tag"`
	Tags     []string        `json:"tags"`
	Config   json.RawMessage `json:"config"`
	Files    []struct {
		Path  string `json:"rfilename"`
		Bytes *int64 `json:"size"`
		Git   string `json:"blobId"`
		Large *struct {
			SHA256 string `json:"sha256"`
			Bytes  int64  `json:"size"`
		} `json:"lfs"`
	} `json:"siblings"`
}

// readListing reads an answer about a repository, and chooses the files of its masked language
// model. file is its ONNX file, "" for the usual one. Errors wrap errAnswer, errNoExport or
// ErrFile.
func readListing(data []byte, r repo, file string) (*Model, error) {
	var l listing
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, fmt.Errorf("%w: %v", errAnswer, jsonwords.Error(err))
	}
	if !gitHash.MatchString(l.Commit) {
		return nil, fmt.Errorf("%w: its commit %q is not 40 hexadecimal digits", errAnswer,
			printable(l.Commit))
	}
	files, err := l.files(r.ID)
	if err != nil {
		return nil, err
	}
	kind, classes := l.architecture()
	if file == "" {
		if err := l.masked(classes); err != nil {
			return nil, err
		}
	}
	if files, err = choose(files, file, r.ID); err != nil {
		return nil, err
	}
	if kind = cmp.Or(kind, strings.Join(classes, ", "), "not stated"); !printableAll(kind) {
		kind = "not stated"
	}
	m := &Model{Name: r.ID, Architecture: kind, Licence: l.licence(), Home: defaultHub + "/" + r.ID,
		Commit: l.Commit, Revision: r.Revision, Files: files}
	m.Note = m.Export()
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%w: %v", errAnswer, err)
	}
	return m, nil
}

// files lists what the repository has, sorted. Empty files, which help no model, are left out. No
// path leads out of the repository.
func (l *listing) files(id string) (all []*File, err error) {
	for _, f := range l.Files {
		if !fs.ValidPath(f.Path) || strings.Contains(f.Path, `\`) {
			return nil, fmt.Errorf("%w: the path of the file %q leads out of the repository", errAnswer,
				printable(f.Path))
		}
		own := &File{Path: f.Path, Git: f.Git, Bytes: -1, // which is refused
			URL: "{hub}/" + id + "/resolve/" + l.Commit + "/" + f.Path}
		switch {
		case f.Large != nil:
			own.Bytes, own.SHA256, own.Git = f.Large.Bytes, f.Large.SHA256, ""
		case f.Bytes != nil:
			own.Bytes = *f.Bytes
		}
		if own.Bytes != 0 || isExport(own.Path) {
			all = append(all, own)
		}
	}
	slices.SortFunc(all, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	for i, f := range all[min(len(all), 1):] {
		if f.Path == all[i].Path {
			return nil, fmt.Errorf("%w: the file %q is there twice", errAnswer, printable(f.Path))
		}
	}
	return all, nil
}

// architecture is the kind of the network and its classes, as config.json has them.
func (l *listing) architecture() (kind string, classes []string) {
	var c struct {
		Kind    string   `json:"model_type"`
		Classes []string `json:"architectures"`
	}
	if json.Unmarshal(l.Config, &c) != nil {
		return "", nil // what is not readable says nothing
	}
	return c.Kind, c.Classes
}

func (l *listing) licence() string {
	for _, tag := range l.Tags {
		if name, ok := strings.CutPrefix(tag, "license:"); ok && printableAll(name) {
			return name
		}
	}
	return "licence not stated"
}

// masked is an error if the listing says that the model does something else than to predict masked
// words. It wraps errNotMasked and
// ErrFile.
func (l *listing) masked(classes []string) error {
	said := strings.TrimSpace(l.Pipeline + " " + strings.Join(classes, " "))
	for _, fits := range []string{"fill-mask", "MaskedLM", "BertForPreTraining",
		"AlbertForPreTraining"} {
		if said == "" || strings.Contains(said, fits) {
			return nil
		}
	}
	return fmt.Errorf("%w: the hub says that it is for %s, and models with the tag fill-mask fill "+
		"blanks; if it is one all the same, %w", errNotMasked, printable(said), ErrFile)
}
