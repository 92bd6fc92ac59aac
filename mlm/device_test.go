package mlm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/device/openvino"
	"infill/mlm/internal/cache"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
)

// A device that is not there is refused, with what is there.
func TestUnknownDevice(t *testing.T) {
	t.Parallel()
	_, err := OpenDir(t.Context(), filepath.Join("testdata", "tiny-bert"), Options{Device: "gpu"})
	if !errors.Is(err, ErrOption) || !errors.Is(err, device.ErrDevice) ||
		!strings.Contains(err.Error(), "there is: cpu") {
		t.Error(err)
	}
}

// A plug-in that the runtime cannot load is not among what is there, also where nothing was loaded
// before.
func TestDevicesThatWork(t *testing.T) {
	t.Parallel()
	const child = "INFILL_TEST_DEVICES"
	if os.Getenv(child) == "" {
		path := filepath.Join(t.TempDir(), "plug-in.so")
		if err := os.WriteFile(path, []byte("not a library"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run", "^TestDevicesThatWork$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1", openvino.Plugin.Env+"="+path)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestDevicesThatWork") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if _, loaded := ort.Loaded(); loaded {
		t.Fatal("the runtime is loaded, so that this test finds nothing")
	}
	_, err := OpenDir(t.Context(), filepath.Join("testdata", "tiny-bert"), Options{Device: "cuda"})
	if !errors.Is(err, ErrOption) || !errors.Is(err, device.ErrDevice) ||
		!strings.Contains(err.Error(), "there is: cpu") || strings.Contains(err.Error(), openvino.Name) {
		t.Error(err)
	}
}

// loose is a device whose rows depend on their neighbours, in float32, too.
type loose struct{ device.Processor }

func (loose) Numbers(bfloat16 bool) device.Numbers {
	return device.Numbers{Neighbours: true, Rounded: bfloat16}
}

// A model says what its device's numbers are worth, and is its own in float32 if it does not round.
func TestNumbersOfDevices(t *testing.T) {
	t.Parallel()
	if m := openBFloat16(t, "bert-sdpa-tied"); !m.SameBytes() {
		t.Error("the runtime's own kernels change their minds")
	}
	m := &Model{options: options{device: loose{}}}
	if same, err := m.Float32(t.Context()); m.SameBytes() || same != m || err != nil {
		t.Errorf("in float32: %v, %v", m.SameBytes(), err)
	}
}

// A graph that was made for one device is not used for another.
func TestCacheOfDevices(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, id := range []string{"cpu", "other 1", "other 2"} {
		o := options{Options: Options{CacheDir: t.TempDir()}, about: device.About{Identity: id},
			cacheLimits: &cache.Limits{}}
		c := o.shelf().For(t.Context(), source.Folder{Dir: "x"}, &onnx.Model{Graph: &onnx.Graph{}}, "model.onnx", 0,
			o.identity())
		if c == nil {
			t.Fatal("no cache")
		}
		keys[c.Key("sum")] = true
	}
	if len(keys) != 3 {
		t.Errorf("%d keys for three devices: %v", len(keys), keys)
	}
}
