package cache

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"infill/internal/disk"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
)

// Graphs keeps derived graphs in the folder "graphs" of the user's cache. A graph is named by the
// SHA-256 of the model's files, of this program and of the options that it depends on, so that
// it is never stale. It is written under another name, made to last and renamed, so
// that it is whole or not there. It ends with a checksum. What is damaged counts as
// missing and is written again. Nothing about the cache is ever an error of the command:
// without it a graph is derived.
type Graphs struct {
	Shelf
	program string // SHA-256 of this program
	options string // those that the graph depends on
	from    source.Folder
	files   []string // the model's, below from
	stored  string   // see storedKey
}

// For is the cache for a model, nil if there is to be none: for small models,
// for those whose weights are in memory, and where there is no folder for it. options are those
// that a graph depends on.
func (s *Shelf) For(ctx context.Context, from source.Folder, m *onnx.Model, file string,
	bytes int64, options string) *Graphs {
	if s == nil {
		return nil
	}
	key := ""
	if from.Dir == "" {
		if key = storedKey(ctx, from.FS, file); key == "" {
			return nil
		}
		bytes *= widened
	}
	if bytes < s.max.Least {
		return nil
	}
	program, err := programSum()
	if err != nil {
		return nil
	}
	return &Graphs{Shelf: *s, program: program, from: from, options: options, stored: key,
		files: append([]string{file}, m.External(file)...)}
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
	return disk.Hashed(path, func(io.Reader) error { return nil })
})

// Key names the graph of a model whose files have the given hash.
func (c *Graphs) Key(model string) string {
	parts := []string{"model " + model, "file " + c.files[0], "program " + c.program, c.options}
	if c.stored != "" {
		parts = append(parts, "stored")
	}
	for _, f := range c.files {
		if at := c.from.Locate(f); at != f && at != "" { // the graph says where its weights are
			parts = append(parts, "at "+at)
		}
	}
	return strings.Join(parts, "; ")
}

// Graph is the graph of a model whose files have the given hash, nil if the cache
// has none that is whole and passes the reader's checks.
func (c *Graphs) Graph(model string) *Graph {
	key := c.Key(model)
	path := c.path(key, graphSuffix)
	b := readSmall(path, c.max.Bytes/2)
	if b == nil {
		return nil
	}
	g, err := decodeGraph(b, key)
	if err != nil || g.About.Data != "" && !c.whole(g.About.Data) {
		return nil
	}
	if fsys, _ := c.Weights(g, c.from); g.check(fsys) != nil {
		return nil
	}
	used(path)
	return g
}

// Weights is the folder that the runtime reads a graph's weights from: the cache, or the model's.
func (s *Shelf) Weights(g *Graph, from source.Folder) (fs.FS, string) {
	if g.About.Data == "" {
		return from.Weights()
	}
	return os.DirFS(s.dir), s.dir
}

// check has our reader validate the graph before the runtime sees it.
func (g *Graph) check(fsys fs.FS) error {
	m, err := onnx.Parse(g.Onnx, "derived graph", fsys)
	if err != nil {
		return err
	}
	return m.Check()
}

// Keep stores a graph, but one that holds the weights of a stored model.
func (c *Graphs) Keep(model string, g *Graph) {
	if c.stored != "" && g.About.Data == "" {
		return
	}
	kept := *g
	kept.About.Key = c.Key(model)
	b, err := kept.encode()
	if err != nil || int64(len(b)) > c.max.Bytes/2 {
		return
	}
	if c.write(c.path(kept.About.Key, graphSuffix), b) == nil {
		c.prune()
	}
}

// notePath is the note of what hash the model's files had with their sizes and times, "" where they
// are not there. It is a guess only, to be confirmed by hashing: files can change and keep their
// times.
func (c *Graphs) notePath() string {
	key := filepath.Join(c.from.Dir, filepath.FromSlash(c.files[0]))
	for _, f := range c.files {
		info, err := fs.Stat(c.from.FS, f)
		if err != nil {
			return ""
		}
		key += fmt.Sprintf("; %s %d %d", f, info.Size(), info.ModTime().UnixNano())
	}
	return c.path(key, noteSuffix)
}

// Guess is the hash that the model's files had when last seen with these sizes and
// times, "" if they were not.
func (c *Graphs) Guess() string {
	if c.stored != "" { // it is known, or hashed once
		return ""
	}
	if sum := readSmall(c.notePath(), 2*sha256.Size); len(sum) == 2*sha256.Size {
		return string(sum)
	}
	return ""
}

// Remember notes the hash of the model's files, and of a stored model where its weights are.
func (c *Graphs) Remember(model string, g *Graph) {
	if c.stored != "" {
		if path, known, weights := c.storedNote(c.stored); g.About.Data != "" &&
			(known != model || weights != g.About.Data) {
			text := model + g.About.Data
			end := sha256.Sum256([]byte(c.stored + text))
			_ = c.write(path, append([]byte(text), end[:]...))
		}
		return
	}
	if path := c.notePath(); path != "" {
		_ = c.write(path, []byte(model))
	}
}
