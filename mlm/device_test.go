package mlm

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"infill/mlm/device"
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

// Rows of a card may depend on their neighbours, in float32, too.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	m := &Model{options: options{about: device.About{Apart: 2}}}
	if same, err := m.Float32(t.Context()); m.SameBytes() || same != m || err != nil {
		t.Errorf("in float32: %v, %v", m.SameBytes(), err)
	}
	if !(&Model{}).SameBytes() {
		t.Error("the runtime's own kernels change their minds")
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
