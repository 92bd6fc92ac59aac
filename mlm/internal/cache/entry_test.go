package cache

import (
	"bytes"
	"errors"
	"infill/mlm/onnxgrad"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The folder stays within its limits; what was used longest ago goes, and what
// killed processes left.
func TestCacheLimits(t *testing.T) {
	t.Parallel()
	cacheDir := t.TempDir()
	c := &Graphs{Shelf: Shelf{filepath.Join(cacheDir, "graphs"), Limits{Bytes: 10_000, Entries: 4}},
		program: "p", options: "o", files: []string{"model.onnx"}}
	g := &Graph{About: About{Facts: onnxgrad.Facts{Inputs: []string{"input_ids"},
		Outputs: []string{"a", "b"}, Vocabulary: 1, Dimension: 1}}, Onnx: make([]byte, 1000)}
	path := func(model string) string { return c.path(c.Key(model), graphSuffix) }
	exists := func(model string) bool { _, err := os.Stat(path(model)); return err == nil }
	age := func(path string, d time.Duration) {
		if err := os.Chtimes(path, time.Now().Add(-d), time.Now().Add(-d)); err != nil {
			t.Fatal(err)
		}
	}
	for i, m := range []string{"a", "b", "c", "d"} {
		c.Keep(m, g)
		age(path(m), time.Duration(9-i)*time.Hour)
	}
	temp, fresh := filepath.Join(c.dir, ".infill-1.tmp"), filepath.Join(c.dir, ".infill-2.tmp")
	if err := errors.Join(os.WriteFile(temp, nil, 0o644),
		os.WriteFile(fresh, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	age(temp, 2*staleTemp)
	age(path("a"), 0) // used again
	c.Keep("e", g)
	if !exists("a") || exists("b") || !exists("c") || !exists("d") || !exists("e") {
		t.Errorf("of five the oldest of four should be gone: a %v b %v c %v d %v e %v", exists("a"),
			exists("b"), exists("c"), exists("d"), exists("e"))
	}
	if _, err := os.Stat(temp); err == nil {
		t.Error("an old temporary file stays")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("another process's temporary file was removed")
	}
	// By size: 4 × 1,300 and 4,500 bytes are more than 9,000, one of 6,000 is too large to be kept.
	g.Onnx = make([]byte, 4500)
	c.Keep("f", g)
	c.Keep("g", g)
	if !exists("g") || !exists("f") || exists("c") || exists("d") {
		t.Errorf("by size: c %v d %v f %v g %v", exists("c"), exists("d"), exists("f"), exists("g"))
	}
	g.Onnx = make([]byte, 6000)
	c.Keep("h", g)
	if exists("h") {
		t.Error("a graph larger than half the cache was kept")
	}
	// Weights count as graphs do: 5,000 bytes and one graph of 4,500 fit, two do not.
	age(path("f"), time.Hour)
	if err := os.WriteFile(c.path("w", weightsSuffix), make([]byte, 5000), 0o644); err != nil {
		t.Fatal(err)
	}
	c.prune()
	if !exists("g") || exists("f") {
		t.Errorf("beside weights: g %v f %v", exists("g"), exists("f"))
	}
	age(c.path("w", weightsSuffix), time.Hour)
	g.Onnx = make([]byte, 4500)
	c.Keep("i", g)
	if _, err := os.Stat(c.path("w", weightsSuffix)); err == nil || !exists("i") {
		t.Errorf("old weights stay (%v), i %v", err, exists("i"))
	}
}

// smallEntry is an entry of a graph of a few bytes.
func smallEntry(t testing.TB) []byte {
	t.Helper()
	g := &Graph{About: About{Key: "k", Facts: onnxgrad.Facts{Inputs: []string{"input_ids"},
		Outputs: []string{"a", "b"}, Vocabulary: 9, Dimension: 2}}, Onnx: []byte("graph")}
	b, err := g.encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every bit of an entry matters, and every byte must be there.
func TestEntryDamage(t *testing.T) {
	t.Parallel()
	whole := smallEntry(t)
	g, err := decodeGraph(whole, "k")
	if err != nil || string(g.Onnx) != "graph" || g.About.Vocabulary != 9 {
		t.Fatalf("%+v, %v", g, err)
	}
	if _, err := decodeGraph(whole, "other"); !errors.Is(err, errEntry) {
		t.Errorf("another model's entry: %v", err)
	}
	for bit := range 8 * len(whole) {
		b := slices.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		if _, err := decodeGraph(b, "k"); !errors.Is(err, errEntry) {
			t.Fatalf("bit %d flipped: %v", bit, err)
		}
	}
	for n := range whole {
		if _, err := decodeGraph(whole[:n], "k"); !errors.Is(err, errEntry) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// FuzzDecodeGraph gives the parser bytes with a right checksum, too.
func FuzzDecodeGraph(f *testing.F) {
	whole := smallEntry(f)
	f.Add(whole, false)
	f.Add(whole[:len(whole)-32], true)
	f.Add([]byte(entryMagic+"\xff\xff\xff\xff{}"), true)
	f.Fuzz(func(t *testing.T, b []byte, sum bool) {
		if sum {
			b = sealed(slices.Clip(b))
		}
		g, err := decodeGraph(b, "k")
		if err != nil {
			if !errors.Is(err, errEntry) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		again, err := g.encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decodeGraph(again, "k"); err != nil || !bytes.Equal(back.Onnx, g.Onnx) {
			t.Fatalf("not the same after encoding: %v", err)
		}
		_ = g.check(os.DirFS("../../testdata/tiny-bert")) // an error or none
	})
}
