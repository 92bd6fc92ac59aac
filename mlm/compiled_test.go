package mlm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/internal/testmode"
)

// compiling are options with a cache in dir and the device that compiles.
func compiling(t testing.TB, dir string) Options {
	t.Helper()
	if d := orttest.OpenVINO(t); !d.Compiles {
		t.Fatalf("%+v", d)
	}
	o := cached(dir)
	o.Device = ort.OpenVINO
	return o
}

// uncached is what the model of a folder computes on the device when nothing is kept.
func uncached(t testing.TB, dir string, o Options) []uint32 {
	t.Helper()
	o.CacheDir, o.cacheLimits = t.TempDir(), nil
	_, bits := opened(t, dir, o)
	return bits
}

// recompiled opens a model and gives what it computes, and what it says of being compiled.
func recompiled(t testing.TB, dir string, o Options) (bits []uint32, why string) {
	t.Helper()
	m := openFolderAs(t, dir, o, false)
	defer func() { _ = m.Close() }()
	s, states := randomStates(m, 5, 12, 3, 4)
	return everything(t, m, s, states), m.Info().Recompiled
}

// noteOf is the note of an entry.
func noteOf(t testing.TB, entry string) *compiledNote {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(entry, compiledAbout))
	n := &compiledNote{}
	if err == nil {
		err = json.Unmarshal(b[:max(0, len(b)-32)], n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func setNote(t testing.TB, entry string, n *compiledNote) {
	t.Helper()
	if err := new(compilation).writeNote(entry, n); err != nil {
		t.Fatal(err)
	}
}

// one is the only entry of a cache.
func one(t testing.TB, cacheDir string) string {
	t.Helper()
	list := entries(t, cacheDir, compiledSuffix)
	if rest := entries(t, cacheDir, ".tmp"); len(list) != 1 || len(rest) > 0 {
		t.Fatalf("entries %v, left behind %v", list, rest)
	}
	return list[0]
}

// changed is a copy of the tiny model with another weight, of the same size and times.
func changed(t testing.TB, of string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "model.onnx")
	data, err := os.ReadFile(filepath.Join(of, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(of, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 4 // in a weight
	if err := errors.Join(os.CopyFS(dir, os.DirFS(of)), os.WriteFile(file, data, 0o644),
		os.Chtimes(file, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What the device compiled is written by the first opening, checked by the second, and gives the
// same bits in every one. Each set of options has its own.
func TestCompiledKept(t *testing.T) {
	testmode.Long(t)
	t.Parallel()
	dir := copyTiny(t)
	for _, o := range []Options{{}, {Threads: 2}, {LowMemory: true}} {
		cacheDir := t.TempDir()
		with := compiling(t, cacheDir)
		with.Threads, with.LowMemory = o.Threads, o.LowMemory
		want := uncached(t, dir, with)
		for i := range 3 {
			got, why := recompiled(t, dir, with)
			n := noteOf(t, one(t, cacheDir))
			if !slices.Equal(got, want) || why != "" || n.Checked != (i > 0) || n.Checks != 0 {
				t.Errorf("%+v, opening %d: same bits %v, says %q, %+v", o, i, slices.Equal(got, want), why, n)
			}
		}
	}
	o := compiling(t, t.TempDir())
	for i := range 3 {
		o.Threads, o.LowMemory = 1+i%2, i > 1
		recompiled(t, dir, o)
	}
	if n := len(entries(t, o.CacheDir, compiledSuffix)); n != 3 {
		t.Errorf("%d entries for three sets of options", n)
	}
}

// A checked entry is what is computed: with the files of another model it gives their numbers.
func TestCompiledIsRead(t *testing.T) {
	testmode.Long(t)
	t.Parallel()
	dir := copyTiny(t)
	other := changed(t, dir)
	o, of := compiling(t, t.TempDir()), compiling(t, t.TempDir())
	recompiled(t, dir, o)
	recompiled(t, other, of)
	want := uncached(t, other, of)
	if slices.Equal(want, uncached(t, dir, o)) {
		t.Fatal("the change has no effect")
	}
	entry := one(t, o.CacheDir)
	n, from := noteOf(t, entry), noteOf(t, one(t, of.CacheDir))
	n.Graph, n.Files, n.Checked = from.Graph, from.Files, true
	if err := errors.Join(os.RemoveAll(entry),
		os.CopyFS(entry, os.DirFS(one(t, of.CacheDir)))); err != nil {
		t.Fatal(err)
	}
	setNote(t, entry, n)
	if got, _ := recompiled(t, dir, o); !slices.Equal(got, want) {
		t.Error("not what the entry holds")
	}
	// Before it was checked it is found out.
	n.Checked = false
	setNote(t, entry, n)
	if got, why := recompiled(t, dir, o); !slices.Equal(got, uncached(t, dir, o)) ||
		!strings.Contains(why, "other numbers") {
		t.Errorf("unchecked: %q", why)
	}
}

// A damaged entry is compiled and written again.
func TestCompiledHeals(t *testing.T) {
	testmode.Long(t)
	t.Parallel()
	dir := copyTiny(t)
	o := compiling(t, t.TempDir())
	want := uncached(t, dir, o)
	recompiled(t, dir, o)
	recompiled(t, dir, o)
	entry := one(t, o.CacheDir)
	flip := func(name string) error {
		path := filepath.Join(entry, name)
		b, err := os.ReadFile(path)
		if err == nil {
			b[len(b)/2] ^= 1
			err = os.WriteFile(path, b, 0o644)
		}
		return err
	}
	file := func(graph bool) string {
		n := noteOf(t, entry)
		for name := range n.Files {
			if (name == n.Graph) == graph {
				return name
			}
		}
		return ""
	}
	for name, damage := range map[string]func() error{
		"note":    func() error { return flip(compiledAbout) },
		"no note": func() error { return os.Remove(filepath.Join(entry, compiledAbout)) },
		"graph":   func() error { return flip(file(true)) },
		"weights": func() error { return flip(file(false)) },
		"shorter": func() error { return os.Truncate(filepath.Join(entry, file(false)), 1000) },
		"gone":    func() error { return os.Remove(filepath.Join(entry, file(false))) },
		"a file": func() error {
			return errors.Join(os.RemoveAll(entry), os.WriteFile(entry, nil, 0o644))
		},
		"foreign": func() error {
			n := noteOf(t, entry)
			n.Key += "x"
			return new(compilation).writeNote(entry, n)
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			got, why := recompiled(t, dir, o)
			if n := noteOf(t, one(t, o.CacheDir)); !slices.Equal(got, want) || why != "" ||
				n.Checked != (i > 0) {
				t.Errorf("%s, opening %d: right %v, says %q, %+v", name, i, slices.Equal(got, want), why, n)
			}
		}
	}
}

// What gives other numbers when it is read back, or has ended three processes, is compiled at every
// start.
func TestCompiledRefused(t *testing.T) {
	testmode.Long(t)
	t.Parallel()
	dir := copyTiny(t)
	for name, spoil := range map[string]func(n *compiledNote){
		"other numbers":  func(n *compiledNote) { n.Answers = strings.Repeat("0", 64) },
		"failed 3 times": func(n *compiledNote) { n.Checks = maxChecks },
	} {
		o := compiling(t, t.TempDir())
		want := uncached(t, dir, o)
		recompiled(t, dir, o)
		n := noteOf(t, one(t, o.CacheDir))
		spoil(n)
		setNote(t, one(t, o.CacheDir), n)
		for i := range 2 {
			got, why := recompiled(t, dir, o)
			if !slices.Equal(got, want) || !strings.Contains(why, name) {
				t.Errorf("%s, opening %d: right %v, says %q", name, i, slices.Equal(got, want), why)
			}
			if left, err := os.ReadDir(one(t, o.CacheDir)); err != nil || len(left) != 1 {
				t.Errorf("%s: %v is left of the entry, %v", name, left, err)
			}
		}
	}
}

// OpenVINO 2026.4 does not write all of modernbert-dynamo, see compilation.
func TestCompiledRotary(t *testing.T) {
	testmode.Long(t)
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/architectures/modernbert")); err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile("onnxgrad/testdata/modernbert-dynamo.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "model.onnx"), model, 0o644); err != nil {
		t.Fatal(err)
	}
	o := compiling(t, t.TempDir())
	want := uncached(t, dir, o)
	for i, says := range []string{"", "other numbers", "other numbers"} {
		got, why := recompiled(t, dir, o)
		if !slices.Equal(got, want) || !strings.Contains(why, says) || (says == "") != (why == "") {
			t.Errorf("opening %d: right %v, says %q", i, slices.Equal(got, want), why)
		}
	}
}

// A model that was changed and kept its size and times leaves nothing under the name of the old
// one.
func TestCompiledChangedModel(t *testing.T) {
	testmode.Long(t)
	t.Parallel()
	dir := copyTiny(t)
	other := changed(t, dir)
	o := compiling(t, t.TempDir())
	recompiled(t, dir, o)
	old := one(t, o.CacheDir)
	if err := os.RemoveAll(old); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(other, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "model.onnx")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(file, data, 0o644),
		os.Chtimes(file, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	got, _ := recompiled(t, dir, o)
	if !slices.Equal(got, uncached(t, other, o)) {
		t.Error("other numbers")
	}
	if one(t, o.CacheDir) == old {
		t.Error("kept as the model that it was")
	}
}

// Several at once compute the same and leave one entry. Where there is no room for it, or no
// folder, the model says so.
func TestCompiledTogether(t *testing.T) {
	testmode.Long(t)
	t.Parallel()
	dir := copyTiny(t)
	o := compiling(t, t.TempDir())
	want := uncached(t, dir, o)
	for range 2 {
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if got, why := recompiled(t, dir, o); !slices.Equal(got, want) || why != "" {
					t.Errorf("right %v, says %q", slices.Equal(got, want), why)
				}
			})
		}
		group.Wait()
		one(t, o.CacheDir)
	}
	if !noteOf(t, one(t, o.CacheDir)).Checked {
		t.Error("not checked")
	}
	l := *o.cacheLimits
	l.compiled = 1 << 20
	o.cacheLimits = &l
	o.CacheDir = t.TempDir()
	if got, why := recompiled(t, dir, o); !slices.Equal(got, want) || !strings.Contains(why, "MB") {
		t.Errorf("without room: right %v, says %q", slices.Equal(got, want), why)
	}
	o = compiling(t, filepath.Join(dir, "model.onnx"))
	if got, why := recompiled(t, dir, o); !slices.Equal(got, want) || why == "" {
		t.Errorf("without a folder: right %v, says %q", slices.Equal(got, want), why)
	}
}

// The room that is asked for is enough for what OpenVINO writes of BERT-base. A model of three times
// its weights is within the bounds.
func TestCompiledRoom(t *testing.T) {
	t.Parallel()
	const weights, forward, backward = 438_000_000, 438_960_128, 969_801_728
	for _, c := range []struct {
		a     about
		least int64
	}{{about{Weights: weights}, forward}, {about{Weights: weights, Gradient: true}, backward}} {
		if n := c.a.compiledBytes(); n < c.least || n > c.least*3/2 {
			t.Errorf("%+v: %d bytes, it writes %d", c.a, n, c.least)
		}
	}
	large := about{Weights: 3 * weights}
	if n := large.compiledBytes(); n > usualLimits.compiled/2 {
		t.Errorf("BERT-large is not kept: %d bytes", n)
	}
}

// Every bit of a note matters, and every byte must be there.
func TestCompiledNote(t *testing.T) {
	t.Parallel()
	e := &compilation{path: t.TempDir(), key: "k"}
	setNote(t, e.path, &compiledNote{Key: "k", Checked: true, Files: map[string]string{"a": "b"}})
	if n := e.read(); n == nil || !n.Checked || n.Files["a"] != "b" {
		t.Fatalf("%+v", n)
	}
	if (&compilation{path: e.path, key: "other"}).read() != nil {
		t.Error("the note of another key")
	}
	whole, err := os.ReadFile(e.notePath())
	if err != nil {
		t.Fatal(err)
	}
	try := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(e.notePath(), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if n := e.read(); n != nil {
			t.Errorf("%q is read as %+v", b, n)
		}
	}
	for bit := range 8 * len(whole) {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		try(b)
	}
	for n := range whole {
		try(whole[:n])
	}
	try(sealed([]byte("null")))
	try(sealed([]byte("{")))
	if err := e.whole(context.Background(), &compiledNote{}); !errors.Is(err, errEntry) {
		t.Error(err)
	}
}

// The folder stays within its limits. What was used longest ago goes, and what killed processes
// left.
func TestCompiledLimits(t *testing.T) {
	t.Parallel()
	s := &shelf{t.TempDir(), limits{compiled: 10_000, entries: 3}}
	put := func(name string, size int, age time.Duration) {
		t.Helper()
		dir, at := filepath.Join(s.dir, name), time.Now().Add(-age)
		about := filepath.Join(dir, compiledAbout)
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(about, nil, 0o644),
			os.WriteFile(filepath.Join(dir, "x"), make([]byte, size), 0o644), os.Chtimes(about, at, at),
			os.Chtimes(dir, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(names ...string) {
		t.Helper()
		s.pruneCompiled()
		var got []string
		list, err := os.ReadDir(s.dir)
		for _, f := range list {
			got = append(got, f.Name())
		}
		if err != nil || !slices.Equal(got, names) {
			t.Errorf("%v, want %v (%v)", got, names, err)
		}
	}
	put("a.compiled", 4000, 4*time.Hour)
	put("b.compiled", 4000, 3*time.Hour)
	put("other", 1<<20, 9*time.Hour)
	put(".infill-1.tmp", 10, 2*staleTemp)
	put(".infill-2.tmp", 10, 0)
	want(".infill-2.tmp", "a.compiled", "b.compiled", "other")
	put("c.compiled", 4000, time.Hour) // too many bytes
	want(".infill-2.tmp", "b.compiled", "c.compiled", "other")
	put("d.compiled", 1, 0)
	put("e.compiled", 1, 0) // too many entries
	want(".infill-2.tmp", "c.compiled", "d.compiled", "e.compiled", "other")
}
