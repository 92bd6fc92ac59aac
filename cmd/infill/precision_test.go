package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/infill/settings"
	"infill/mlm"
	"infill/mlm/device"
	"infill/mlm/device/devicetest"
)

func init() { devices = append(devices, devicetest.Emulation{}) }

// A device brings its precision, and a precision its device. Both are in records and manifests, and
// said at the start. A run with others is refused with the names of both.
func TestPrecisionIsRecorded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.jsonl")
	if err := os.WriteFile(in, []byte("The [MASK] sat on the [MASK].\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(more ...string) outcome {
		return infillRun("", append([]string{"batch", in, "-o", out, "--model", "small", "--seed", "1",
			"--steps", "4", "--chains", "2"}, more...)...)
	}
	// Where OpenVINO is installed on a processor of Intel with AVX512_BF16, the precision picks that.
	on := devicetest.Emulated
	for _, named := range [][]string{{"--device", devicetest.Emulated}, {"--precision", "bf16"}} {
		if named[0] == "--precision" {
			list := devices.Rounding("")
			on = list[slices.IndexFunc(list, func(d device.About) bool {
				return d.Problem == "" && d.Rounding == device.BFloat16
			})].Name
		}
		r := run(append(named, "--force")...)
		rec, man := textOf(t, out), textOf(t, out+".manifest")
		if r.code != 0 || !strings.Contains(r.err, "on the device "+on+" in bf16") ||
			!strings.Contains(rec, `"device":"`+on+`","precision":"bf16"`) ||
			!strings.Contains(man, `"device": "`+on+`"`) ||
			!strings.Contains(man, `"precision": "bf16"`) {
			t.Errorf("%v: %d, %s%s%s", named, r.code, r.err, rec, man)
		}
	}
	r := run("--resume")
	for _, part := range []string{"--device was " + on + ", is cpu", "--precision was bf16, is fp32",
		"give what the first run had"} {
		if r.code == 0 || !strings.Contains(r.err, part) {
			t.Errorf("%q is not in: %s", part, r.err)
		}
	}
	if r := run("--resume", "--precision", "bf16"); r.code != 0 {
		t.Error(r.err)
	}
	r = run("--force")
	rec, man := textOf(t, out), textOf(t, out+".manifest")
	if r.code != 0 || strings.Contains(r.err+rec, "device") ||
		strings.Contains(rec, "precision") || !strings.Contains(man, `"device": "cpu"`) ||
		!strings.Contains(man, `"precision": "fp32"`) {
		t.Errorf("on the processor: %s%s%s", r.err, rec, man)
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What may round by itself: fillings, whose scores are in float32. Other numbers may not.
func TestMayRound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*settings.Fill){
		"":          func(*settings.Fill) {},
		"marginals": func(v *settings.Fill) { v.Options.Results.Marginals = true },
		"energy":    func(v *settings.Fill) { v.Words.Energy = []string{"words:x=1"} },
	} {
		f, v := &modelFlags{Model: *settings.ModelDefaults()}, settings.Defaults()
		if !f.Options.Unrounded {
			t.Error("commands may round that did not say so")
		}
		change(v)
		f.mayRound(v)
		if f.Options.Unrounded != (name != "") {
			t.Errorf("%s: %v", name, f.Options.Unrounded)
		}
	}
}

// A score in bf16 is the one in float32, of one model, on the processor.
func TestScoreOpensNoRoundedModel(t *testing.T) {
	t.Parallel()
	f := &scoreFlags{modelFlags: modelFlags{Model: *settings.ModelDefaults()}}
	f.Name, f.Options.Precision, f.Options.Device = "small", mlm.BFloat16, devicetest.Emulated
	s, err := f.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.closeAll()
	if s.Model.Device() != mlm.CPUDevice || s.Model.Precision() != mlm.Float32 {
		t.Errorf("%s, %s", s.Model.Device(), s.Model.Precision())
	}
}

// doctor says what is chosen by itself.
func TestDoctorSaysWhatIsChosen(t *testing.T) {
	t.Parallel()
	device, p := mlm.Automatic(mlm.LargeWeights, mlm.Options{Devices: devices})
	r := infillRun("", "doctor")
	if !strings.Contains(r.out, "\ndevice auto: ") || !strings.Contains(r.out, device+" in "+p.String()) {
		t.Error(r.out)
	}
	r = infillRun("", "doctor", "--json")
	if !strings.Contains(r.out, `"automatic"`) || !strings.Contains(r.out, `"precision":`) {
		t.Error(r.out)
	}
}
