// Package ort is the only place of this module that touches ONNX Runtime. It
// finds or installs the shared library, says what is wrong with it when
// something is, and wraps sessions and tensors so that callers never meet the
// binding, C memory or a panic of either.
//
// The package looks for the library in this order:
//
//  1. a path given by the caller (a flag),
//  2. the file named by the environment variable INFILL_ORT,
//  3. the cache: <cache>/onnxruntime/1.27.0/<os>-<arch>/, where <cache> is
//     INFILL_CACHE or, when that is unset, os.UserCacheDir()/infill,
//  4. the folder of the running command and the system's library folders.
//
// Finding never downloads; [Install] does, and only when asked. A step that
// names a file (1, 2) is final: a wrong file there is an error, not a reason
// to look further, because falling through would silently run something the
// user did not ask for. A damaged file in the cache is an error as well.
package ort

import (
	"errors"
	"fmt"
	"strings"
)

// Version is the release of ONNX Runtime that Install fetches and that every
// figure of this project was measured with.
const Version = "1.27.0"

// minMinor is the oldest release 1.minMinor that is accepted: the binding asks
// for C API 26, but results were only ever checked from 1.27 on.
const minMinor = 27

// EnvLibrary is the environment variable that names the shared library.
const EnvLibrary = "INFILL_ORT"

// What callers branch on. The text of an error says what the package sought, where, and which
// command mends it.
var (
	// ErrRuntime: the library itself is the trouble, and an installed one helps.
	ErrRuntime = errors.New("onnx runtime is not usable")
	// ErrNamed: an ErrRuntime of a file that [FindOptions] or the environment names. The package
	// then seeks no other, so to install one does not help yet.
	ErrNamed = errors.New("the library was named")
	// errInstall: the library could not be fetched; nothing was changed.
	errInstall = errors.New("cannot install onnx runtime")
	errModel   = errors.New("onnx runtime refuses the model")
	errRun     = errors.New("onnx runtime failed") // inside a run
	// ErrMemory: a run did because the memory of its device is too small for it.
	ErrMemory = errors.New("the device has too little memory")
	// ErrLost: a run did because its device does not answer. Nothing works on it in this process.
	ErrLost = errors.New("the device does not answer any more")
	// ErrClosed: the session or tensor was closed before.
	ErrClosed = errors.New("onnx runtime session is closed")
)

// runtimeError are the kinds of [ErrRuntime].
type runtimeError string

const (
	// errRuntimeMissing: no library at the place named, or none anywhere.
	errRuntimeMissing runtimeError = "onnx runtime not found"
	// errRuntimeVersion: a library is there, of a release that cannot be used.
	errRuntimeVersion runtimeError = "onnx runtime has the wrong version"
	// errRuntimeCorrupt: the file is damaged, of another platform, or not a shared library at all.
	errRuntimeCorrupt runtimeError = "onnx runtime library is damaged"
)

func (e runtimeError) Error() string { return string(e) }

func (e runtimeError) Is(target error) bool { return target == ErrRuntime }

// A namedError is one of a library that the user named.
type namedError struct{ error }

func (e namedError) Unwrap() []error { return []error{e.error, ErrNamed} }

// Source says how a library was found.
type Source string

// Where a library can come from.
const (
	sourceGiven  Source = "given" // by FindOptions.Path
	sourceEnv    Source = "environment"
	sourceCache  Source = "cache"
	sourceBeside Source = "beside the command"
	sourceSystem Source = "system"
)

// Report is everything that is known about the runtime. The zero value of a field
// means "not known".
type Report struct {
	OK       bool   `json:"ok"`
	Problem  string `json:"problem,omitempty"` // why not OK, with the remedy
	Note     string `json:"note,omitempty"`    // OK, but worth knowing
	Path     string `json:"path,omitempty"`
	Source   Source `json:"source,omitempty"`
	Version  string `json:"version,omitempty"` // as read from the file, then from the loaded library
	SHA256   string `json:"sha256,omitempty"`  // lower-case hex of the file
	Pinned   bool   `json:"pinned"`            // SHA256 is the one this build expects
	Size     int64  `json:"size,omitempty"`    // bytes
	Loaded   bool   `json:"loaded"`            // mapped into this process
	Platform string `json:"platform"`          // os-arch in Go's spelling
	Cache    string `json:"cache,omitempty"`   // folder that Install fills

	// Looked lists the places that were searched, in order, when nothing was found.
	Looked []string `json:"looked,omitempty"`
}

// Given reports whether FindOptions.Path named the library.
func (r Report) Given() bool { return r.Source == sourceGiven }

// String prints the report on a few lines, without colour.
func (r Report) String() string {
	var b strings.Builder
	state := "ok"
	if !r.OK {
		state = "problem"
	}
	fmt.Fprintf(&b, "onnx runtime: %s\n", state)
	line := func(k, v string) {
		if v != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", k, v)
		}
	}
	line("problem", r.Problem)
	line("note", r.Note)
	if r.Path != "" {
		line("path", fmt.Sprintf("%s (%s)", r.Path, r.Source))
	}
	line("version", r.Version)
	if r.SHA256 != "" {
		pin := "not the pinned build"
		if r.Pinned {
			pin = "pinned"
		}
		line("sha256", r.SHA256+" ("+pin+")")
	}
	line("platform", r.Platform)
	line("cache", r.Cache)
	return b.String()
}
