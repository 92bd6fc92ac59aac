package ort

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	binding "github.com/yalue/onnxruntime_go"
	features "golang.org/x/sys/cpu"

	"infill/internal/disk"
)

// OpenVINO is the device that evaluates graphs with Intel's OpenVINO on this processor. It is a
// plug-in of the runtime, which has to be installed first. Its products may be in bfloat16, for
// which some processors have units of their own.
const OpenVINO = "openvino"

// EnvOpenVINO is the environment variable that names the plug-in's library. Without it the
// library in the cache is taken.
const EnvOpenVINO = "INFILL_OPENVINO"

// EnvKernels is the environment variable that keeps oneDNN, whose kernels OpenVINO has, from newer
// instructions than it names. It counts from the first use of the plug-in on.
const EnvKernels = "ONEDNN_MAX_CPU_ISA"

// sameRounding is EnvKernels unless somebody says otherwise. With AMX oneDNN takes other kernels
// for products of other sizes, so that the last bits of a row depend on the rows beside it. The
// kernels of AVX-512 are slower and give the same bits.
const sameRounding = "AVX512_CORE_BF16"

// kernels is what EnvKernels says, or will.
func kernels() string { return cmp.Or(os.Getenv(EnvKernels), sameRounding) }

// openvinoName is what the plug-in calls the device for one processor. It has others that choose
// among processors and graphics cards.
const openvinoName = "OpenVINOExecutionProvider"

// openvino loads the plug-in at most once: the runtime keeps it to the end of the process.
type openvino struct {
	mu      sync.Mutex
	checked map[string]plugin
	devices map[string]listed
}

// plugin is a library that was looked at.
type plugin struct {
	path, version string
}

// listed is what the runtime says of a library that it has loaded.
type listed struct {
	use []binding.EpDevice
	err error
}

func (p *openvino) device(cache string) Device {
	d := Device{Name: OpenVINO, FixedWeights: true, SharedSquares: true, RoundsByPlace: true,
		NoIntegers: true, BFloat16: p.bfloat16(),
		About: "this processor, with OpenVINO's kernels"}
	if d.BFloat16 {
		d.About += ", which has bfloat16"
	}
	found, err := p.find(cache)
	if err == nil {
		d.About += ", plug-in " + found.version
		d.Identity = OpenVINO + " " + found.version + " " + kernels()
		if _, ok := Loaded(); ok {
			_, err = p.list(found.path)
		}
	}
	if err != nil {
		d.Problem, d.Missing = err.Error(), errors.Is(err, ErrNotInstalled)
	}
	return d
}

// bfloat16 says whether the processor has it among its vector instructions, as those with AMX do.
func (*openvino) bfloat16() bool { return features.X86.HasAVX512BF16 }

// FindOpenVINO finds the plug-in's library. cache replaces the user's cache folder, "" does not.
func FindOpenVINO(cache string) (string, error) {
	found, err := (&openvino{}).find(cache)
	return found.path, err
}

// find finds the library and compares its files with those that this build knows, once.
func (p *openvino) find(cache string) (plugin, error) {
	path, named := os.Getenv(EnvOpenVINO), true
	if path == "" {
		if err := openvinoPlatform(runtime.GOOS, runtime.GOARCH); err != nil {
			return plugin{}, err
		}
		dir, err := disk.CacheDir(cache)
		if err != nil {
			return plugin{}, err
		}
		path, named = filepath.Join(openvinoDir(dir), openvinoLibrary), false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, ok := p.checked[path]; ok {
		return found, nil
	}
	found := plugin{path: path}
	var err error
	switch {
	case named:
		found.version, err = namedVersion(path)
	case !exists(path):
		err = fmt.Errorf("%w in %s", ErrNotInstalled, filepath.Dir(path))
	default:
		found.version, err = OpenVINOVersion, wheel{files: openvinoFiles}.check(filepath.Dir(path))
	}
	if err != nil {
		return plugin{}, err
	}
	if p.checked == nil {
		p.checked = map[string]plugin{}
	}
	p.checked[path] = found
	return found, nil
}

// namedVersion is the version of a library that somebody named: its own, or its hash if it is
// none that this build knows.
func namedVersion(path string) (string, error) {
	if !exists(path) {
		return "", fmt.Errorf("there is no file %s, which %s names; correct it, or leave it out and "+
			"install the plug-in", path, EnvOpenVINO)
	}
	sum, _, err := hashFile(path)
	switch {
	case err != nil:
		return "", err
	case sum == openvinoFiles[openvinoLibrary]:
		return OpenVINOVersion, nil
	}
	return "not the pinned build, " + sum[:16], nil
}

// list registers the library and gives its device for this processor.
func (p *openvino) list(path string) ([]binding.EpDevice, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, ok := p.devices[path]; ok {
		return l.use, l.err
	}
	var l listed
	l.err = guard(func() error {
		before, err := epDevices()
		if err != nil {
			return err
		}
		if err := os.Setenv(EnvKernels, kernels()); err != nil {
			return err
		}
		if err := binding.RegisterExecutionProviderLibrary(OpenVINO+" "+path, path); err != nil {
			return fmt.Errorf("%s cannot be loaded: %w; install it again", path, err)
		}
		after, err := epDevices()
		if err != nil {
			return err
		}
		if len(after) == len(before) {
			return errors.New("the plug-in finds no processor that it knows; it needs one of Intel")
		}
		l.use = after[len(before) : len(before)+1]
		return nil
	})
	if p.devices == nil {
		p.devices = map[string]listed{}
	}
	p.devices[path] = l
	return l.use, l.err
}

// epDevices are the plug-in's devices for one processor, of all libraries in their order.
func epDevices() ([]binding.EpDevice, error) {
	all, err := binding.GetEpDevices()
	var out []binding.EpDevice
	for _, d := range all {
		if d.EpName() == openvinoName {
			out = append(out, d)
		}
	}
	return out, err
}

func (p *openvino) attach(o *binding.SessionOptions, c Config) error {
	found, err := p.find(c.CacheDir)
	if err != nil {
		return err
	}
	use, err := p.list(found.path)
	if err != nil {
		return err
	}
	options, err := openvinoOptions(c)
	if err != nil {
		return err
	}
	return o.AppendExecutionProviderV2(use, options)
}

// openvinoOptions are the options of a session, which the plug-in takes as one text in JSON.
// CACHE_DIR, in which OpenVINO keeps what it has compiled, is not among them. OpenVINO 2026.4 does
// not write all of some graphs, so that they give other numbers when they are read back.
func openvinoOptions(c Config) (map[string]string, error) {
	// The hint is always there: without one the plug-in takes bfloat16 where the processor has it.
	hint := map[bool]string{false: "f32", true: "bf16"}[c.BFloat16]
	streams := strconv.Itoa(max(c.Streams, c.Threads, 1))
	config := map[string]string{"INFERENCE_PRECISION_HINT": hint,
		// A run computes in one stream. More streams than runs would hold memory for nothing.
		"NUM_STREAMS": streams, "INFERENCE_NUM_THREADS": streams,
		// Otherwise every process ties its streams to the first cores. Two of one stream each would
		// share a core while the next one idles.
		"ENABLE_CPU_PINNING": "NO"}
	text, err := json.Marshal(map[string]any{"CPU": config})
	return map[string]string{"load_config": string(text)}, err
}
