// Package cuda is the device that evaluates graphs on a graphics card of NVIDIA. The runtime has
// kernels for it in a build of its own, which a process has to load in place of the usual one. It
// needs libraries of CUDA 13 and cuDNN 9 beside the driver.
//
// Products of float32 are computed as such, not in the shorter format that cards call TF32. For
// half precision onnxgrad derives another graph, see onnxgrad.Options. Kernels for products of
// other sizes add in another order, so calls have one size for each length of rows. The bits are
// then the same for calls that follow each other, whatever rows share them. Where calls overlapped
// one number in twenty had other last bits on an H200.
package cuda

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"infill/internal/disk"
	"infill/internal/ort"
	"infill/mlm/device"
)

// calls is how many calls a card evaluates at the same time: while one computes, the results of
// another are copied. tokens is the size of a call, with which a card is busy.
const (
	calls  = 4
	tokens = 4096
)

// Device is the first card that the driver shows. CUDA_VISIBLE_DEVICES chooses another.
type Device struct{}

// Name is [Name].
func (Device) Name() string { return Name }

// Runtime is the build of the runtime for CUDA, where it and a card are there.
func (Device) Runtime(cache string) string {
	path, _, err := build.Find(cache)
	if err != nil {
		return ""
	}
	if c, err := driver(); err != nil || c.problem() != "" {
		return ""
	}
	return path
}

// About finds the build, the driver with its card, and CUDA's libraries.
func (Device) About(cache string) device.About {
	a := device.About{Name: Name, About: "a graphics card of NVIDIA", Rounding: device.Float16,
		Apart: calls, Tokens: tokens}
	path, version, err := build.Find(cache)
	if err == nil || errors.Is(err, ort.ErrNotInstalled) {
		c, derr := driver()
		switch {
		case derr != nil:
			a.Problem = derr.Error()
		case c.problem() != "":
			a.Problem = c.problem()
		default:
			a.About = c.String()
		}
		if a.Problem != "" { // nothing to install helps
			return a
		}
	}
	if err == nil {
		a.Identity = Name + " " + version
		_, err = located(cache)
	}
	if r, ok := ort.Loaded(); ok && err == nil && r.Path != path && !disk.Same(r.Path, path) {
		err = fmt.Errorf("the process has loaded %s, and cuda needs %s: open the first model on cuda, "+
			"and leave %s out", r.Path, path, ort.EnvLibrary)
	}
	if err != nil {
		a.Problem, a.Missing = err.Error(), errors.Is(err, ort.ErrNotInstalled)
	}
	return a
}

// Provider is CUDA with the session's options, once its libraries are loaded.
func (Device) Provider(cache string) (ort.Provider, error) {
	paths, err := located(cache)
	if err != nil {
		return nil, err
	}
	if err := load(paths); err != nil {
		return nil, err
	}
	return options(), nil
}

// options are the options of every session. Memory grows by what a session asks for: growing by
// powers of two would hold half of it for nothing.
func options() ort.Provider {
	o := ort.Provider{"device_id": "0", "use_tf32": "0",
		"arena_extend_strategy": "kSameAsRequested", "cudnn_conv_algo_search": "HEURISTIC"}
	if c, err := driver(); err == nil {
		o["gpu_mem_limit"] = strconv.FormatInt(c.memory/10*9, 10)
	}
	return o
}

// located finds the libraries of CUDA: in the cache, in packages of Python, in the folders of the
// system. Errors wrap [ort.ErrNotInstalled] and name those that are not there.
func located(cache string) (paths []string, err error) {
	var none []string
	for _, l := range libraries {
		path := l.find(cache)
		if path == "" {
			none = append(none, l.Library)
		}
		paths = append(paths, path)
		for _, name := range l.then {
			paths = append(paths, filepath.Join(filepath.Dir(path), name))
		}
	}
	if none != nil {
		return nil, fmt.Errorf("CUDA's libraries are %w: %s", ort.ErrNotInstalled,
			strings.Join(none, ", "))
	}
	return paths, nil
}

// Install puts the build into the cache, and those of CUDA's libraries that the machine does not
// have. o is as for [ort.Wheel.Install].
func (Device) Install(ctx context.Context, o ort.InstallOptions) error {
	if _, err := build.Install(ctx, o); err != nil {
		return err
	}
	for _, l := range libraries {
		if path := l.find(o.CacheDir); path != "" && !o.Force {
			if o.Log != nil {
				_, _ = fmt.Fprintf(o.Log, "%s is there: %s\n", l.Library, path)
			}
			continue
		}
		if _, err := l.Install(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
