package ort

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"infill/internal/disk"
)

// FindOptions steers [Load].
type FindOptions struct {
	// Path is the library the user named, or "" to search.
	Path string
	// CacheDir replaces INFILL_CACHE and os.UserCacheDir()/infill.
	CacheDir string

	noSystem bool // tests only: without the command's folder and those of the system
}

// libraryDir is the folder of one platform's library inside the cache.
func libraryDir(cache, goos, goarch string) string {
	return filepath.Join(cache, "onnxruntime", Version, goos+"-"+goarch)
}

// find locates the library and checks the file, without mapping it into the
// process. The report is filled as far as was known, with Problem set, when
// err is not nil; err wraps [ErrRuntime].
//
// A file in the cache is hashed on every call (38 MB take some 40 ms): a hash
// that is only trusted from a stamp would not notice the damage it is there
// to notice. Files the user or the system supplied have no hash to be
// compared with, so only their format and version are checked.
func find(o FindOptions) (Report, error) {
	r := Report{Platform: runtime.GOOS + "-" + runtime.GOARCH}
	cache, cacheErr := disk.CacheDir(o.CacheDir)
	if cacheErr == nil {
		r.Cache = libraryDir(cache, runtime.GOOS, runtime.GOARCH)
	}
	err := search(o, &r, cacheErr)
	if err != nil {
		r.Problem = err.Error()
		return r, err
	}
	r.OK = true
	return r, nil
}

func search(o FindOptions, r *Report, cacheErr error) error {
	if o.Path != "" {
		return named(r, o.Path, sourceGiven, "the library that was asked for")
	}
	if env := os.Getenv(EnvLibrary); env != "" {
		return named(r, env, sourceEnv, "the library that "+EnvLibrary+" names")
	}
	p, perr := thisPlatform()
	if cacheErr == nil && perr == nil {
		path := filepath.Join(r.Cache, p.file)
		r.Looked = append(r.Looked, path)
		if exists(path) {
			r.Path, r.Source = path, sourceCache
			return checkCached(r, p)
		}
	}
	if !o.noSystem {
		for _, c := range systemCandidates() {
			r.Looked = append(r.Looked, c.path)
			if exists(c.path) {
				r.Path, r.Source = c.path, c.source
				return checkUnpinned(r)
			}
		}
	}
	if perr != nil {
		return perr
	}
	if cacheErr != nil {
		return fmt.Errorf("%w: %w, or %s to the library of onnx runtime %s",
			errRuntimeMissing, cacheErr, EnvLibrary, Version)
	}
	return fmt.Errorf("%w: looked in %s; install it, or set %s to the library of onnx runtime %s",
		errRuntimeMissing, places(r.Looked), EnvLibrary, Version)
}

// named checks a file that the user pointed at.
func named(r *Report, path string, src Source, what string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	r.Path, r.Source = abs, src
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s, %s, does not exist; correct the path, or leave it out and install "+
			"the library",
			errRuntimeMissing, what, abs)
	case err != nil:
		return fmt.Errorf("%w: %s: %w", errRuntimeMissing, what, err)
	case info.IsDir():
		return fmt.Errorf("%w: %s, %s, is a folder; name the file in it", errRuntimeMissing, what, abs)
	}
	return checkUnpinned(r)
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

type candidate struct {
	path   string
	source Source
}

// systemCandidates lists step 4 in order. On Windows only the command's own
// folder is used: the onnxruntime.dll of the system folder belongs to Windows
// and is years older.
func systemCandidates() []candidate {
	var out []candidate
	add := func(dir string, src Source) {
		if !filepath.IsAbs(dir) {
			return // a relative entry would load from wherever the command is started
		}
		for _, n := range systemNames(runtime.GOOS) {
			out = append(out, candidate{filepath.Join(dir, n), src})
		}
	}
	if exe, err := os.Executable(); err == nil {
		for _, dir := range besides(exe) {
			add(dir, sourceBeside)
		}
	}
	var dirs []string
	switch runtime.GOOS {
	case "windows":
	case "darwin":
		dirs = append(filepath.SplitList(os.Getenv("DYLD_LIBRARY_PATH")), "/opt/homebrew/lib",
			"/usr/local/lib")
	default:
		dirs = filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
		if triple := map[string]string{"amd64": "x86_64-linux-gnu",
			"arm64": "aarch64-linux-gnu"}[runtime.GOARCH]; triple != "" {
			dirs = append(dirs, "/usr/local/lib/"+triple, "/usr/lib/"+triple)
		}
		dirs = append(dirs, "/usr/local/lib", "/usr/lib64", "/usr/lib", "/opt/onnxruntime/lib")
	}
	for _, dir := range dirs {
		add(dir, sourceSystem)
	}
	return out
}

// besides are the folders of libraries that belong to a program: its own, and lib beside the folder
// bin that it may be in. A link to the program leads to where the program is.
func besides(exe string) []string {
	dirs := []string{filepath.Dir(exe)}
	if real, err := filepath.EvalSymlinks(exe); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, dir := range dirs {
		if filepath.Base(dir) == "bin" {
			dirs = append(dirs, filepath.Join(filepath.Dir(dir), "lib"))
		}
	}
	return dirs
}

// places shortens a list of files to the folders they are in, each once.
func places(paths []string) string {
	var dirs []string
	for _, p := range paths {
		if d := filepath.Dir(p); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return strings.Join(dirs, ", ")
}
