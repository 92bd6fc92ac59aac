package hub

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"infill/internal/disk"
	"infill/internal/jsonwords"
)

// DefaultHub is where addresses that begin with {hub} lead.
const DefaultHub = "https://huggingface.co"

// Bounds on a catalogue.
const (
	maxCatalogue = 1 << 20 // bytes
	maxModels    = 1000
	maxFiles     = 64 // of one model
	maxBytes     = 1 << 40
)

//go:embed catalogue.json
var builtin []byte

// A Catalogue is a list of models.
type Catalogue struct {
	Models []*Model
}

// A Model is one ONNX export with its tokenizer. Its tags and those of [File] are the format of
// catalogues, see parse.
type Model struct {
	Name         string `json:"name"`         // letters, digits, ".", "_", "-"; lower case
	Architecture string `json:"architecture"` // for people
	Licence      string `json:"licence"`      // SPDX identifier where there is one
	Home         string `json:"home"`         // page for people
	Note         string `json:"note,omitempty"`
	// Scripts are those for whose languages the model is named where another one does not know them,
	// as package unicode calls them: Latin, Han.
	Scripts []string `json:"scripts,omitempty"`
	Files   []*File  `json:"files"`
}

// A File is one file of a model.
type File struct {
	Path string `json:"path"` // in the model's folder, with forward slashes
	// URL is its address: https, or {hub}/OWNER/NAME/resolve/COMMIT/PATH, in which {hub} is the
	// hub's address and COMMIT 40 hexadecimal digits. A file with a hash may have refs%2Fpr%2FN, a
	// change that somebody proposed, in the place of COMMIT.
	URL string `json:"url"`
	// Bytes is its exact size, 0 if only About is known, which is at most 2 % off.
	Bytes int64 `json:"bytes,omitempty"`
	About int64 `json:"about,omitempty"`
	// SHA256 in lower-case hexadecimal, "" if it is not known: then it is trusted on first use.
	SHA256 string `json:"sha256,omitempty"`
}

// Pinned reports whether the hash of the file is known in advance.
func (f *File) Pinned() bool { return f.SHA256 != "" }

// Size is the file's size as far as it is known.
func (f *File) Size() int64 { return max(f.Bytes, f.About) }

// limit is how many bytes are accepted at most.
func (f *File) limit() int64 {
	if f.Bytes > 0 {
		return f.Bytes
	}
	return f.About + f.About/50
}

// fits reports whether the file can have n bytes.
func (f *File) fits(n int64) bool {
	return n <= f.limit() && (n == f.Bytes || f.Bytes == 0 && n >= f.About-f.About/50)
}

// Pinned reports whether the hashes of all files are known in advance.
func (m *Model) Pinned() bool {
	return !slices.ContainsFunc(m.Files, func(f *File) bool { return !f.Pinned() })
}

// Size is the sum of the files' sizes as far as they are known.
func (m *Model) Size() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Size()
	}
	return n
}

// Key names the version: 12 hexadecimal digits that depend on paths and hashes, for files
// without a hash on the address.
func (m *Model) Key() string {
	h := sha256.New()
	for _, f := range m.Files {
		what := f.SHA256
		if what == "" {
			what = f.URL
		}
		_, _ = fmt.Fprintf(h, "%q %q\n", f.Path, what)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// Find returns the model of that name.
func (c *Catalogue) Find(name string) (*Model, error) {
	for _, m := range c.Models {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
}

// ForScript is the first model of the program's catalogue for a script, nil if there is none.
func ForScript(script string) *Model {
	for _, m := range builtinCatalogue().Models {
		if slices.Contains(m.Scripts, script) {
			return m
		}
	}
	return nil
}

// builtinCatalogue returns the catalogue that is part of the package.
func builtinCatalogue() *Catalogue {
	c, err := parse(bytes.NewReader(builtin), "catalogue.json")
	if err != nil {
		panic(err) // unreachable: a test parses it
	}
	return c
}

// Load returns the package's catalogue preceded by the models of a file, "" for none. A model of
// the file replaces the one of the same name.
func Load(file string) (*Catalogue, error) {
	all := builtinCatalogue()
	if file == "" {
		return all, nil
	}
	f, err := disk.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	defer func() { _ = f.Close() }()
	own, err := parse(f, file)
	if err != nil {
		return nil, err
	}
	for _, m := range all.Models {
		if _, err := own.Find(m.Name); err != nil {
			own.Models = append(own.Models, m)
		}
	}
	return own, nil
}

// A CatalogueError says what is wrong with a catalogue. It wraps ErrCatalogue.
type CatalogueError struct {
	File   string
	Line   int    // 0 if it is not known
	Model  string // "" if the fault is in none
	Reason string
}

// Error says what is wrong and what helps.
func (e *CatalogueError) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	if e.Model != "" {
		where += ": model " + e.Model
	}
	return fmt.Sprintf("%s: %s", where, e.Reason)
}

// Unwrap returns the sentinel.
func (e *CatalogueError) Unwrap() error { return ErrCatalogue }

// parse reads a catalogue and checks all of it. name is what errors call the file.
func parse(r io.Reader, name string) (*Catalogue, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxCatalogue+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCatalogue, name, err)
	}
	fail := func(line int, model, format string, args ...any) error {
		return &CatalogueError{File: name, Line: line, Model: model, Reason: fmt.Sprintf(format, args...)}
	}
	if len(data) > maxCatalogue {
		return nil, fail(0, "", "larger than %d bytes", maxCatalogue)
	}
	var raw struct {
		Version int      `json:"version"`
		Models  []*Model `json:"models"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&raw); err != nil {
		return nil, fail(lineOf(data, err, dec.InputOffset()), "", "%v", jsonwords.Error(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fail(lineOf(data, nil, dec.InputOffset()), "", "text after the end of the catalogue")
	}
	switch {
	case raw.Version != 1:
		return nil, fail(0, "", "version %d; this program reads version 1", raw.Version)
	case len(raw.Models) > maxModels:
		return nil, fail(0, "", "%d models, at most %d are read", len(raw.Models), maxModels)
	}
	seen := map[string]bool{}
	for i, m := range raw.Models {
		if m == nil {
			return nil, fail(0, "", "model %d is null", i+1)
		}
		if err := m.check(); err != nil {
			return nil, fail(0, m.Name, "%v", err)
		}
		if seen[m.Name] {
			return nil, fail(0, m.Name, "the name is there twice")
		}
		seen[m.Name] = true
	}
	return &Catalogue{raw.Models}, nil
}

// lineOf is the line of an error of the JSON decoder.
func lineOf(data []byte, err error, at int64) int {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	at = min(max(at, 0), int64(len(data)))
	return 1 + bytes.Count(data[:at], []byte("\n"))
}

var (
	goodName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$`)
	goodPath = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)*$`)
	goodHash = regexp.MustCompile(`^[0-9a-f]{64}$`)
	hubURL   = regexp.MustCompile(`^\{hub\}/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/resolve/` +
		`(?:[0-9a-f]{40}|(refs%2Fpr%2F[0-9]+))/[A-Za-z0-9._/-]+$`)
	// Windows keeps these names, whatever their ending, for devices.
	device = regexp.MustCompile(`(?i)(?:^|/)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|/|$)`)
)

// check tells what is wrong with a model, nil if nothing is.
func (m *Model) check() error {
	switch {
	case !goodName.MatchString(m.Name) || strings.Contains(m.Name, "..") || device.MatchString(m.Name):
		return fmt.Errorf("name %q: want up to 64 of a-z 0-9 . _ -", m.Name)
	case m.Name == "default":
		return errors.New("the name default is that of the embedded model")
	case len(m.Files) == 0 || len(m.Files) > maxFiles:
		return fmt.Errorf("%d files; want 1 to %d", len(m.Files), maxFiles)
	case !printableAll(append(m.Scripts, m.Architecture, m.Licence, m.Home, m.Note)...):
		return errors.New("a text has control characters or more than 300 bytes")
	}
	var paths []string
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
	}
	if !slices.Contains(paths, "model.onnx") && !slices.Contains(paths, "onnx/model.onnx") {
		return errors.New("no file has the path model.onnx or onnx/model.onnx")
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
	case f.Bytes < 0 || f.About < 0 || f.Bytes > maxBytes || f.About > maxBytes ||
		(f.Bytes > 0) == (f.About > 0):
		return fmt.Errorf("file %s: want its size, either bytes or about, above 0 and up to %d", f.Path,
			int64(maxBytes))
	}
	m := hubURL.FindStringSubmatch(f.URL)
	if m != nil && !slices.Contains(strings.Split(f.URL, "/"), "..") {
		if m[1] != "" && f.SHA256 == "" {
			return fmt.Errorf("file %s: what %q stands for can change, so it needs its sha256", f.Path, m[1])
		}
		return nil
	}
	if strings.HasPrefix(f.URL, "{hub}") {
		return fmt.Errorf("file %s: address %q is not of the form "+
			"{hub}/OWNER/NAME/resolve/COMMIT/PATH with a commit of 40 digits; a branch would change", f.Path,
			f.URL)
	}
	u, err := url.Parse(f.URL)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(f.URL) > 2000:
		return fmt.Errorf("file %s: address %q is not https", f.Path, f.URL)
	case f.SHA256 == "":
		return fmt.Errorf("file %s: a file from elsewhere than {hub}, where a commit fixes the "+
			"version, needs its sha256", f.Path)
	}
	return nil
}

// printableAll reports whether texts are short and have no control characters, which could command
// a terminal.
func printableAll(texts ...string) bool {
	for _, s := range texts {
		if len(s) > 300 || strings.ContainsFunc(s, func(r rune) bool {
			return r < ' ' || r >= 0x7f &&
				r < 0xa0 || r == 0xFFFD
		}) {
			return false
		}
	}
	return true
}

// address is the URL of a file with the hub's address in its place.
func (f *File) address(hub string) string {
	if rest, ok := strings.CutPrefix(f.URL, "{hub}"); ok {
		return strings.TrimRight(hub, "/") + rest
	}
	return f.URL
}

// Address is where the file is fetched from; hub "" means [DefaultHub].
func (f *File) Address(hub string) string {
	if hub == "" {
		hub = DefaultHub
	}
	return f.address(hub)
}
