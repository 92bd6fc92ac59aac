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
	Files    []listedFile    `json:"siblings"`
}

type listedFile struct {
	Path  string `json:"rfilename"`
	Bytes *int64 `json:"size"`
	Git   string `json:"blobId"`
	Large *struct {
		SHA256 string `json:"sha256"`
		Bytes  int64  `json:"size"`
	} `json:"lfs"`
}

func (f *listedFile) bytes() int64 {
	switch {
	case f.Large != nil:
		return f.Large.Bytes
	case f.Bytes != nil:
		return *f.Bytes
	}
	return 0
}

// parseListing reads an answer. No path of it leads out of the repository. Errors wrap errAnswer.
func parseListing(data []byte) (*listing, error) {
	var l listing
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, fmt.Errorf("%w: %v", errAnswer, jsonwords.Error(err))
	}
	if !gitHash.MatchString(l.Commit) {
		return nil, fmt.Errorf("%w: its commit %q is not 40 hexadecimal digits", errAnswer,
			printable(l.Commit))
	}
	seen := make(map[string]bool, len(l.Files))
	for _, f := range l.Files {
		switch {
		case !fs.ValidPath(f.Path) || strings.Contains(f.Path, `\`):
			return nil, fmt.Errorf("%w: the path of the file %q leads out of the repository", errAnswer,
				printable(f.Path))
		case seen[f.Path]:
			return nil, fmt.Errorf("%w: the file %q is there twice", errAnswer, printable(f.Path))
		}
		seen[f.Path] = true
	}
	return &l, nil
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
// words. It wraps ErrNotMasked.
func (l *listing) masked() error {
	_, classes := l.architecture()
	said := strings.TrimSpace(l.Pipeline + " " + strings.Join(classes, " "))
	for _, fits := range []string{"fill-mask", "MaskedLM", "BertForPreTraining",
		"AlbertForPreTraining"} {
		if said == "" || strings.Contains(said, fits) {
			return nil
		}
	}
	return fmt.Errorf("%w: the hub says that it is for %s; models with the tag fill-mask fill blanks",
		ErrNotMasked, printable(said))
}

// graphShare is how many times as large as a graph without weights its weights are at least. A file
// with weights in 4 bits has an eighth of those in float32.
const graphShare = 16

// model chooses the files of a masked language model. file is its ONNX file, "" for the usual one.
func (l *listing) model(r repo, file string) (*Model, error) {
	if err := l.masked(); err != nil && file == "" {
		return nil, err
	}
	var paths []string
	sizes := map[string]int64{}
	for _, f := range l.Files {
		// An empty file helps no model. One of unknown size is refused below.
		if f.bytes() != 0 || f.Bytes == nil || isExport(f.Path) {
			paths = append(paths, f.Path)
		}
		sizes[f.Path] = f.bytes()
	}
	chosen, err := choose(paths, file, r.ID)
	if err != nil {
		return nil, err
	}
	names := append(chosen.names, chosen.export)
	// A graph without weights takes them from torch's file, which is else of no use.
	weights := strings.TrimSuffix(chosen.export, ".onnx") + ".safetensors"
	if !chosen.data && sizes[weights] > graphShare*sizes[chosen.export] {
		names = append(names, weights)
	}
	kind, classes := l.architecture()
	if kind = cmp.Or(kind, strings.Join(classes, ", "), "not stated"); !printableAll(kind) {
		kind = "not stated"
	}
	m := &Model{Name: r.ID, Architecture: kind, Licence: l.licence(), Home: DefaultHub + "/" + r.ID,
		Note: chosen.export, Commit: l.Commit, Revision: r.Revision}
	for _, f := range l.Files {
		if !slices.Contains(names, f.Path) {
			continue
		}
		own := &File{Path: f.Path, Bytes: f.bytes(), Git: f.Git,
			URL: "{hub}/" + r.ID + "/resolve/" + l.Commit + "/" + f.Path}
		if f.Large != nil {
			own.SHA256, own.Git = f.Large.SHA256, ""
		}
		m.Files = append(m.Files, own)
	}
	// In what order a hub lists them says nothing.
	slices.SortFunc(m.Files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%w: %v", errAnswer, err)
	}
	return m, nil
}
