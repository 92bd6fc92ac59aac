package mlm

import (
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"infill/internal/disk"
	"infill/mlm/onnx"
)

// cache keeps derived graphs in the folder "graphs" of the user's cache, and beside them weights of
// stored models (kept). A graph is named by the SHA-256 of the
// model's files, of this program and of the options that the graph depends on, so that
// it is never stale. It is written under another name, made to last and renamed, so
// that it is whole or not there. It ends with a checksum. What is damaged counts as
// missing and is written again. Nothing about the cache is ever an error of the command:
// without it a graph is derived.
type cache struct {
	shelf
	program string // SHA-256 of this program
	options string // those that the graph depends on
	from    folder
	files   []string // the model's, below from
}

// shelf is the folder.
type shelf struct {
	dir string
	max limits
}

// limits of a cache folder. What was used longest ago goes first.
type limits struct {
	bytes   int64 // of all entries together; one has at most half of it
	entries int   // graphs and weights, and as many notes of what hash a file had
	least   int64 // size of a model in bytes from which on anything of it is kept
}

// Deriving takes 0.2 s for 100 million parameters and ten times that with 8-bit
// products, whose weights the entry then holds. Below 32 MB it is not worth a file.
var usualLimits = limits{bytes: 1 << 30, entries: 64, least: 32 << 20}

const (
	graphSuffix   = ".graph"
	weightsSuffix = ".weights"
	noteSuffix    = ".seen"
	staleTemp     = time.Hour // left behind by a process that was killed
)

// newShelf is the folder that options ask for, nil if there is none.
func newShelf(o Options) *shelf {
	max := usualLimits
	if o.cacheLimits != nil {
		max = *o.cacheLimits
	}
	dir, err := disk.CacheDir(o.CacheDir)
	if err != nil {
		return nil
	}
	return &shelf{filepath.Join(dir, "graphs"), max}
}

// newCache is the cache for a model, nil if there is to be none: for small models,
// for those whose weights are in memory, and where there is no folder for it.
func newCache(from folder, m *onnx.Model, info *Info, o Options) *cache {
	s := newShelf(o)
	if _, dir := from.weights(); dir == "" || s == nil || info.Bytes < s.max.least {
		return nil
	}
	program, err := programSum()
	if err != nil {
		return nil
	}
	return &cache{shelf: *s, program: program, from: from,
		options: fmt.Sprintf("device=%s precision=%v low-memory=%v loose=%v unshared=%v forward=%v",
			o.about.Identity, o.Precision, o.LowMemory, o.looseTable, o.unshared, o.Forward),
		files: append([]string{info.File}, externalFiles(info.File, m)...)}
}

// minBuildID is more than the note's head and a build ID that somebody chose by -ldflags -buildid.
const minBuildID = 64

// programSum tells the running program from others: by the build ID that Go's linker makes of all
// that it links, or else by the SHA-256 of its file.
var programSum = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if f, err := elf.Open(path); err == nil {
		defer f.Close() //nolint:errcheck // opened for reading
		if s := f.Section(".note.go.buildid"); s != nil {
			if id, err := s.Data(); err == nil && len(id) > minBuildID {
				return hex.EncodeToString(id), nil
			}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

// key names the graph of a model whose files have the given hash.
func (c *cache) key(model string) string {
	parts := []string{"model " + model, "file " + c.files[0], "program " + c.program, c.options}
	for _, f := range c.files {
		if at := c.from.locate(f); at != f && at != "" { // the graph says where its weights are
			parts = append(parts, "at "+at)
		}
	}
	return strings.Join(parts, "; ")
}

func (c *shelf) path(key, suffix string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+suffix)
}

// graph is the graph of a model whose files have the given hash, nil if the cache
// has none that is whole and passes the reader's checks.
func (c *cache) graph(model string) *graph {
	key := c.key(model)
	path := c.path(key, graphSuffix)
	b := readSmall(path, c.max.bytes/2)
	if b == nil {
		return nil
	}
	g, err := decodeGraph(b, key)
	if err == nil && g.about.Integers != "" && !c.whole(g.about.Integers) {
		return nil
	}
	if err == nil {
		fsys, _ := c.from.weights()
		err = g.check(fsys)
	}
	if err != nil {
		return nil
	}
	used(path)
	return g
}

// used notes that an entry was. A folder that is read-only keeps its times.
func used(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

// check has our reader validate the graph before the runtime sees it.
func (g *graph) check(fsys fs.FS) error {
	m, err := onnx.Parse(g.onnx, "derived graph", fsys)
	if err != nil {
		return err
	}
	return onnx.Check(m)
}

// keep stores a graph.
func (c *cache) keep(model string, g *graph) {
	kept := *g
	kept.about.Key = c.key(model)
	b, err := kept.encode()
	if err != nil || int64(len(b)) > c.max.bytes/2 {
		return
	}
	if c.write(c.path(kept.about.Key, graphSuffix), b) == nil {
		c.prune()
	}
}

// note is what hash files of some sizes and times had. It is a guess only, to be
// confirmed by hashing: files can change and keep their times.
type note struct {
	Files []stamp `json:"files"`
	Sum   string  `json:"sum"`
}

type stamp struct {
	Name  string    `json:"name"`
	Bytes int64     `json:"bytes"`
	Time  time.Time `json:"time"`
}

func (c *cache) stamps() ([]stamp, bool) {
	var out []stamp
	for _, f := range c.files {
		info, err := fs.Stat(c.from.fs, f)
		if err != nil {
			return nil, false
		}
		out = append(out, stamp{f, info.Size(), info.ModTime().UTC()})
	}
	return out, true
}

func (c *cache) notePath() string {
	return c.path(filepath.Join(c.from.dir, filepath.FromSlash(c.files[0])), noteSuffix)
}

// guess is the hash that the model's files had when last seen with these sizes and
// times, "" if they were not.
func (c *cache) guess() string {
	if c.from.kept != nil {
		return c.from.kept.model
	}
	var n note
	b := readSmall(c.notePath(), maxAbout)
	if b == nil || json.Unmarshal(b, &n) != nil || len(n.Sum) != 2*sha256.Size {
		return ""
	}
	now, ok := c.stamps()
	same := func(a, b stamp) bool {
		return a.Name == b.Name && a.Bytes == b.Bytes &&
			a.Time.Equal(b.Time)
	}
	if !ok || !slices.EqualFunc(n.Files, now, same) {
		return ""
	}
	return n.Sum
}

// remember notes the hash of the model's files.
func (c *cache) remember(model string) {
	if c.from.kept != nil { // it says so itself
		return
	}
	if s, ok := c.stamps(); ok {
		if b, err := json.Marshal(note{s, model}); err == nil {
			_ = c.write(c.notePath(), b)
		}
	}
}

// readSmall is the content of a regular file of at most that many bytes, else nil. A link
// is not followed: nobody puts one there but to mislead.
func readSmall(path string, most int64) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	b, err := disk.Read(path, most)
	if err != nil {
		return nil
	}
	return b
}

func (c *shelf) write(path string, b []byte) error {
	return c.writeFunc(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

func (c *shelf) writeFunc(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	return disk.WriteFunc(path, write)
}

// prune removes what is too much and what killed processes left behind.
func (c *shelf) prune() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var kinds [2][]fs.FileInfo // entries, notes
	for _, f := range entries {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if disk.IsTemp(f.Name()) {
			if time.Since(info.ModTime()) > staleTemp {
				_ = os.Remove(filepath.Join(c.dir, f.Name()))
			}
			continue
		}
		switch filepath.Ext(f.Name()) {
		case graphSuffix, weightsSuffix:
			kinds[0] = append(kinds[0], info)
		case noteSuffix:
			kinds[1] = append(kinds[1], info)
		}
	}
	for _, list := range kinds {
		slices.SortFunc(list, func(a, b fs.FileInfo) int { // latest first
			return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(a.Name(), b.Name()))
		})
		total := int64(0)
		for i, f := range list {
			if total += f.Size(); i >= c.max.entries || total > c.max.bytes {
				_ = os.Remove(filepath.Join(c.dir, f.Name()))
			}
		}
	}
}
