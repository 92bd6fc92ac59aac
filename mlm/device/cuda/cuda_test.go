package cuda

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"infill/internal/ort"
	"infill/internal/testmode"
	"infill/mlm/device"
)

// onLinux skips a test elsewhere.
func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS+"-"+runtime.GOARCH != platform {
		testmode.Missing(t, "a machine with "+platform)
	}
}

// driven has the driver say something for one test.
func driven(t *testing.T, c card, err error) {
	t.Helper()
	was := driver
	driver = func() (card, error) { return c, err }
	t.Cleanup(func() { driver = was })
}

var h100 = card{name: "NVIDIA H100", driver: "580.95.05", cuda: 13000, capability: 90, memory: 80 << 30}

// installed puts files of the right names into a cache.
func installed(t *testing.T, cache string, w *ort.Wheel) {
	t.Helper()
	dir, err := w.Dir(cache)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	err = os.MkdirAll(dir, 0o755)
	for name := range w.Files {
		sizes[path.Base(name)] = 4
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, path.Base(name)), []byte("file"), 0o600))
	}
	b, jerr := json.Marshal(sizes)
	if err := errors.Join(err, jerr, os.WriteFile(filepath.Join(dir, "sizes.json"), b, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// alone leaves nothing of the machine's own CUDA to be found.
func alone(t *testing.T) {
	t.Helper()
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "HOME", "PATH", env} {
		t.Setenv(name, "")
	}
}

// What is in the way is said in an order in which it can be mended, and nothing of the device is
// loaded before all is there.
func TestAbout(t *testing.T) {
	onLinux(t)
	alone(t)
	cache := t.TempDir()
	says := func(want string, missing bool) {
		t.Helper()
		a := Device{}.About(cache)
		if !strings.Contains(a.Problem, want) || (want == "") != (a.Problem == "") || a.Missing != missing {
			t.Errorf("%q (missing: %v), want %q", a.Problem, a.Missing, want)
		}
		// The build is usable by itself, once it and a card are there.
		if r := (Device{}).Runtime(cache); r != "" && (missing && !strings.Contains(want, "lib") ||
			strings.Contains(want, "driver")) {
			t.Errorf("%s: the runtime is %s", want, r)
		}
	}
	driven(t, card{}, errors.New("no driver"))
	says("no driver", false)
	driven(t, h100, nil)
	says("not installed", true)
	installed(t, cache, &build)
	for _, l := range libraries[1:] {
		installed(t, cache, &l.Wheel)
	}
	says("not installed: libcudart.so.13", true)
	if (Device{}).Runtime(cache) == "" {
		t.Error("there is a build and a card")
	}
	installed(t, cache, &libraries[0].Wheel)
	says("", false)
	if a := (Device{}).About(cache); a.Rounding != device.Float16 || a.Identity == "" ||
		!strings.Contains(a.About, "NVIDIA H100, 81920 MiB, driver 580.95.05") {
		t.Errorf("%+v", a)
	}
	driven(t, card{cuda: 12080, driver: "570.1"}, nil)
	says("driver 570.1 is for CUDA 12.8, and 13.0 is needed: install driver 580", false)
	if (Device{}).Runtime(cache) != "" {
		t.Error("the driver is too old")
	}
	old := h100
	old.capability = 61
	driven(t, old, nil)
	says("compute capability 6.1, and 7.5", false)
}

// Libraries that other programs have are found by their names.
func TestLocated(t *testing.T) {
	onLinux(t)
	alone(t)
	env := t.TempDir()
	t.Setenv("VIRTUAL_ENV", env)
	if _, err := located(t.TempDir()); !errors.Is(err, ort.ErrNotInstalled) ||
		!strings.Contains(err.Error(), "libcudnn.so.9") {
		t.Error(err)
	}
	for _, l := range libraries {
		dir := filepath.Join(env, "lib", "python3.12", "site-packages", "nvidia", "cu13", "lib")
		if err := errors.Join(os.MkdirAll(dir, 0o755),
			os.WriteFile(filepath.Join(dir, l.Library), []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	paths, err := located(t.TempDir())
	if err != nil || len(paths) != len(libraries)+1 ||
		filepath.Base(paths[3]) != "libcublas.so.13" || filepath.Base(paths[2]) != "libcublasLt.so.13" {
		t.Errorf("%v, %v", paths, err)
	}
	if err := load(paths[:1]); err == nil || !strings.Contains(err.Error(), "libcudart.so.13 cannot be loaded") {
		t.Error(err)
	}
}

// The memory that sessions may take leaves some for others. Float32 is float32.
func TestOptions(t *testing.T) {
	driven(t, h100, nil)
	o := options()
	if o["use_tf32"] != "0" || o["arena_extend_strategy"] != "kSameAsRequested" ||
		o["gpu_mem_limit"] != "77309411328" {
		t.Error(o)
	}
}

// What a driver says, from libraries that answer as it does.
func TestDriver(t *testing.T) {
	onLinux(t)
	cc, err := exec.LookPath("cc")
	if err != nil {
		testmode.Missing(t, "a C compiler")
	}
	const all = `
#include <stddef.h>
#include <string.h>
int cuInit(unsigned f) { return INIT; }
int cuDriverGetVersion(int *v) { *v = VERSION; return 0; }
int cuDeviceGetCount(int *n) { *n = COUNT; return 0; }
int cuDeviceGetName(char *s, int n, int d) { strcpy(s, "Card"); return 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { *n = (size_t)24 << 30; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 8 : 6; return 0; }
int nvmlInit_v2(void) { return 0; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { strcpy(s, "581.1"); return 0; }
`
	was := [2]string{driverLibrary, managementLibrary}
	t.Cleanup(func() { driverLibrary, managementLibrary = was[0], was[1] })
	for i, c := range []struct {
		init, version, count string
		want                 card
		says                 string
	}{
		{"0", "13010", "1", card{"Card", "581.1", 13010, 86, 24 << 30}, ""},
		{"0", "12080", "1", card{cuda: 12080}, ""},
		{"100", "13000", "1", card{}, "cuInit gives 100"},
		{"0", "13000", "0", card{}, "CUDA_VISIBLE_DEVICES"},
	} {
		dir := t.TempDir()
		source, lib := filepath.Join(dir, "a.c"), filepath.Join(dir, "lib.so")
		if err := os.WriteFile(source, []byte(all), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(cc, "-shared", "-fPIC", "-DINIT="+c.init, "-DVERSION="+c.version,
			"-DCOUNT="+c.count, "-o", lib, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		driverLibrary, managementLibrary = lib, lib
		got, err := ask()
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d: %+v, %v", i, got, err)
		}
	}
	driverLibrary = filepath.Join(t.TempDir(), "none.so")
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "no driver of NVIDIA") {
		t.Error(err)
	}
}
