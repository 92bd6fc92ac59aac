package ort

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"infill/internal/disk"
)

// maxLibrary bounds the size of a library file: four times the largest that
// is known (252 MB), and small enough to hash and scan without harm.
const maxLibrary = 1 << 30

// hashFile returns the SHA-256 of a file and its size in bytes.
func hashFile(path string) (string, int64, error) {
	f, err := disk.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxLibrary+1))
	if err != nil {
		return "", n, err
	}
	if n > maxLibrary {
		return "", n, fmt.Errorf("%s is larger than %d MB", path, maxLibrary>>20)
	}
	return hex.EncodeToString(h.Sum(nil)), n, nil
}

// checkCached verifies a file of the cache, which must be a pinned one.
func checkCached(r *Report, p platform) error {
	sum, size, err := hashFile(r.Path)
	r.SHA256, r.Size = sum, size
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w; install it again", errRuntimeCorrupt, err)
	case !p.pinned(sum):
		return fmt.Errorf("%w: %s (%d bytes) has sha256 %s, expected %s; install it again",
			errRuntimeCorrupt, r.Path, size, sum, p.npm.sha256)
	}
	r.Pinned, r.Version = true, Version
	return nil
}

// checkUnpinned verifies a file that somebody else supplied.
func checkUnpinned(r *Report) error {
	version, err := inspect(r.Path, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return err
	}
	r.Version = version
	if sum, size, err := hashFile(r.Path); err == nil {
		r.SHA256, r.Size = sum, size
		if p, err := thisPlatform(); err == nil {
			r.Pinned = p.pinned(sum)
		}
	}
	return checkVersion(r, version)
}

// checkVersion accepts every 1.x from 1.27 on and notes what is not 1.27.0.
// An empty version (a build without a version we can read) is left to Load.
func checkVersion(r *Report, version string) error {
	if version == "" || version == Version {
		return nil
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil || major != 1 ||
		minor < minMinor {
		return fmt.Errorf("%w: %s is %s, needed is 1.%d or newer; install %s",
			errRuntimeVersion, r.Path, version, minMinor, Version)
	}
	r.Note = fmt.Sprintf("onnx runtime %s; results were checked with %s and may differ in the "+
		"last bits", version, Version)
	return nil
}

// inspect returns the version that a library states, or "" when it states none.
// Nothing of the file is executed. An ELF file has to be a whole shared library
// for goarch that exports OrtGetApiBase: what is cut short would end the process
// when it is loaded. The loaders of macOS and Windows refuse such files themselves.
func inspect(path, goos, goarch string) (version string, err error) {
	bad := func(format string, a ...any) (string, error) {
		return "", fmt.Errorf("%w: %s %s; install a good one",
			errRuntimeCorrupt, path, fmt.Sprintf(format, a...))
	}
	// Package elf promises errors on malformed input, but it is not hardened
	// against all of it.
	defer func() {
		if p := recover(); p != nil {
			version, err = bad("is malformed (%v)", p)
		}
	}()
	f, err := disk.Open(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errRuntimeMissing, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return bad("cannot be examined (%v)", err)
	}
	if info.Size() > maxLibrary {
		return bad("is %d MB large, more than any build of onnx runtime", info.Size()>>20)
	}
	if goos != "windows" && goos != "darwin" {
		if version, err = inspectELF(f, info.Size(), goarch); err != nil {
			return bad("%v", err)
		}
	}
	if version == "" {
		version = scanVersion(f, info.Size())
	}
	return version, nil
}

func inspectELF(f *os.File, size int64, goarch string) (string, error) {
	e, err := elf.NewFile(f)
	if err != nil {
		return "", fmt.Errorf("is not a whole ELF library (%v)", err)
	}
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[goarch]
	if e.Type != elf.ET_DYN {
		return "", errors.New("is not a shared library of this system")
	}
	if want != 0 && e.Machine != want {
		return "", fmt.Errorf("is for %v, this machine is %s", e.Machine, goarch)
	}
	// The section headers come last in a file, but a strip may move them.
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && p.Off+p.Filesz > uint64(size) {
			return "", fmt.Errorf("is truncated: a segment ends at byte %d of %d", p.Off+p.Filesz, size)
		}
	}
	syms, err := e.DynamicSymbols()
	if err != nil {
		return "", fmt.Errorf("has no readable symbol table (%v)", err)
	}
	if !slices.ContainsFunc(syms, func(s elf.Symbol) bool {
		return s.Name == "OrtGetApiBase" && s.Section != elf.SHN_UNDEF
	}) {
		return "", errors.New("is a library, but not onnx runtime: it has no OrtGetApiBase")
	}
	if vs, err := e.DynamicVersions(); err == nil {
		for _, v := range vs {
			if s, ok := strings.CutPrefix(v.Name, "VERS_"); ok {
				return s, nil
			}
		}
	}
	return "", nil
}

// scanVersion returns Version when the library holds it as a C string, else
// "": for the formats without symbol versions. Other components state
// versions of their own, so a different string would prove nothing.
func scanVersion(f io.ReaderAt, size int64) string {
	const block, overlap = 1 << 20, 32
	want := []byte("\x00" + Version + "\x00")
	buf := make([]byte, block+overlap)
	for off := int64(0); off < size; off += block {
		n, err := f.ReadAt(buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return ""
		}
		if bytes.Contains(buf[:n], want) {
			return Version
		}
	}
	return ""
}
