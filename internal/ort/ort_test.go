package ort

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"infill/internal/disk"
)

// childEnv makes the test binary load the named library and print the error:
// a process can load one runtime only, and a bad one is best met elsewhere.
const childEnv = "INFILL_ORT_TEST_LOAD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		_, err := Load(FindOptions{Path: path})
		switch {
		case errors.Is(err, errRuntimeVersion):
			_, _ = os.Stdout.WriteString("version: " + err.Error())
		case errors.Is(err, errRuntimeCorrupt):
			_, _ = os.Stdout.WriteString("corrupt: " + err.Error())
		case errors.Is(err, errRuntimeMissing):
			_, _ = os.Stdout.WriteString("missing: " + err.Error())
		case err == nil:
			_, _ = os.Stdout.WriteString("ok")
		}
		os.Exit(0)
	}
	if os.Getenv(findEnv) != "" {
		r, err := find(FindOptions{})
		fmt.Printf("%s\n%s\n%v\n", r.Path, r.Source, err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func loadInChild(t *testing.T, path string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the process that loaded %s: %v", path, err)
	}
	return string(out)
}

// isolate empties everything Find looks at.
func isolate(t *testing.T) (cache string) {
	t.Helper()
	cache = t.TempDir()
	t.Setenv(disk.EnvCache, cache)
	t.Setenv(EnvLibrary, "")
	t.Setenv("LD_LIBRARY_PATH", "")
	t.Setenv("DYLD_LIBRARY_PATH", "")
	return cache
}

// fakeLibrary compiles a shared library that looks like the runtime from
// outside: it exports OrtGetApiBase and carries a symbol version. Its API
// base answers NULL to every API version, as an older runtime does.
func fakeLibrary(t *testing.T, version string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("fake libraries are made for ELF systems")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	src := write("f.c", `
typedef struct { const void *(*api)(unsigned); const char *(*version)(void); } base;
static const void *api(unsigned v) { (void)v; return 0; }
static const char *version(void) { return "`+version+`"; }
static const base b = { api, version };
const base *OrtGetApiBase(void) { return &b; }
`)
	script := write("v.map", "VERS_"+version+" { global: OrtGetApiBase; local: *; };\n")
	lib := filepath.Join(dir, "libonnxruntime.so.1")
	cmd := exec.Command("cc", "-shared", "-fPIC", "-o", lib, src, "-Wl,--version-script="+script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cc (which cgo needs as well): %v\n%s", err, out)
	}
	return lib
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFindMissing(t *testing.T) {
	cache := isolate(t)
	r, err := find(FindOptions{noSystem: true})
	if !errors.Is(err, errRuntimeMissing) {
		t.Fatalf("got %v, want errRuntimeMissing", err)
	}
	for _, want := range []string{cache, "install it", EnvLibrary} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not name %q", err, want)
		}
	}
	if r.OK || r.Problem != err.Error() || len(r.Looked) == 0 {
		t.Errorf("the report does not tell: %+v", r)
	}
	if !strings.Contains(r.String(), "problem") {
		t.Errorf("printed report: %s", r)
	}
}

func TestFindNamed(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	if err := os.WriteFile(text, []byte("not a library at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty.so")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		want       error
		text       string
	}{
		{"absent", filepath.Join(dir, "absent.so"), errRuntimeMissing, "does not exist"},
		{"folder", dir, errRuntimeMissing, "is a folder"},
		{"text", text, errRuntimeCorrupt, "not a whole"},
		{"empty", empty, errRuntimeCorrupt, "not a whole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := find(FindOptions{Path: c.path})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) ||
				!strings.Contains(err.Error(), c.path) {
				t.Errorf("flag: %v", err)
			}
			t.Setenv(EnvLibrary, c.path)
			r, err := find(FindOptions{})
			if !errors.Is(err, c.want) || r.Source != sourceEnv {
				t.Errorf("environment: %v, source %s", err, r.Source)
			}
		})
	}
}

func TestFindOrder(t *testing.T) {
	cache := isolate(t)
	lib := fakeLibrary(t, Version)
	p, err := thisPlatform()
	if err != nil {
		t.Fatal(err)
	}
	// The flag wins over the environment, the environment over the cache.
	cached := filepath.Join(libraryDir(cache, p.goos, p.goarch), p.file)
	copyFile(t, lib, cached)
	env := filepath.Join(t.TempDir(), "env.so")
	copyFile(t, lib, env)
	t.Setenv(EnvLibrary, env)
	if r, err := find(FindOptions{Path: lib}); err != nil || r.Path != lib ||
		r.Source != sourceGiven || r.Version != Version {
		t.Errorf("flag: %+v, %v", r, err)
	}
	if r, err := find(FindOptions{}); err != nil || r.Path != env || r.Source != sourceEnv ||
		r.Pinned {
		t.Errorf("environment: %+v, %v", r, err)
	}
	// In the cache the hash counts, and a wrong one is not passed over.
	t.Setenv(EnvLibrary, "")
	r, err := find(FindOptions{})
	if !errors.Is(err, errRuntimeCorrupt) || r.Path != cached ||
		!strings.Contains(err.Error(), p.npm.sha256) {
		t.Errorf("cache: %+v, %v", r, err)
	}
	// An explicit cache folder wins over the variable.
	other := t.TempDir()
	if r, err := find(FindOptions{CacheDir: other, noSystem: true}); !errors.Is(err,
		errRuntimeMissing) ||
		!strings.HasPrefix(r.Cache, other) {
		t.Errorf("cache folder: %+v, %v", r, err)
	}
	// A system folder comes last.
	sys := t.TempDir()
	copyFile(t, lib, filepath.Join(sys, "libonnxruntime.so.1"))
	t.Setenv("LD_LIBRARY_PATH", sys)
	if r, err := find(FindOptions{CacheDir: other}); err != nil || r.Source != sourceSystem {
		t.Errorf("system: %+v, %v", r, err)
	}
}

// A user without a home folder has no cache, and the error says so first.
func TestNoHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData", "INFILL_CACHE", EnvLibrary} {
		t.Setenv(name, "")
	}
	r, err := find(FindOptions{noSystem: true})
	if !errors.Is(err, errRuntimeMissing) || len(r.Looked) != 0 ||
		!strings.HasPrefix(err.Error(), errRuntimeMissing.Error()+": no cache folder: ") ||
		!strings.Contains(err.Error(), "set INFILL_CACHE to a folder, or "+EnvLibrary+" to the library") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWrongVersion(t *testing.T) {
	isolate(t)
	for version, ok := range map[string]bool{"1.17.1": false, "1.26.9": false, "2.0.0": false,
		"1.28.3": true, "1.27.0": true} {
		r, err := find(FindOptions{Path: fakeLibrary(t, version)})
		if ok != (err == nil) || !ok && !errors.Is(err, errRuntimeVersion) {
			t.Errorf("%s: %v", version, err)
		}
		if noted := r.Note != ""; ok && noted != (version != Version) {
			t.Errorf("%s: note %q", version, r.Note)
		}
	}
	// A library that states a good version but does not offer the C API.
	if got := loadInChild(t, fakeLibrary(t, Version)); !strings.HasPrefix(got, "version: ") ||
		!strings.Contains(got, "install it again") {
		t.Errorf("no API: %q", got)
	}
}

func TestTruncatedLibrary(t *testing.T) {
	real, err := find(FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	isolate(t)
	data, err := os.ReadFile(real.Path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, n := range []int{0, 3, 64, 4096, len(data) / 2, len(data) - 1} {
		path := filepath.Join(dir, "cut.so")
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := find(FindOptions{Path: path}); !errors.Is(err, errRuntimeCorrupt) {
			t.Errorf("%d of %d bytes: %v", n, len(data), err)
		}
		if got := loadInChild(t, path); !strings.HasPrefix(got, "corrupt: ") {
			t.Errorf("%d of %d bytes loaded: %q", n, len(data), got)
		}
	}
	// A shared library of the right format that is something else.
	other := filepath.Join(dir, "other.so")
	src := filepath.Join(dir, "o.c")
	if err := os.WriteFile(src, []byte("int f(void) { return 1; }"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", other,
		src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := find(FindOptions{Path: other}); !errors.Is(err, errRuntimeCorrupt) ||
		!strings.Contains(err.Error(), "OrtGetApiBase") {
		t.Errorf("another library: %v", err)
	}
}

// FuzzInspect feeds damaged library headers to the format checks.
func FuzzInspect(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	if exe, err := os.ReadFile(os.Args[0]); err == nil && len(exe) > 4096 {
		f.Add(exe[:4096])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "lib")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := inspect(path, "linux", "amd64"); err != nil && !errors.Is(err, errRuntimeCorrupt) {
			t.Errorf("untyped error %v", err)
		}
	})
}

func TestLoadedOnce(t *testing.T) {
	r, err := Load(FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK || !r.Loaded || r.Version == "" || r.SHA256 == "" {
		t.Errorf("report: %+v", r)
	}
	if again, err := Load(FindOptions{Path: r.Path}); err != nil || again.Path != r.Path {
		t.Errorf("the same file again: %v", err)
	}
	if _, err := Load(FindOptions{Path: filepath.Join(t.TempDir(), "x")}); !errors.Is(err,
		errRuntimeVersion) {
		t.Errorf("another file: %v", err)
	}
	if _, err := OpenBytes("junk", bytes.Repeat([]byte{0xff}, 100), []string{"x"}, []string{"y"},
		Config{}); !errors.Is(err, errModel) {
		t.Errorf("not a model: %v", err)
	}
	if _, err := OpenBytes("empty", nil, []string{"x"}, []string{"y"}, Config{}); !errors.Is(err,
		errModel) {
		t.Errorf("empty model: %v", err)
	}
}
