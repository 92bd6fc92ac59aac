package mlm

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/mlm/device"
	"infill/mlm/device/cuda"
	"infill/mlm/device/devicetest"
	"infill/mlm/device/openvino"
	"infill/mlm/internal/source"
)

// pretended is the emulated device with other facts, on which nothing opens but under its own name.
type pretended struct {
	devicetest.Emulation
	about device.About
}

func (p pretended) Name() string              { return p.about.Name }
func (p pretended) Rounding() device.Rounding { return p.about.Rounding }
func (p pretended) About(string) device.About { return p.about }
func (p pretended) Provider(s device.Session) (*ort.Provider, error) {
	if p.Name() != devicetest.Emulated {
		return nil, errors.New("it is not there")
	}
	return p.Emulation.Provider(s)
}

// pretend has devices of which that is known.
func pretend(list ...device.About) (out device.List) {
	for _, a := range list {
		out = append(out, pretended{about: a})
	}
	return out
}

// looked is a device that nobody may look at.
type looked struct {
	devicetest.Emulation
	t *testing.T
}

func (l looked) About(string) device.About { l.t.Error("looked for"); return device.About{} }

// What is chosen by itself, for all that users may name, on all kinds of machines.
func TestChoose(t *testing.T) {
	t.Parallel()
	vino := device.About{Name: openvino.Name, Rounding: device.BFloat16}
	missing := device.About{Name: openvino.Name, Rounding: device.BFloat16, Missing: true, Problem: "not there"}
	slow := device.About{Name: devicetest.Emulated, Rounding: device.BFloat16, Slow: true}
	card := device.About{Name: cuda.Name, Rounding: device.Float16}
	gone := device.About{Name: cuda.Name, Rounding: device.Float16, Problem: "no driver"}
	machines := map[string][]device.About{
		"no bfloat16": nil, "bfloat16": {vino}, "bfloat16, not installed": {missing}, "emulated": {missing, slow},
		"card": {card, vino}, "card, no driver": {gone, vino},
	}
	const large, small = largeRounded, largeRounded - 1
	type named struct {
		device string
		p      Precision
	}
	cpu := named{device.CPU, Float32}
	rounded := named{openvino.Name, BFloat16}
	half := named{cuda.Name, Float16}
	for _, c := range []struct {
		machines string // "" for all
		name     named
		weights  int64 // 0 for any
		how      string
		want     named
	}{
		{"bfloat16", named{AutoDevice, Auto}, large, "", rounded},
		{"bfloat16", named{AutoDevice, Auto}, small, "", cpu},
		{"bfloat16", named{AutoDevice, Auto}, large, "unrounded", cpu},
		{"bfloat16", named{AutoDevice, Auto}, large, "low-memory", cpu},
		{"no bfloat16", named{AutoDevice, Auto}, 0, "", cpu},
		{"bfloat16, not installed", named{AutoDevice, Auto}, 0, "", cpu},
		{"emulated", named{AutoDevice, Auto}, 0, "", cpu}, // it gains nothing
		{"bfloat16", named{AutoDevice, BFloat16}, 0, "", rounded},
		{"bfloat16", named{AutoDevice, BFloat16}, 0, "unrounded", rounded}, // refused where it matters
		{"no bfloat16", named{AutoDevice, BFloat16}, 0, "", named{device.CPU, BFloat16}},
		{"bfloat16, not installed", named{AutoDevice, BFloat16}, 0, "", rounded},
		{"emulated", named{AutoDevice, BFloat16}, 0, "", named{devicetest.Emulated, BFloat16}},
		{"card", named{AutoDevice, Auto}, large, "forward", half},
		{"card", named{AutoDevice, Auto}, large, "", named{cuda.Name, Float32}}, // for gradients
		{"card", named{AutoDevice, Auto}, small, "forward", cpu},
		{"card", named{AutoDevice, Auto}, large, "unrounded", cpu},
		{"card, no driver", named{AutoDevice, Auto}, large, "forward", rounded},
		{"card", named{AutoDevice, Float16}, 0, "", half},
		{"card", named{AutoDevice, BFloat16}, 0, "", rounded},
		{"card, no driver", named{AutoDevice, Float16}, 0, "", half},
		{"bfloat16", named{AutoDevice, Float16}, 0, "", named{device.CPU, Float16}},
		{"card", named{cuda.Name, Auto}, 0, "forward", half},
		{"card", named{cuda.Name, Auto}, 0, "", named{cuda.Name, Float32}},
		{"card", named{cuda.Name, Auto}, 0, "unrounded", named{cuda.Name, Float32}},
		{"", named{AutoDevice, Float32}, 0, "", cpu},
		{"", named{AutoDevice, Int8}, 0, "", named{device.CPU, Int8}},
		{"", named{device.CPU, Auto}, 0, "", cpu},
		{"", named{"", Auto}, 0, "", named{"", Float32}},
		{"", named{"", Float32}, 0, "", named{"", Float32}},
		{"", named{device.CPU, BFloat16}, 0, "", named{device.CPU, BFloat16}},
		{"", named{device.CPU, Int8}, 0, "", named{device.CPU, Int8}},
		{"bfloat16", named{openvino.Name, Auto}, 0, "", rounded},
		{"bfloat16", named{openvino.Name, Auto}, 0, "low-memory", rounded},
		{"bfloat16", named{openvino.Name, Auto}, 0, "unrounded", named{openvino.Name, Float32}},
		{"no bfloat16", named{openvino.Name, Auto}, 0, "", named{openvino.Name, Float32}},
		{"", named{openvino.Name, Float32}, 0, "", named{openvino.Name, Float32}},
		{"", named{openvino.Name, Int8}, 0, "", named{openvino.Name, Int8}},
		{"", named{openvino.Name, BFloat16}, 0, "", rounded},
		// It states what stays exact in 8 bits.
		{"no bfloat16", named{AutoDevice, Auto}, 0, "forward stated", named{device.CPU, Int8}},
		{"no bfloat16", named{AutoDevice, Auto}, 0, "stated", cpu}, // for gradients
		{"no bfloat16", named{AutoDevice, Auto}, 0, "forward stated low-memory", named{device.CPU, Int8}},
		{"bfloat16", named{AutoDevice, Auto}, large, "forward stated", rounded},
		{"bfloat16", named{AutoDevice, Auto}, large, "forward stated unrounded", named{device.CPU, Int8}},
		{"", named{device.CPU, Auto}, 0, "forward stated", named{device.CPU, Int8}},
		{"", named{"", Auto}, 0, "forward stated", named{"", Int8}},
		{"", named{device.CPU, Float32}, 0, "forward stated", cpu},
		{"", named{"", Float32}, 0, "forward stated", named{"", Float32}},
		{"card", named{cuda.Name, Auto}, 0, "unrounded forward stated", named{cuda.Name, Float32}},
	} {
		found := false
		for machine, list := range machines {
			if c.machines != "" && c.machines != machine {
				continue
			}
			found = true
			for _, weights := range []int64{0, small, large, math.MaxInt64} {
				if c.weights == small && weights > small || c.weights == large && weights < large {
					continue
				}
				has := func(word string) bool { return strings.Contains(c.how, word) }
				o := of(Options{Device: c.name.device, Precision: c.name.p, Unrounded: has("unrounded"),
					LowMemory: has("low-memory"), Forward: has("forward"), Devices: pretend(list...)})
				if has("stated") {
					o.stated = [][]int{{1}}
				}
				o.choose(weights)
				if got := (named{o.Device, o.Precision}); got != c.want {
					t.Errorf("%s, %v, %d bytes, %s: %v, want %v", machine, c.name, weights, c.how, got,
						c.want)
				}
			}
		}
		if !found {
			t.Errorf("no machine %q", c.machines)
		}
	}
}

// A small model, or one in float32, has nothing looked for: files would be hashed.
func TestChooseLooksForNothing(t *testing.T) {
	t.Parallel()
	for _, own := range []Options{{Device: AutoDevice, Precision: Auto}, {}, {Device: AutoDevice},
		{Device: AutoDevice, Precision: Int8}, {Precision: Auto}} {
		o := of(own)
		o.Devices = device.List{looked{t: t}}
		o.choose(largeRounded - 1)
	}
}

// openedOn opens a fixture where a machine has devices, and a model is large from 1 byte on.
func openedOn(t *testing.T, name string, o options, devices ...device.About) (*Model, error) {
	t.Helper()
	orttest.Load(t)
	o.Devices, o.large = pretend(devices...), 1
	m, err := open(t.Context(), source.Folder{FS: fixtureFiles(t, name)}, o)
	if err == nil {
		t.Cleanup(func() { _ = m.Close() })
	}
	return m, err
}

// Models are opened as was chosen, say so, and compute so.
func TestOpenChooses(t *testing.T) {
	t.Parallel()
	auto := of(Options{Device: AutoDevice, Precision: Auto})
	fast := device.About{Name: devicetest.Emulated, Rounding: device.BFloat16, Identity: "fast"}
	nowhere := device.About{Name: "nowhere", Rounding: device.BFloat16}
	s := &Sentence{IDs: []int32{2, 10, 11, 12, 13, 3}, Blanks: []int{1, 3, 4}}
	numbers := func(m *Model) []float32 {
		lp := [][]float32{make([]float32, 3)}
		if err := m.LogProb(t.Context(), s, [][]int32{{20, 21, 22}}, lp); err != nil {
			t.Fatal(err)
		}
		return lp[0]
	}
	plain, err := openedOn(t, "bert-sdpa-tied", options{})
	if err != nil {
		t.Fatal(err)
	}
	rounded := openBFloat16(t, "bert-sdpa-tied")
	unrounded := auto
	unrounded.Unrounded = true
	for _, c := range []struct {
		name    string
		o       options
		devices []device.About
		want    *Model
	}{
		{"a device", auto, []device.About{fast}, rounded},
		{"none", auto, nil, plain},
		{"one that does not open it", auto, []device.About{nowhere}, plain},
		{"float32 is needed", unrounded, []device.About{fast}, plain},
		{"nothing named", options{}, []device.About{fast}, plain},
		{"the precision named", of(Options{Device: AutoDevice, Precision: BFloat16}),
			[]device.About{fast}, rounded},
		{"the device named", of(Options{Device: devicetest.Emulated, Precision: Auto}),
			[]device.About{fast}, rounded},
	} {
		m, err := openedOn(t, "bert-sdpa-tied", c.o, c.devices...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if m.Device() != c.want.Device() || m.Precision() != c.want.Precision() ||
			!slices.Equal(numbers(m), numbers(c.want)) {
			t.Errorf("%s: %s, %s", c.name, m.Device(), m.Precision())
		}
		if exact, err := m.Float32(t.Context()); err != nil || exact.Device() != CPUDevice ||
			!slices.Equal(numbers(exact), numbers(plain)) {
			t.Errorf("%s: in float32: %v", c.name, err)
		}
	}
	if slices.Equal(numbers(plain), numbers(rounded)) {
		t.Error("nothing was rounded")
	}
	m, err := openedOn(t, "roberta-int8", auto, fast)
	if err != nil || m.Device() != CPUDevice || m.Precision() != Float32 {
		t.Errorf("a quantised model: %v", err)
	}
	// What is named is refused, and not replaced.
	nowhere.Problem = "it is not there"
	for _, o := range []Options{{Device: "nowhere", Precision: Auto},
		{Device: AutoDevice, Precision: BFloat16}} {
		if _, err := openedOn(t, "bert-sdpa-tied", of(o), nowhere); !errors.Is(err, ErrOption) ||
			!strings.Contains(err.Error(), "nowhere") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := openedOn(t, "bert-sdpa-tied", of(Options{Device: AutoDevice,
		Precision: BFloat16})); !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "cpu") {
		t.Errorf("bf16 where no device has it: %v", err)
	}
}
