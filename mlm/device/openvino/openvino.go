// Package openvino is the device that evaluates graphs with Intel's OpenVINO on this processor. It
// is a plug-in of the runtime, which has to be installed first. Its products may be in bfloat16,
// for which some processors have units of their own.
//
// All that OpenVINO 2026.4 does otherwise than the runtime's own kernels is here: weights that it
// mistakes for others, see splitSquares, means that it rounds by place, see negateMeans, its
// options, and what its numbers are worth.
package openvino

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	features "golang.org/x/sys/cpu"

	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/onnx"
)

// provider is what the plug-in calls the device for one processor. It has others that choose
// among processors and graphics cards.
const provider = "OpenVINOExecutionProvider"

// envKernels is the environment variable that keeps oneDNN, whose kernels OpenVINO has, from newer
// instructions than it names. It counts from the first use of the plug-in on.
const envKernels = "ONEDNN_MAX_CPU_ISA"

// sameRounding is envKernels unless somebody says otherwise. With AMX oneDNN takes other kernels
// for products of other sizes, so that the last bits of a row depend on the rows beside it. The
// kernels of AVX-512 are slower and give the same bits.
const sameRounding = "AVX512_CORE_BF16"

// kernels is what envKernels says, or will.
func kernels() string { return cmp.Or(os.Getenv(envKernels), sameRounding) }

// Device is OpenVINO on this processor.
type Device struct{}

// Name is [Name].
func (Device) Name() string { return Name }

// Rounding is [device.BFloat16] where the processor has it among its vector instructions, as those
// with AMX do.
func (Device) Rounding() device.Rounding {
	if features.X86.HasAVX512BF16 {
		return device.BFloat16
	}
	return device.Exact
}

// Runtime is "".
func (Device) Runtime(string) string { return "" }

// About finds the plug-in, and loads it if the runtime is loaded.
func (d Device) About(cache string) device.About {
	a := device.About{Name: Name, About: "this processor, with OpenVINO's kernels",
		Rounding: d.Rounding(), FixedWeights: true, NoIntegers: true}
	if a.Rounding != device.Exact {
		a.About += ", which has bfloat16"
	}
	path, version, err := Plugin.Find(cache)
	if err == nil {
		a.About += ", plug-in " + version
		a.Identity = Name + " " + version + " " + kernels()
		if _, ok := ort.Loaded(); ok {
			_, err = load(path)
		}
	}
	if err != nil {
		a.Problem, a.Missing = err.Error(), errors.Is(err, ort.ErrNotInstalled)
	}
	return a
}

func load(path string) (*ort.Plugin, error) {
	if err := os.Setenv(envKernels, kernels()); err != nil {
		return nil, err
	}
	p, err := ort.LoadPlugin(path, provider)
	if errors.Is(err, ort.ErrNoHardware) {
		err = fmt.Errorf("%w; it needs a processor of Intel", err)
	}
	return p, err
}

// Rewrite replaces operations that OpenVINO computes wrong, or not alike in all places.
func (Device) Rewrite(m *onnx.Model, rounded bool) {
	splitSquares(m)
	if rounded {
		negateMeans(m)
	}
}

// Numbers in bfloat16 are rounded. With AMX, which [sameRounding] is against and a user may ask
// for, rows depend on their neighbours, and no processor of Intel has shown that they do not
// without it.
func (Device) Numbers(rounded bool) device.Numbers {
	return device.Numbers{Neighbours: rounded, Rounded: rounded}
}

// Provider is the plug-in with the session's options.
func (Device) Provider(s device.Session) (*ort.Provider, error) {
	path, _, err := Plugin.Find(s.CacheDir)
	if err != nil {
		return nil, err
	}
	p, err := load(path)
	if err != nil {
		return nil, err
	}
	o, err := options(s)
	return &ort.Provider{Plugin: p, Options: o}, err
}

// options are the options of a session, which the plug-in takes as one text in JSON. CACHE_DIR, in
// which OpenVINO keeps what it has compiled, is not among them. OpenVINO 2026.4 does not write all
// of some graphs, so that they give other numbers when they are read back.
func options(s device.Session) (map[string]string, error) {
	// The hint is always there: without one the plug-in takes bfloat16 where the processor has it.
	hint := "f32"
	if s.Rounded {
		hint = "bf16"
	}
	streams := strconv.Itoa(max(s.Streams, 1))
	config := map[string]string{"INFERENCE_PRECISION_HINT": hint,
		// A run computes in one stream. More streams than runs would hold memory for nothing.
		"NUM_STREAMS": streams, "INFERENCE_NUM_THREADS": streams,
		// Otherwise every process ties its streams to the first cores. Two of one stream each would
		// share a core while the next one idles.
		"ENABLE_CPU_PINNING": "NO"}
	text, err := json.Marshal(map[string]any{"CPU": config})
	return map[string]string{"load_config": string(text)}, err
}

// Install puts the plug-in into the cache. o is as for [ort.Wheel.Install].
func (Device) Install(ctx context.Context, o ort.InstallOptions) error {
	_, err := Plugin.Install(ctx, o)
	return err
}
