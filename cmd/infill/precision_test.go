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

func init() { devices = devicetest.Devices() }

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
	// Where CUDA is installed the precision picks that.
	on := devicetest.Card
	for _, named := range [][]string{{"--device", devicetest.Card}, {"--precision", "fp16"}} {
		if named[0] == "--precision" {
			list := devices.Rounding("")
			on = list[slices.IndexFunc(list, func(d device.About) bool {
				return d.Problem == "" && d.Rounding == device.Float16
			})].Name
		}
		r := run(append(named, "--force")...)
		rec, man := textOf(t, out), textOf(t, out+".manifest")
		if r.code != 0 || !strings.Contains(r.err, "on the device "+on+" in fp16") ||
			!strings.Contains(rec, `"device":"`+on+`","precision":"fp16"`) ||
			!strings.Contains(man, `"device": "`+on+`"`) ||
			!strings.Contains(man, `"precision": "fp16"`) {
			t.Errorf("%v: %d, %s%s%s", named, r.code, r.err, rec, man)
		}
	}
	r := run("--resume")
	for _, part := range []string{"--device was " + on + ", is cpu", "--precision was fp16, is fp32",
		"give what the first run had"} {
		if r.code == 0 || !strings.Contains(r.err, part) {
			t.Errorf("%q is not in: %s", part, r.err)
		}
	}
	if r := run("--resume", "--precision", "fp16"); r.code != 0 {
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

// A score in fp16 is the one in float32, of one model.
func TestScoreOpensNoRoundedModel(t *testing.T) {
	t.Parallel()
	f := &scoreFlags{modelFlags: modelFlags{Model: *settings.ModelDefaults()}}
	f.Name, f.Options.Precision = "small", mlm.Float16
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

// What earlier builds took is refused, with what to give.
func TestOldDevices(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{"--precision=bf16": `did you mean "int8"?`,
		"--device=openvino": "without --device the best is taken"} {
		if r := infillRun("", "fill", flag, "The [MASK] sat."); r.code != exitUsage ||
			!strings.Contains(r.err, want) {
			t.Errorf("%s: %d, %s", flag, r.code, r.err)
		}
	}
}
