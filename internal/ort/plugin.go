package ort

import (
	"errors"
	"fmt"
	"sync"

	binding "github.com/yalue/onnxruntime_go"
)

// A Plugin is a library of an execution provider that the runtime has loaded, and keeps to the end
// of the process.
type Plugin struct {
	devices []binding.EpDevice
}

// A Provider evaluates what it takes of a graph, in place of the runtime's own kernels.
type Provider struct {
	Plugin  *Plugin           // nil for that of CUDA, which belongs to a build of the runtime
	Options map[string]string // as its documentation has them
}

// ErrNoHardware: a plug-in finds nothing that it can compute on.
var ErrNoHardware = errors.New("the plug-in finds nothing on this machine that it knows")

// plugins are those that were loaded, or refused, by their files.
var plugins struct {
	sync.Mutex
	byPath map[string]func() (*Plugin, error)
}

// LoadPlugin has the runtime, which must be loaded, load a plug-in once, and takes the first device
// that it has for the execution provider of that name. Errors wrap [ErrNoHardware] where it has
// none, and [ErrRuntime] before [Load].
func LoadPlugin(path, provider string) (*Plugin, error) {
	if _, ok := Loaded(); !ok {
		return nil, fmt.Errorf("%w: load it before %s", errRuntimeMissing, path)
	}
	plugins.Lock()
	defer plugins.Unlock()
	if plugins.byPath == nil {
		plugins.byPath = map[string]func() (*Plugin, error){}
	}
	if plugins.byPath[path] == nil {
		plugins.byPath[path] = sync.OnceValues(func() (p *Plugin, err error) {
			return p, guard(func() (err error) { p, err = loadPlugin(path, provider); return err })
		})
	}
	return plugins.byPath[path]()
}

func loadPlugin(path, provider string) (*Plugin, error) {
	before, err := pluginDevices(provider)
	if err != nil {
		return nil, err
	}
	if err := binding.RegisterExecutionProviderLibrary(provider+" "+path, path); err != nil {
		return nil, fmt.Errorf("%s cannot be loaded: %w; install it again", path, err)
	}
	after, err := pluginDevices(provider)
	if err != nil {
		return nil, err
	}
	if len(after) == len(before) {
		return nil, ErrNoHardware
	}
	return &Plugin{after[len(before) : len(before)+1]}, nil
}

// pluginDevices are the devices of an execution provider, of all libraries in their order.
func pluginDevices(provider string) (out []binding.EpDevice, _ error) {
	all, err := binding.GetEpDevices()
	for _, d := range all {
		if d.EpName() == provider {
			out = append(out, d)
		}
	}
	return out, err
}

// attach adds the provider to the options of a session. There may be none.
func (p *Provider) attach(o *binding.SessionOptions) error {
	switch {
	case p == nil:
		return nil
	case p.Plugin != nil:
		return o.AppendExecutionProviderV2(p.Plugin.devices, p.Options)
	}
	cuda, err := binding.NewCUDAProviderOptions()
	if err != nil {
		return err
	}
	defer func() { _ = cuda.Destroy() }()
	if err := cuda.Update(p.Options); err != nil {
		return err
	}
	return o.AppendExecutionProviderCUDA(cuda)
}
