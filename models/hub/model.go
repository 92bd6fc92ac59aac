package hub

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"infill/internal/textline"
)

// defaultHub is where addresses that begin with {hub} lead.
const defaultHub = "https://huggingface.co"

// Bounds on a model.
const (
	maxRecord = 1 << 20 // bytes of a record or a card
	maxFiles  = 64      // of one model
	maxText   = 300     // bytes of a text for people
	maxBytes  = 1 << 40
)

// A Model is one ONNX export with its tokenizer: one of the catalogue, or a repository of the hub
// at one commit. Its tags and those of [File] are the format of the catalogue and of records.
type Model struct {
	// Name is letters, digits, ".", "_", "-" in lower case, or OWNER/NAME of a repository.
	Name         string `json:"name"`
	Architecture string `json:"architecture"` // for people
	Licence      string `json:"licence"`      // SPDX identifier where there is one
	Home         string `json:"home"`         // page for people
	Note         string `json:"note,omitempty"`
	// Scripts are those for whose languages the model is named where another one does not know them,
	// as package unicode calls them: Latin, Han.
	Scripts []string `json:"scripts,omitempty"`
	Files   []*File  `json:"files"`
	// Commit is the commit of a repository, 40 hexadecimal digits, "" for a model of the catalogue.
	Commit string `json:"commit,omitempty"`
	// Revision is the branch, tag or commit that a repository was asked for.
	Revision string `json:"-"`
	// Revisions are the branches and tags that stood for the commit when they were pulled last.
	Revisions []string `json:"revisions,omitempty"`
}

// String is the name of a model, as it is pulled.
func (m *Model) String() string {
	if m.Commit == "" {
		return m.Name
	}
	return repo{m.Name, m.Revision}.String()
}

// Page is the model's page for people at a hub.
func (m *Model) Page(hub string) string {
	return strings.Replace(m.Home, defaultHub, strings.TrimRight(Redacted(hub), "/"), 1)
}

// A File is one file of a model.
type File struct {
	Path string `json:"path"` // in the model's folder, with forward slashes
	// URL is its address, {hub}/OWNER/NAME/resolve/COMMIT/PATH, in which {hub} is the hub's address
	// and COMMIT 40 hexadecimal digits.
	URL string `json:"url"`
	// Bytes is its size, at most 2 % off if it is only About that.
	Bytes int64 `json:"bytes"`
	About bool  `json:"about,omitempty"`
	// SHA256 in lower-case hexadecimal, "" if it is not known. It is the catalogue's, or what the hub
	// states of a large file of a repository.
	SHA256 string `json:"sha256,omitempty"`
	// Git is the hash that git has of a small file of a repository, SHA-1 in hexadecimal, or "".
	Git string `json:"git,omitempty"`
}

// pinned reports whether the program itself knows the hash of a file.
func (m *Model) pinned(f *File) bool { return m.Commit == "" && f.SHA256 != "" }

// slack is how far the size may be off.
func (f *File) slack() int64 {
	if f.About {
		return f.Bytes / 50
	}
	return 0
}

// limit is how many bytes are accepted at most.
func (f *File) limit() int64 { return f.Bytes + f.slack() }

// fits reports whether the file can have n bytes.
func (f *File) fits(n int64) bool { return f.Bytes-f.slack() <= n && n <= f.limit() }

// Size is the sum of the files' sizes as far as they are known.
func (m *Model) Size() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// Export is the path of the model's ONNX file.
func (m *Model) Export() string {
	for _, f := range m.Files {
		if isExport(f.Path) {
			return f.Path
		}
	}
	return ""
}

// file is the file of a path, nil if there is none.
func (m *Model) file(path string) *File {
	for _, f := range m.Files {
		if f.Path == path {
			return f
		}
	}
	return nil
}

func isExport(name string) bool { return path.Ext(name) == ".onnx" }

// Key names the version: 12 hexadecimal digits that depend on paths and hashes, for files
// without a hash on the address. That of a repository depends on its commit and the ONNX file
// alone, so that a hub that lists others for the same commit is noticed.
func (m *Model) Key() string {
	h := sha256.New()
	if m.Commit != "" {
		_, _ = fmt.Fprintf(h, "%q %q\n", m.Commit, m.Export())
	} else {
		for _, f := range m.Files {
			_, _ = fmt.Fprintf(h, "%q %q\n", f.Path, cmp.Or(f.SHA256, f.URL))
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

var (
	goodName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$`)
	goodPath = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)*$`)
	goodHash = regexp.MustCompile(`^[0-9a-f]{64}$`)
	gitHash  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	hubURL   = regexp.MustCompile(`^\{hub\}/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/resolve/` +
		`[0-9a-f]{40}/[A-Za-z0-9._/-]+$`)
	// Windows keeps these names, whatever their ending, for devices.
	device = regexp.MustCompile(`(?i)(?:^|/)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|/|$)`)
)

// check tells what is wrong with a model, nil if nothing is.
func (m *Model) check() error {
	switch {
	case m.Commit != "" && !gitHash.MatchString(m.Commit):
		return fmt.Errorf("commit %q is not 40 lower-case hexadecimal digits", m.Commit)
	case m.Commit != "" && !isRepository(m.Name),
		m.Commit == "" && (!goodName.MatchString(m.Name) || strings.Contains(m.Name, "..") ||
			device.MatchString(m.Name)):
		return fmt.Errorf("name %q: want OWNER/NAME, or up to 64 of a-z 0-9 . _ -", m.Name)
	case len(m.Files) == 0 || len(m.Files) > maxFiles:
		return fmt.Errorf("%d files; want 1 to %d", len(m.Files), maxFiles)
	case !printableAll(slices.Concat(m.Scripts, m.Revisions,
		[]string{m.Architecture, m.Licence, m.Home, m.Note})...):
		return fmt.Errorf("a text has control characters or more than %d bytes", maxText)
	}
	var paths []string
	exports := 0
	for i, f := range m.Files {
		if f == nil {
			return fmt.Errorf("file %d is null", i+1)
		}
		if err := f.check(); err != nil {
			return err
		}
		p := strings.ToLower(f.Path) // some file systems do not tell case apart
		for _, q := range paths {
			if p == q || strings.HasPrefix(p, q+"/") || strings.HasPrefix(q, p+"/") {
				return fmt.Errorf("file %q is in the way of another", f.Path)
			}
		}
		paths = append(paths, p)
		if isExport(f.Path) {
			exports++
		}
	}
	if exports != 1 {
		return fmt.Errorf("%d of its files end in .onnx, want one", exports)
	}
	return nil
}

func (f *File) check() error {
	switch {
	case len(f.Path) > 200 || !fs.ValidPath(f.Path) || !goodPath.MatchString(f.Path) ||
		device.MatchString(f.Path):
		return fmt.Errorf("file %q: not a plain relative path (no .., no leading dot, only A-Z a-z "+
			"0-9 . _ - /)", f.Path)
	case f.SHA256 != "" && !goodHash.MatchString(f.SHA256):
		return fmt.Errorf("file %s: sha256 %q is not 64 lower-case hexadecimal digits", f.Path, f.SHA256)
	case f.Git != "" && !gitHash.MatchString(f.Git):
		return fmt.Errorf("file %s: %q is not a hash of git", f.Path, f.Git)
	case f.Bytes <= 0 || f.Bytes > maxBytes:
		return fmt.Errorf("file %s: its size, %d bytes, is not 1 to %d", f.Path, f.Bytes, int64(maxBytes))
	}
	if !hubURL.MatchString(f.URL) || slices.Contains(strings.Split(f.URL, "/"), "..") {
		return fmt.Errorf("file %s: address %q is not of the form "+
			"{hub}/OWNER/NAME/resolve/COMMIT/PATH with a commit of 40 digits; a branch would change", f.Path,
			f.URL)
	}
	return nil
}

// printableAll reports whether texts are short and have no control characters, which could command
// a terminal.
func printableAll(texts ...string) bool {
	for _, s := range texts {
		if len(s) > maxText || textline.Printable(s) != s {
			return false
		}
	}
	return true
}

// printable is the beginning of what a server says.
func printable(s string) string { return textline.Printable(s[:min(len(s), 200)]) }

// address is the URL of a file with the hub's address in its place.
func (f *File) address(hub string) string {
	return strings.TrimRight(hub, "/") + strings.TrimPrefix(f.URL, "{hub}")
}
