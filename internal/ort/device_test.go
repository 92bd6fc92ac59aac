package ort

import (
	"errors"
	"strings"
	"testing"

	binding "github.com/yalue/onnxruntime_go"

	"infill/internal/testmode"
)

// broken is a device that refuses sessions, or is not there at all.
type broken struct {
	problem string
	refuses error
	asked   *Config
	rounds  bool
}

func (b *broken) bfloat16() bool { return b.rounds }

func (b *broken) device(string) Device {
	return Device{Name: "broken", Identity: "broken 1", Problem: b.problem}
}

func (b *broken) attach(_ *binding.SessionOptions, c Config) error {
	b.asked = &c
	return b.refuses
}

// with adds a device for one test. Nothing that runs at the same time opens sessions on
// another than the processor.
func with(t *testing.T, p provider) {
	t.Helper()
	was := providers
	providers = append([]provider{cpu{}}, p)
	t.Cleanup(func() { providers = was })
}

func TestDevices(t *testing.T) {
	for _, name := range []string{"", CPU} {
		if d, err := FindDevice(name, ""); err != nil || d.Name != CPU || d.Identity == "" {
			t.Errorf("%q: %+v, %v", name, d, err)
		}
	}
	if _, err := FindDevice("gpu", ""); !errors.Is(err, ErrDevice) ||
		!strings.Contains(err.Error(), "there is: cpu") {
		t.Errorf("an unknown one: %v", err)
	}
	with(t, &broken{problem: "the processor lacks what it needs"})
	if _, err := FindDevice("broken", ""); !errors.Is(err, ErrDevice) ||
		!strings.Contains(err.Error(), "lacks") {
		t.Errorf("one that is not there: %v", err)
	}
	if all := Devices(""); len(all) != 2 || all[0].Name != CPU || all[1].Problem == "" {
		t.Errorf("all: %+v", all)
	}
}

// Devices with bfloat16 are listed, those that cannot be used among them, and no others.
func TestBFloat16Devices(t *testing.T) {
	with(t, &broken{})
	if list := BFloat16Devices(""); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	with(t, &broken{rounds: true, problem: "not there"})
	if list := BFloat16Devices(""); len(list) != 1 || list[0].Problem != "not there" {
		t.Errorf("%+v", list)
	}
}

// A session's device gets its options; what it says of them ends the opening.
func TestSessionDevice(t *testing.T) {
	if _, err := Load(FindOptions{}); err != nil {
		testmode.Missing(t, "ONNX Runtime: "+err.Error())
	}
	b := &broken{refuses: errors.New("boom")}
	with(t, b)
	_, err := OpenBytes("model", []byte("x"), []string{"a"}, []string{"b"},
		Config{Device: "broken", Threads: 3})
	if !errors.Is(err, b.refuses) || b.asked == nil || b.asked.Threads != 3 {
		t.Errorf("%v, asked with %+v", err, b.asked)
	}
	_, err = OpenBytes("model", []byte("x"), []string{"a"}, []string{"b"}, Config{Device: "gpu"})
	if !errors.Is(err, ErrDevice) {
		t.Errorf("an unknown device: %v", err)
	}
}
