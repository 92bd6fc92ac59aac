package mlm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"infill/internal/ort/orttest"
	"infill/mlm/internal/cache"
)

// The files of a cache, as they lie on the disk.
const (
	graphSuffix   = ".graph"
	noteSuffix    = ".seen"
	weightsSuffix = ".weights"
	entryMagic    = "infill graph 4\n"
	recheck       = 24 * time.Hour
)

// cached are options with a cache in dir that keeps graphs of models of any size.
func cached(dir string) options {
	return options{Options: Options{CacheDir: dir},
		cacheLimits: &cache.Limits{Bytes: 1 << 30, Entries: 64}}
}

// copyTiny is a folder of its own with the tiny model.
func copyTiny(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tinyDir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// opened opens a model, and reports whether the graph came from the cache and what
// the model computes.
func opened(t testing.TB, dir string, o options) (fromCache bool, bits []uint32) {
	t.Helper()
	orttest.Load(t)
	m, err := openDir(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	s, states := randomStates(m, 5, 12, 3, 4)
	bits = everything(t, m, s, states)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if m.Info().SHA256 == "" || !m.Info().Gradients && !o.Forward && o.Precision != Int8 || m.Info().Embedding == "" {
		t.Fatalf("incomplete description: %+v", m.Info())
	}
	return m.info.fromCache, bits
}

// entries are the paths in a cache with a suffix, sorted.
func entries(t testing.TB, cacheDir, suffix string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(cacheDir, "graphs", "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The second opening takes the graph from the cache and computes the same bits,
// for every set of options by itself, however the files' times were changed.
func TestCacheKeepsGraphs(t *testing.T) {
	t.Parallel()
	dir, cacheDir := copyTiny(t), t.TempDir()
	sets := []options{{}, of(Options{Precision: Int8}), of(Options{LowMemory: true}),
		{looseTable: true}}
	for i, o := range sets {
		o.Threads = 2
		_, want := opened(t, dir, o) // too small for the usual cache
		o.CacheDir, o.cacheLimits = cacheDir, cached("").cacheLimits
		for k, wantHit := range []bool{false, true, true} {
			if k == 2 { // no note of these files' times: the hash is waited for
				now := time.Now().Add(time.Hour)
				if err := os.Chtimes(filepath.Join(dir, "model.onnx"), now, now); err != nil {
					t.Fatal(err)
				}
			}
			hit, got := opened(t, dir, o)
			if hit != wantHit || !slices.Equal(got, want) {
				t.Errorf("options %d, opening %d: from the cache %v, same bits %v", i, k, hit,
					slices.Equal(got, want))
			}
		}
	}
	if n := len(entries(t, cacheDir, graphSuffix)); n != len(sets) {
		t.Errorf("%d graphs for %d sets of options", n, len(sets))
	}
	// The same files elsewhere are the same model.
	if hit, _ := opened(t, copyTiny(t), cached(cacheDir)); !hit {
		t.Error("the same model in another folder was derived again")
	}
}

// A model that changes and keeps its name, size and times is another model.
func TestCacheChangedModel(t *testing.T) {
	t.Parallel()
	dir, cacheDir := copyTiny(t), t.TempDir()
	file := filepath.Join(dir, "model.onnx")
	_, before := opened(t, dir, cached(cacheDir))
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 4 // in a weight
	if err := errors.Join(os.WriteFile(file, data, 0o644),
		os.Chtimes(file, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	_, want := opened(t, dir, options{})
	if slices.Equal(want, before) {
		t.Fatal("the change has no effect")
	}
	for i, wantHit := range []bool{false, true} {
		if hit, got := opened(t, dir, cached(cacheDir)); hit != wantHit || !slices.Equal(got, want) {
			t.Errorf("opening %d of the changed model: from the cache %v, right %v", i, hit,
				slices.Equal(got, want))
		}
	}
}

// A damaged entry, whatever the damage, is derived again and heals.
func TestCacheHeals(t *testing.T) {
	t.Parallel()
	dir, cacheDir := copyTiny(t), t.TempDir()
	_, want := opened(t, dir, cached(cacheDir))
	list := entries(t, cacheDir, graphSuffix)
	if len(list) != 1 {
		t.Fatalf("entries: %v", list)
	}
	whole, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := map[string][]byte{"empty": {}, "text": []byte("hello"),
		"longer": append(slices.Clone(whole), 0)}
	for _, n := range []int{10, len(entryMagic) + 2, 100, len(whole) / 2, len(whole) - 1} {
		damaged[fmt.Sprint("first ", n)] = whole[:n]
	}
	for i := range 12 {
		at := i * (len(whole) - 1) / 11
		b := slices.Clone(whole)
		b[at] ^= 1 << (i % 8)
		damaged[fmt.Sprint("bit at ", at)] = b
	}
	// A whole entry, of another model.
	other := t.TempDir()
	o := cached(other)
	o.LowMemory = true
	opened(t, dir, o)
	if damaged["foreign"], err = os.ReadFile(entries(t, other, graphSuffix)[0]); err != nil {
		t.Fatal(err)
	}
	// One of ours in every respect, but with a graph that our reader refuses.
	damaged["bad graph"] = halfGraph(whole)
	for name, b := range damaged {
		if err := os.WriteFile(list[0], b, 0o644); err != nil {
			t.Fatal(err)
		}
		if hit, got := opened(t, dir, cached(cacheDir)); hit || !slices.Equal(got, want) {
			t.Errorf("%s: from the cache %v, right %v", name, hit, slices.Equal(got, want))
		}
		if healed, err := os.ReadFile(list[0]); err != nil || !bytes.Equal(healed, whole) {
			t.Errorf("%s: not healed (%v)", name, err)
		}
	}
	// Notes are only guesses: any content will do.
	for _, n := range entries(t, cacheDir, noteSuffix) {
		if err := os.WriteFile(n, []byte(strings.Repeat("0", 64)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if hit, got := opened(t, dir, cached(cacheDir)); !hit || !slices.Equal(got, want) {
		t.Errorf("with a bad note: from the cache %v, right %v", hit, slices.Equal(got, want))
	}
}

// halfGraph is an entry with half of its graph, and a checksum of that.
func halfGraph(entry []byte) []byte {
	head := len(entryMagic)
	head += bytes.IndexByte(entry[head:], '\n') + 1
	graph := entry[head : len(entry)-sha256.Size]
	b := slices.Clone(entry[:head+len(graph)/2])
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// A cache that cannot be used is no error.
func TestCacheUnusable(t *testing.T) {
	t.Parallel()
	cacheUnusable(t, copyTiny(t))
}

// TestKeptUnusable is the same for a stored model.
func TestKeptUnusable(t *testing.T) {
	t.Parallel()
	cacheUnusable(t, copyStored(t))
}

func cacheUnusable(t *testing.T, dir string) {
	_, want := opened(t, dir, options{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	locked := t.TempDir()
	// root may write there all the same
	if err := os.Mkdir(filepath.Join(locked, "graphs"), 0o500); err != nil {
		t.Fatal(err)
	}
	taken := t.TempDir() // a folder where the entry belongs
	opened(t, dir, cached(taken))
	for _, suffix := range []string{graphSuffix, weightsSuffix, noteSuffix} {
		for _, e := range entries(t, taken, suffix) {
			if err := errors.Join(os.Remove(e), os.Mkdir(e, 0o755),
				os.WriteFile(filepath.Join(e, "x"), nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []string{file, filepath.Join(file, "below"), locked, taken} {
		for range 2 {
			if _, got := opened(t, dir, cached(c)); !slices.Equal(got, want) {
				t.Errorf("with the cache %s results differ", c)
			}
		}
	}
	if rest := entries(t, taken, ".tmp"); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
}

// TestCacheProcesses has several processes open the same model with the same empty
// cache at once, several times each: all compute the same, and the cache is whole.
func TestCacheProcesses(t *testing.T) {
	t.Parallel()
	cacheProcesses(t, copyTiny(t), graphSuffix, noteSuffix)
}

// TestKeptProcesses is the same for a stored model.
func TestKeptProcesses(t *testing.T) {
	t.Parallel()
	cacheProcesses(t, copyStored(t), graphSuffix, weightsSuffix)
}

// cacheProcesses wants one file of each suffix in the cache.
func cacheProcesses(t *testing.T, dir string, suffixes ...string) {
	if dir := os.Getenv("INFILL_TEST_CACHE_MODEL"); dir != "" {
		for range 3 {
			hit, bits := opened(t, dir, cached(os.Getenv("INFILL_TEST_CACHE_DIR")))
			h := fnv.New64a()
			_ = binary.Write(h, binary.LittleEndian, bits)
			fmt.Printf("opened %x %v\n", h.Sum64(), hit)
		}
		return
	}
	cacheDir := t.TempDir()
	var group sync.WaitGroup
	out := make([]string, 4)
	for i := range out {
		group.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestCacheProcesses$", "-test.v")
			cmd.Env = append(os.Environ(), "INFILL_TEST_CACHE_MODEL="+dir, "INFILL_TEST_CACHE_DIR="+cacheDir)
			b, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v\n%s", i, err, b)
			}
			out[i] = string(b)
		})
	}
	group.Wait()
	sums := map[string]int{}
	hits := 0
	for _, o := range out {
		for line := range strings.Lines(o) {
			var sum string
			var hit bool
			if n, _ := fmt.Sscanf(line, "opened %s %v", &sum, &hit); n == 2 {
				sums[sum]++
				if hit {
					hits++
				}
			}
		}
	}
	if len(sums) != 1 || hits < 8 { // every process's second and third opening
		t.Errorf("results %v, %d of 12 from the cache", sums, hits)
	}
	for _, suffix := range suffixes {
		if list := entries(t, cacheDir, suffix); len(list) != 1 {
			t.Errorf("in the cache: %v", list)
		}
	}
	for _, path := range entries(t, cacheDir, "") {
		if !slices.Contains(append(suffixes, noteSuffix), filepath.Ext(path)) {
			t.Errorf("in the cache: %v", path)
		}
	}
	if hit, _ := opened(t, dir, cached(cacheDir)); !hit {
		t.Error("what the processes left is not used")
	}
}
