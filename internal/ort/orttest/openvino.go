package orttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"infill/internal/ort"
	"infill/internal/testmode"
)

// OpenVINO makes the device [ort.OpenVINO] usable until the process ends, also on processors on
// which its plug-in does not offer itself, see testdata/intel.c. On Intel's processors nothing is
// pretended. A test is skipped where the plug-in is not installed.
func OpenVINO(tb testing.TB) ort.Device {
	tb.Helper()
	Load(tb)
	if err := pretend(); err != nil {
		testmode.Missing(tb, err.Error())
	}
	d, err := ort.FindDevice(ort.OpenVINO, "")
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// BFloat16 is OpenVINO on a processor that has products of bfloat16. Elsewhere a test is skipped.
func BFloat16(tb testing.TB) ort.Device {
	tb.Helper()
	named := func(d ort.Device) bool { return d.Name == ort.OpenVINO }
	if !slices.ContainsFunc(ort.BFloat16Devices(""), named) {
		testmode.Missing(tb, "a processor with AVX512_BF16, for products of bfloat16")
	}
	return OpenVINO(tb)
}

// intel says that the processor is one of Intel, on which the plug-in offers itself.
func intel() bool {
	about, err := os.ReadFile("/proc/cpuinfo")
	return err == nil && strings.Contains(string(about), "GenuineIntel")
}

// pretend names the plug-in in the environment, or the library that it builds around it, once.
var pretend = sync.OnceValue(func() error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return errors.New("OpenVINO's plug-in is for linux-amd64")
	}
	real, err := ort.FindOpenVINO("")
	if err != nil {
		return fmt.Errorf("OpenVINO's plug-in, which `make openvino` installs: %w", err)
	}
	if intel() { // named, because tests with a cache of their own have none in it
		return os.Setenv(ort.EnvOpenVINO, real)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		return errors.New("a C compiler, for OpenVINO's tests")
	}
	header, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/yalue/onnxruntime_go").Output()
	if err != nil {
		return fmt.Errorf("the header of ONNX Runtime: %w", err)
	}
	_, here, _, _ := runtime.Caller(0)
	dir, err := os.MkdirTemp("", "infill-openvino-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // once loaded, the file is not needed
	out := filepath.Join(dir, "a.out")       // as a compiler calls it
	build := exec.Command(cc, "-shared", "-fPIC", "-O1", "-I", strings.TrimSpace(string(header)),
		"-DPLUGIN="+fmt.Sprintf("%q", real), filepath.Join(filepath.Dir(here), "testdata", "intel.c"),
		"-ldl")
	build.Dir = dir
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building OpenVINO's tests: %w: %s", err, said)
	}
	if err := os.Setenv(ort.EnvOpenVINO, out); err != nil {
		return err
	}
	_, err = ort.FindDevice(ort.OpenVINO, "")
	return err
})
