// Package devicetest has devices, and small graphs, for tests of any package.
package devicetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm/device"
	"infill/mlm/device/known"
	"infill/mlm/device/openvino"
)

// OpenVINO makes the device [openvino.Name] usable until the process ends, also on processors on
// which its plug-in does not offer itself, see testdata/intel.c. On Intel's processors nothing is
// pretended. A test is skipped where the plug-in is not installed.
func OpenVINO(tb testing.TB) device.About {
	tb.Helper()
	orttest.Load(tb)
	if err := pretend(); err != nil {
		testmode.Missing(tb, err.Error())
	}
	_, about, err := known.Devices().Find(openvino.Name, "")
	if err != nil {
		tb.Fatal(err)
	}
	return about
}

// BFloat16 is OpenVINO on a processor that has products of bfloat16. Elsewhere a test is skipped.
func BFloat16(tb testing.TB) device.About {
	tb.Helper()
	if (openvino.Device{}).Rounding() == device.Exact {
		testmode.Missing(tb, "a processor with AVX512_BF16, for products of bfloat16")
	}
	return OpenVINO(tb)
}

// Config is the configuration of a session on OpenVINO, which the test has made usable.
func Config(tb testing.TB, bfloat16 bool) ort.Config {
	tb.Helper()
	p, err := openvino.Device{}.Provider(device.Session{Rounded: bfloat16})
	if err != nil {
		tb.Fatal(err)
	}
	return ort.Config{Provider: p}
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
	real, _, err := openvino.Plugin.Find("")
	if err != nil {
		return fmt.Errorf("OpenVINO's plug-in, which `make openvino` installs: %w", err)
	}
	if intel() { // named, because tests with a cache of their own have none in it
		return os.Setenv(openvino.Plugin.Env, real)
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
	if err := os.Setenv(openvino.Plugin.Env, out); err != nil {
		return err
	}
	_, _, err = known.Devices().Find(openvino.Name, "")
	return err
})
