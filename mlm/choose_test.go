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
	"infill/mlm/internal/source"
)

// pretended is a device of which nothing but some facts is there. It opens graphs as [devicetest.Card]
// alone.
type pretended struct {
	device.Processor
	about device.About
}

func (p pretended) Name() string              { return p.about.Name }
func (p pretended) About(string) device.About { return p.about }
func (p pretended) Provider(string) (ort.Provider, error) {
	if p.Name() != devicetest.Card {
		return nil, errors.New("it is not there")
	}
	return nil, nil
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
	device.Processor
	t *testing.T
}

func (l looked) About(string) device.About { l.t.Error("looked for"); return device.About{} }

// What is chosen by itself, for all that users may name, on all kinds of machines.
func TestChoose(t *testing.T) {
	t.Parallel()
	card := device.About{Name: cuda.Name, Rounding: device.Float16}
	gone := device.About{Name: cuda.Name, Rounding: device.Float16, Problem: "no driver"}
	slow := device.About{Name: devicetest.Card, Rounding: device.Float16, Slow: true}
	exact := device.About{Name: "exact"}
	machines := map[string][]device.About{"no card": {exact}, "card": {exact, card},
		"no driver": {gone}, "slow": {gone, slow}}
	const large, small = LargeWeights, LargeWeights - 1
	type named struct {
		device string
		p      Precision
	}
	auto, cpu, half := named{AutoDevice, Auto}, named{device.CPU, Float32}, named{cuda.Name, Float16}
	for _, c := range []struct {
		machines string // "" for all
		name     named
		weights  int64 // 0 for any
		how      string
		want     named
	}{
		{"card", auto, large, "forward", half},
		{"card", auto, large, "", named{cuda.Name, Float32}}, // for gradients
		{"card", auto, small, "forward", cpu},
		{"card", auto, large, "forward unrounded", cpu},
		{"card", auto, large, "forward low-memory", cpu},
		{"no card", auto, 0, "forward", cpu},
		{"no driver", auto, 0, "forward", cpu},
		{"slow", auto, 0, "forward", cpu}, // it gains nothing
		{"card", named{AutoDevice, Float16}, 0, "", half},
		{"card", named{AutoDevice, Float16}, 0, "unrounded", half}, // refused where it matters
		{"no driver", named{AutoDevice, Float16}, 0, "", half},     // the error says why
		{"slow", named{AutoDevice, Float16}, 0, "", named{devicetest.Card, Float16}},
		{"no card", named{AutoDevice, Float16}, 0, "", named{device.CPU, Float16}},
		{"card", named{cuda.Name, Auto}, 0, "forward", half},
		{"card", named{cuda.Name, Auto}, 0, "forward low-memory", half},
		{"card", named{cuda.Name, Auto}, 0, "", named{cuda.Name, Float32}},
		{"card", named{cuda.Name, Auto}, 0, "forward unrounded", named{cuda.Name, Float32}},
		{"card", named{"exact", Auto}, 0, "forward", named{"exact", Float32}},
		{"", named{cuda.Name, Float32}, 0, "forward", named{cuda.Name, Float32}},
		{"", named{cuda.Name, Int8}, 0, "", named{cuda.Name, Int8}},
		{"", named{cuda.Name, Float16}, 0, "", half},
		{"", named{AutoDevice, Float32}, 0, "", cpu},
		{"", named{AutoDevice, Int8}, 0, "", named{device.CPU, Int8}},
		{"", named{device.CPU, Auto}, 0, "", cpu},
		{"", named{"", Auto}, 0, "", named{"", Float32}},
		{"", named{"", Float32}, 0, "", named{"", Float32}},
		{"", named{device.CPU, Float16}, 0, "", named{device.CPU, Float16}},
		{"", named{device.CPU, Int8}, 0, "", named{device.CPU, Int8}},
		// It states what stays exact in 8 bits.
		{"no card", auto, 0, "forward stated", named{device.CPU, Int8}},
		{"no card", auto, 0, "stated", cpu}, // for gradients
		{"no card", auto, 0, "forward stated low-memory", named{device.CPU, Int8}},
		{"card", auto, large, "forward stated", half},
		{"card", auto, large, "forward stated unrounded", named{device.CPU, Int8}},
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
		o.choose(LargeWeights - 1)
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
	auto := of(Options{Device: AutoDevice, Precision: Auto, Forward: true})
	fast := device.About{Name: devicetest.Card, Rounding: device.Float16, Identity: "fast", Apart: 2}
	nowhere := device.About{Name: "nowhere", Rounding: device.Float16}
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
	rounded := openFloat16(t, "bert-sdpa-tied")
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
		{"the precision named", of(Options{Device: AutoDevice, Precision: Float16, Forward: true}),
			[]device.About{fast}, rounded},
		{"the device named", of(Options{Device: devicetest.Card, Precision: Auto, Forward: true}),
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
		exact, err := m.Float32(t.Context())
		if err != nil || exact.Device() != m.Device() || exact.Precision() != Float32 ||
			math.Abs(float64(numbers(exact)[0]-numbers(plain)[0])) > 1e-5 {
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
		{Device: AutoDevice, Precision: Float16}} {
		if _, err := openedOn(t, "bert-sdpa-tied", of(o), nowhere); !errors.Is(err, ErrOption) ||
			!strings.Contains(err.Error(), "nowhere") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := openedOn(t, "bert-sdpa-tied", of(Options{Device: AutoDevice,
		Precision: Float16})); !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "cpu") ||
		!strings.Contains(err.Error(), "fp32") {
		t.Errorf("fp16 where no device has it: %v", err)
	}
}
