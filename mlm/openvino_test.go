package mlm_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm"
	"infill/mlm/checktest"
	"infill/mlm/device"
	"infill/mlm/device/devicetest"
	"infill/mlm/device/openvino"
	"infill/models"
)

// Gradients are right on OpenVINO by the measure of package checktest, and so is what is derived
// for it after a graph for the processor was kept in the cache.
func TestOpenVINOCheck(t *testing.T) {
	testmode.Long(t)
	devicetest.OpenVINO(t)
	cache := t.TempDir()
	check := func(t *testing.T, m *mlm.Model, files fs.FS, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		r, err := checktest.Check(t.Context(), m, files, checktest.Options{Seed: 1})
		if err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
	}
	t.Run("small", func(t *testing.T) {
		for _, device := range []string{device.CPU, openvino.Name} {
			m, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Devices: devicetest.Devices(),
				Device: device, CacheDir: cache,
				Runtime: orttest.Load(t).Path})
			check(t, m, models.Small(), err)
		}
	})
	for _, a := range architectures {
		t.Run(a.folder, func(t *testing.T) {
			dir := exportFolder(t, a.folder, a.fixtures[0])
			m, err := mlm.OpenDir(t.Context(), dir,
				mlm.Options{Devices: devicetest.Devices(), Device: openvino.Name})
			check(t, m, os.DirFS(dir), err)
		})
	}
	t.Run("BERT-base", func(t *testing.T) {
		dir := testmode.BERTBase(t)
		m, err := mlm.OpenDir(t.Context(), dir, mlm.Options{Devices: devicetest.Devices(),
			Device: openvino.Name})
		check(t, m, os.DirFS(dir), err)
	})
}

// Gradients in bfloat16 are right by the measure of the check, which has bounds for it. The log
// gives the errors.
func TestOpenVINOCheckBFloat16(t *testing.T) {
	devicetest.BFloat16(t)
	check := func(t *testing.T, m *mlm.Model, files fs.FS, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		if m.Precision() != mlm.BFloat16 || m.Device() != openvino.Name {
			t.Fatalf("on %s in %s", m.Device(), m.Precision())
		}
		r, err := checktest.Check(t.Context(), m, files, checktest.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("log f within %.4f nats, second term %.4f", r.LogProbError, r.GradientRMS)
		if !r.OK || r.LogProbError < 1e-5 {
			t.Errorf("%+v", r)
		}
	}
	for _, a := range architectures {
		for _, fixture := range a.fixtures {
			t.Run(fixture, func(t *testing.T) {
				dir := exportFolder(t, a.folder, fixture)
				m, err := mlm.OpenDir(t.Context(), dir,
					mlm.Options{Devices: devicetest.Devices(), Device: openvino.Name, Precision: mlm.Auto})
				check(t, m, os.DirFS(dir), err)
			})
		}
	}
	t.Run("small", func(t *testing.T) {
		m, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Devices: devicetest.Devices(),
			Device: mlm.AutoDevice, Precision: mlm.BFloat16})
		check(t, m, models.Small(), err)
	})
}

// What was not checked on the device is refused there.
func TestOpenVINORefusesIntegers(t *testing.T) {
	devicetest.OpenVINO(t)
	_, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Devices: devicetest.Devices(),
		Device:    openvino.Name,
		Precision: mlm.Int8})
	if !errors.Is(err, mlm.ErrOption) || !strings.Contains(err.Error(), "use cpu") {
		t.Errorf("8-bit gradients: %v", err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "reference", "models.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, named, _ := strings.Cut(string(page), "**Integers are refused.**")
	named, _, _ = strings.Cut(named, "\n\n")
	fixtures, err := filepath.Glob(filepath.Join("onnxgrad", "testdata", "*-int8*.onnx"))
	if err != nil || len(fixtures) < 4 {
		t.Fatalf("%v, %v", fixtures, err)
	}
	for _, f := range fixtures {
		fixture := strings.TrimSuffix(filepath.Base(f), ".onnx")
		folder, _, _ := strings.Cut(fixture, "-int8")
		_, err := mlm.OpenDir(t.Context(), exportFolder(t, folder, fixture),
			mlm.Options{Devices: devicetest.Devices(), Device: openvino.Name})
		if !errors.Is(err, mlm.ErrOption) || !strings.Contains(err.Error(), "use cpu") {
			t.Errorf("%s: %v", fixture, err)
		}
		if !strings.Contains(named, "`"+fixture+"`") {
			t.Errorf("the section of OpenVINO in docs/reference/models.md does not name %s", fixture)
		}
	}
}
