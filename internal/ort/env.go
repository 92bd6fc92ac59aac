package ort

import (
	"fmt"
	"os"
	"strings"
	"sync"

	binding "github.com/yalue/onnxruntime_go"

	"infill/internal/disk"
)

// The runtime is one per process: the binding and the C library both keep
// global state, and a library once mapped is never unmapped.
var (
	loadMu sync.Mutex
	loaded *Report
)

// Load finds the library, maps it into the process and starts the runtime's
// environment. Later calls return the library already loaded; asking then for
// a different file by name is an error, since a process can only hold one.
//
// Load is safe for concurrent use. Errors wrap [ErrRuntime].
func Load(o FindOptions) (Report, error) {
	loadMu.Lock()
	defer loadMu.Unlock()
	if loaded != nil {
		if o.Path != "" && o.Path != loaded.Path && !disk.Same(o.Path, loaded.Path) {
			return *loaded, fmt.Errorf("%w: %s is loaded already, so %s cannot be: a process has one; "+
				"name it where the first model is opened", errRuntimeVersion, loaded.Path, o.Path)
		}
		return *loaded, nil
	}
	r, err := find(o)
	if err == nil {
		err = start(&r)
	}
	if err != nil {
		r.OK, r.Problem = false, err.Error()
		if r.Source == sourceGiven || r.Source == sourceEnv {
			err = namedError{err}
		}
		return r, err
	}
	r.Loaded = true
	keep := r
	loaded = &keep
	return r, nil
}

// Loaded returns the report of the library in use, and whether there is one.
func Loaded() (Report, bool) {
	loadMu.Lock()
	defer loadMu.Unlock()
	if loaded == nil {
		return Report{}, false
	}
	return *loaded, true
}

// envTelemetry is the variable that keeps the runtime's telemetry from starting.
const envTelemetry = "ORT_DISABLE_TELEMETRY"

func start(r *Report) error {
	// No data about the user's runs leave the machine, and no identity of it is written to disk. Some
	// builds (1.32 as pip ships it) begin with both as soon as they are loaded, which the call of
	// the API would be too late for.
	if err := os.Setenv(envTelemetry, "1"); err != nil {
		return fmt.Errorf("switching the runtime's telemetry off: %w", err)
	}
	binding.SetSharedLibraryPath(r.Path)
	// Errors come back as errors; the runtime's own log would repeat them on
	// stderr, in colour.
	err := guard(func() error { return binding.InitializeEnvironment(binding.WithLogLevelFatal()) })
	if err != nil {
		msg := err.Error()
		// The binding reports a library that does not offer the C API it was
		// compiled for as "Error setting ORT API base: 2".
		if strings.Contains(msg, "ORT API base") {
			return fmt.Errorf("%w: %s does not offer the needed C API (1.%d or newer does); install it "+
				"again",
				errRuntimeVersion, r.Path, minMinor)
		}
		return fmt.Errorf("%w: %s cannot be loaded: %w; install it again", errRuntimeCorrupt, r.Path, err)
	}
	_ = binding.DisableTelemetry() // fails in builds without telemetry
	r.Version = binding.GetVersion()
	return checkVersion(r, r.Version)
}

// guard turns a panic of the binding into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the binding panicked: %v", p)
		}
	}()
	return f()
}
