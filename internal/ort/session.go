package ort

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	binding "github.com/yalue/onnxruntime_go"
)

// Config sets up a session. The zero value is one thread, everything else as
// the runtime does by default.
type Config struct {
	// Threads work inside one run; 0 means 1. Results do not depend on it
	// for the graphs of this project, but several runs of one thread each are
	// faster than one run of several.
	Threads int
	// Provider evaluates the graph, nil for the runtime's own kernels.
	Provider Provider
	// Plain evaluates the graph as it is. Else the runtime rewrites it, as far as all processors
	// have it the same.
	Plain bool
	// NoArena frees every intermediate tensor at once instead of keeping the
	// memory for the next run.
	NoArena bool
	// NoPrepack keeps weights as they are in the file: less memory, slower,
	// and other last bits.
	NoPrepack bool
	// SaveTo makes the runtime write the optimised model to this file.
	SaveTo string
	// Profile makes the runtime time every node of every run and write that to
	// a file whose name begins with this, as JSON, when the session is closed.
	Profile string
	// Entries are session configuration keys of the C API, such as
	// "optimization.disable_specified_optimizers".
	Entries map[string]string
}

// A Provider is CUDA's, which belongs to a build of the runtime, with options as its documentation
// has them.
type Provider map[string]string

// attach adds the provider to the options of a session. There may be none.
func (p Provider) attach(o *binding.SessionOptions) error {
	if p == nil {
		return nil
	}
	cuda, err := binding.NewCUDAProviderOptions()
	if err != nil {
		return err
	}
	defer func() { _ = cuda.Destroy() }()
	if err := cuda.Update(p); err != nil {
		return err
	}
	return o.AppendExecutionProviderCUDA(cuda)
}

// Session is a loaded model. Its methods are safe for concurrent use.
type Session struct {
	mu      sync.RWMutex // held for reading while a run is in flight
	s       *binding.DynamicAdvancedSession
	name    string
	inputs  []string
	outputs []string
}

// OpenBytes loads a model from memory, which is not needed afterwards. name
// stands for the model in errors. inputs and outputs are the names, in the order in which Run
// takes their tensors. A model with external data needs the entry
// "session.model_external_initializers_file_folder_path". Errors are about the model.
func OpenBytes(name string, model []byte, inputs, outputs []string, c Config) (*Session, error) {
	if _, ok := Loaded(); !ok {
		return nil, fmt.Errorf("%w: load it before opening %s", errRuntimeMissing, name)
	}
	if len(inputs) == 0 || len(outputs) == 0 {
		return nil, fmt.Errorf("%w: %s: a session needs at least one input and one output", errModel,
			name)
	}
	if len(model) == 0 {
		return nil, fmt.Errorf("%w: %s is empty", errModel, name)
	}
	s := &Session{name: name, inputs: slices.Clone(inputs), outputs: slices.Clone(outputs)}
	err := guard(func() error {
		o, err := c.options()
		if err != nil {
			return err
		}
		defer func() { _ = o.Destroy() }()
		s.s, err = binding.NewDynamicAdvancedSessionWithONNXData(model, inputs, outputs, o)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errModel, name, err)
	}
	return s, nil
}

// options translates c; the caller destroys the result.
func (c Config) options() (*binding.SessionOptions, error) {
	o, err := binding.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	var level binding.GraphOptimizationLevel = binding.GraphOptimizationLevelEnableExtended
	if c.Plain {
		level = binding.GraphOptimizationLevelDisableAll
	}
	steps := []error{
		o.SetGraphOptimizationLevel(level),
		o.SetIntraOpNumThreads(cmp.Or(c.Threads, 1)),
		o.SetInterOpNumThreads(1),
		o.SetCpuMemArena(!c.NoArena),
		// Rows have many shapes, and a plan of the memory for each would hold some.
		o.SetMemPattern(false),
		o.SetLogSeverityLevel(binding.LoggingLevelFatal),
		// A pool that spins between runs steals the cores from other runs.
		o.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
	}
	if c.NoPrepack {
		steps = append(steps, o.AddSessionConfigEntry("session.disable_prepacking", "1"))
	}
	if c.SaveTo != "" {
		steps = append(steps, o.SetOptimizedModelFilePath(c.SaveTo))
	}
	if c.Profile != "" {
		steps = append(steps, o.EnableProfiling(c.Profile))
	}
	for k, v := range c.Entries {
		steps = append(steps, o.AddSessionConfigEntry(k, v))
	}
	if err := errors.Join(append(steps, c.Provider.attach(o))...); err != nil {
		_ = o.Destroy()
		return nil, err
	}
	return o, nil
}

// Run computes the outputs from the inputs, in the order of the names given
// at Open. An output tensor is written in place and must have the shape that
// the graph produces; a nil entry is allocated by the runtime, copied once
// and stored in outputs, for the caller to close. When ctx ends, the run is
// stopped at the next node and the outputs are undefined.
//
// Errors wrap ErrMemory, ErrLost, ErrClosed or ctx's cause, or are about the run.
func (s *Session) Run(ctx context.Context, inputs, outputs []*Tensor) error {
	if len(inputs) != len(s.inputs) || len(outputs) != len(s.outputs) {
		return fmt.Errorf("%w: %s takes %d inputs and %d outputs, got %d and %d",
			errRun, s.name, len(s.inputs), len(s.outputs), len(inputs), len(outputs))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.s == nil {
		return fmt.Errorf("%w: %s", ErrClosed, s.name)
	}
	in, out := make([]binding.Value, len(inputs)), make([]binding.Value, len(outputs))
	for i, t := range inputs {
		if t == nil || t.value == nil {
			return fmt.Errorf("%w: input %s of %s", ErrClosed, s.inputs[i], s.name)
		}
		in[i] = t.value
	}
	for i, t := range outputs {
		if t == nil {
			continue
		}
		if t.value == nil {
			return fmt.Errorf("%w: output %s of %s", ErrClosed, s.outputs[i], s.name)
		}
		out[i] = t.value
	}
	if err := s.run(ctx, in, out); err != nil {
		dropNew(outputs, out)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: %s: %w", errRun, s.name, cause(err))
	}
	for i, t := range outputs {
		if t == nil {
			if err := guard(func() error { outputs[i] = adopt(out[i]); return nil }); err != nil {
				return fmt.Errorf("output %s of %s: %w", s.outputs[i], s.name, err)
			}
		}
	}
	return nil
}

// run calls the binding, stoppable through ctx.
func (s *Session) run(ctx context.Context, in, out []binding.Value) error {
	return guard(func() error {
		if ctx.Done() == nil {
			return s.s.Run(in, out)
		}
		o, err := binding.NewRunOptions()
		if err != nil {
			return err
		}
		// Terminate touches o, so o may only go when it can no longer start.
		finished := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			defer close(finished)
			_ = o.Terminate()
		})
		defer func() {
			if !stop() {
				<-finished
			}
			_ = o.Destroy()
		}()
		return s.s.RunWithOptions(in, out, o)
	})
}

// dropNew frees outputs that a failed run had allocated already.
func dropNew(outputs []*Tensor, out []binding.Value) {
	for i, v := range out {
		if outputs[i] == nil && v != nil {
			_ = guard(v.Destroy)
		}
	}
}

// Close waits for the runs in flight and frees the model. Closing twice is
// harmless.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.s == nil {
		return nil
	}
	err := guard(s.s.Destroy)
	s.s = nil
	if err != nil {
		return fmt.Errorf("closing %s: %w", s.name, err)
	}
	return nil
}

// The runtime has no codes for what happens on a card, only words: its own, those of CUDA
// (cudaGetErrorString) and of cuBLAS.
var (
	saysMemory = []string{"Failed to allocate memory", "out of memory", "ALLOC_FAILED",
		"smaller than requested bytes"}
	saysLost = []string{"CUDA failure", "CUDA error", "CUBLAS failure", "CUDNN failure",
		"cudaError"}
)

// cause wraps the error of a run in [ErrMemory] or [ErrLost] if it says so. A lack of memory comes
// as a failure of CUDA, too.
func cause(err error) error {
	says := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(err.Error(), w) })
	}
	switch {
	case says(saysMemory):
		return fmt.Errorf("%w: %w", ErrMemory, err)
	case says(saysLost):
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}
