package mlm

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/ort"
	"infill/mlm/onnx"
)

// A device that is not there is refused, with what is there.
func TestUnknownDevice(t *testing.T) {
	t.Parallel()
	_, err := OpenDir(t.Context(), filepath.Join("testdata", "tiny-bert"), Options{Device: "gpu"})
	if !errors.Is(err, ErrOption) || !errors.Is(err, ort.ErrDevice) ||
		!strings.Contains(err.Error(), "there is: cpu") {
		t.Error(err)
	}
}

// A graph that was made for one device is not used for another.
func TestCacheOfDevices(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, id := range []string{"cpu", "other 1", "other 2"} {
		o := Options{CacheDir: t.TempDir(), device: ort.Device{Identity: id}, cacheLimits: &limits{}}
		c := newCache(folder{dir: "x"}, &onnx.Model{Graph: &onnx.Graph{}}, &Info{File: "model.onnx"}, o)
		if c == nil {
			t.Fatal("no cache")
		}
		keys[c.key("sum")] = true
	}
	if len(keys) != 3 {
		t.Errorf("%d keys for three devices: %v", len(keys), keys)
	}
}
