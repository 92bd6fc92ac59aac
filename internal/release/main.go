// Release writes what users download: for each platform an archive of the program with ONNX Runtime
// beside it, the licences of all that is in it and a bill of materials, and the checksums of the
// archives. The same sources and the same Go give the same bytes. The wheel and the image are made
// from the archives.
//
// Usage: go run ./internal/release [-out FOLDER] [-version VERSION] [OS-ARCH…]
//
// It needs the network once, for ONNX Runtime (by npm), Zig (by pip) and cyclonedx-gomod (by Go).
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"infill/internal/disk"
	"infill/internal/ort"
)

// A target is a platform that the program is built for.
type target struct {
	goos, goarch string // in Go's spelling
	zig          string // in Zig's, "" where Zig lacks what the program is linked with
}

// targets are the platforms that ONNX Runtime is pinned for. The glibc of Linux is the oldest one
// that the archives run with: the library itself needs 2.27. macOS needs Apple's frameworks, which
// are on Macs only.
var targets = []target{
	{"linux", "amd64", "x86_64-linux-gnu.2.28"},
	{"linux", "arm64", "aarch64-linux-gnu.2.28"},
	{"darwin", "arm64", ""},
	{"windows", "amd64", "x86_64-windows-gnu"},
	{"windows", "arm64", "aarch64-windows-gnu"},
}

func (t target) String() string { return t.goos + "-" + t.goarch }

// here reports whether the target is this machine's platform.
func (t target) here() bool { return t.goos == runtime.GOOS && t.goarch == runtime.GOARCH }

// program is the name of the program in the archive.
func (t target) program() string {
	if t.goos == "windows" {
		return "infill.exe"
	}
	return "infill"
}

// archive is the name of the archive.
func (t target) archive(version string) string {
	name := "infill-" + strings.TrimPrefix(version, "v") + "-" + t.String()
	if t.goos == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

func main() {
	out := flag.String("out", "dist", "`folder` for the archives; those of other versions leave it")
	version := flag.String("version", "", "`version` that the program names")
	flag.Parse()
	if err := run(context.Background(), *out, *version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run writes the archives of the named platforms, or of all that can be built here, and the
// checksums. "this" is the machine's own platform.
func run(ctx context.Context, out, version string, names []string) error {
	if version == "" || strings.ContainsAny(version, " /\\") {
		return fmt.Errorf("-version %q: want one such as v0.1.0", version)
	}
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, t := range chosen {
		fmt.Fprintf(os.Stderr, "== %s\n", t.archive(version))
		if err := write(ctx, t, out, version); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return sums(out, version)
}

func choose(names []string) ([]target, error) {
	var chosen []target
	if len(names) == 0 {
		for _, t := range targets {
			if t.zig != "" || t.here() {
				chosen = append(chosen, t)
			}
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(targets, func(t target) bool {
			return t.String() == name || name == "this" && t.here()
		})
		if i < 0 {
			return nil, fmt.Errorf("there is no ONNX Runtime for %s; want this, or some of %v", name,
				targets)
		}
		chosen = append(chosen, targets[i])
	}
	return chosen, nil
}

// write makes one archive.
func write(ctx context.Context, t target, out, version string) error {
	work, err := os.MkdirTemp("", "infill-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	zig, err := compiler(t, work)
	if err != nil {
		return err
	}
	program := filepath.Join(work, t.program())
	if err := compile(t, zig, program, version); err != nil {
		return err
	}
	npm := ort.InstallOptions{From: "npm", Log: os.Stderr}
	library, err := ort.InstallFor(ctx, npm, t.goos, t.goarch)
	if err != nil {
		return err
	}
	if !library.Pinned {
		return fmt.Errorf("%s is not the pinned build; delete it", library.Path)
	}
	files, err := licences(t, zig)
	if err != nil {
		return err
	}
	parts, err := bill(program, version, library)
	if err != nil {
		return err
	}
	files = append(files, entry{name: "sbom.cdx.json", data: parts})
	for _, path := range []string{program, library.Path} {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files = append(files, entry{name: filepath.Base(path), data: data, run: true})
	}
	return pack(filepath.Join(out, t.archive(version)), files)
}

// isArchive is the name of an archive of any version, whole or in part.
var isArchive = regexp.MustCompile(`^infill-.+-[a-z]+-(amd64|arm64)\.(tar\.gz|zip)(\.part)?$`)

// sums writes the checksums of the archives, and removes those of other versions.
func sums(out, version string) error {
	found, err := filepath.Glob(filepath.Join(out, "infill-*"))
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, path := range found { // in the order of their names
		name := filepath.Base(path)
		if !isArchive.MatchString(name) {
			continue
		}
		if !slices.ContainsFunc(targets, func(t target) bool { return name == t.archive(version) }) {
			if err := os.Remove(path); err != nil {
				return err
			}
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), name)
	}
	return disk.Write(filepath.Join(out, "SHA256SUMS"), []byte(text.String()))
}
