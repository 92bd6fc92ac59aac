package ort

import (
	"fmt"
	"runtime"
)

// platform describes the library of one operating system and processor.
type platform struct {
	goos, goarch string

	// file is the name under which the library is kept in the cache.
	file string
	// npmDir is <os>/<arch> inside the npm package, npmFile the name there.
	npmDir, npmFile string
	// archive is the file of Microsoft's release, archiveLib the path of the
	// library inside it.
	archive, archiveLib string
	// sha256 is the hash of npmFile in onnxruntime-node 1.27.0, computed from
	// the package whose sha512 integrity the npm client had verified.
	sha256 string
}

// The platforms that onnxruntime-node 1.27.0 ships. Only these are pinned;
// macOS on Intel was dropped by upstream.
//
// Microsoft's release archives are built in other jobs than the npm package
// (the Linux library of the package carries more execution providers), so
// their libraries have other hashes, which are not known here. They are
// accepted on weaker evidence: see fetchRelease.
var platforms = []platform{
	{
		goos: "linux", goarch: "amd64", file: "libonnxruntime.so.1",
		npmDir: "linux/x64", npmFile: "libonnxruntime.so.1",
		archive:    "onnxruntime-linux-x64-" + Version + ".tgz",
		archiveLib: "onnxruntime-linux-x64-" + Version + "/lib/libonnxruntime.so." + Version,
		sha256:     "d8aff4aa8abee8fb2abb2f2f2459ffc94461e781e41b9f7c072829dd0d470221",
	},
	{
		goos: "linux", goarch: "arm64", file: "libonnxruntime.so.1",
		npmDir: "linux/arm64", npmFile: "libonnxruntime.so.1",
		archive:    "onnxruntime-linux-aarch64-" + Version + ".tgz",
		archiveLib: "onnxruntime-linux-aarch64-" + Version + "/lib/libonnxruntime.so." + Version,
		sha256:     "c36bc200e7e6c093b8abb0b34590fbdd8c52fd3fb5e33795b9523ffdde2fce0f",
	},
	{
		goos: "darwin", goarch: "arm64", file: "libonnxruntime." + Version + ".dylib",
		npmDir: "darwin/arm64", npmFile: "libonnxruntime." + Version + ".dylib",
		archive:    "onnxruntime-osx-arm64-" + Version + ".tgz",
		archiveLib: "onnxruntime-osx-arm64-" + Version + "/lib/libonnxruntime." + Version + ".dylib",
		sha256:     "89f692a3a1a224e4ad0b796b0e7c0bd81113b0741bfe84211eceef14d05a9e59",
	},
	{
		goos: "windows", goarch: "amd64", file: "onnxruntime.dll",
		npmDir: "win32/x64", npmFile: "onnxruntime.dll",
		archive:    "onnxruntime-win-x64-" + Version + ".zip",
		archiveLib: "onnxruntime-win-x64-" + Version + "/lib/onnxruntime.dll",
		sha256:     "273f9ef9cf755c6a0f342226a80448156c10ceb74db2ae8c8370dc98e75af0eb",
	},
	{
		goos: "windows", goarch: "arm64", file: "onnxruntime.dll",
		npmDir: "win32/arm64", npmFile: "onnxruntime.dll",
		archive:    "onnxruntime-win-arm64-" + Version + ".zip",
		archiveLib: "onnxruntime-win-arm64-" + Version + "/lib/onnxruntime.dll",
		sha256:     "908ce63e73f375e90daabe24c52486b42392c19df3d63973a26f871cfeab5453",
	},
}

// thisPlatform returns the row of the machine we run on.
func thisPlatform() (platform, error) {
	return platformOf(runtime.GOOS, runtime.GOARCH)
}

func platformOf(goos, goarch string) (platform, error) {
	for _, p := range platforms {
		if p.goos == goos && p.goarch == goarch {
			return p, nil
		}
	}
	return platform{}, fmt.Errorf("%w: no build of onnx runtime %s is known for %s/%s; "+
		"build one and name it with %s=/path/to/the/library", ErrRuntimeMissing, Version, goos, goarch,
		EnvLibrary)
}

// systemNames are the file names a system package may use, most specific first.
func systemNames(goos string) []string {
	switch goos {
	case "windows":
		return []string{"onnxruntime.dll"}
	case "darwin":
		return []string{"libonnxruntime." + Version + ".dylib", "libonnxruntime.1.dylib",
			"libonnxruntime.dylib"}
	}
	return []string{"libonnxruntime.so." + Version, "libonnxruntime.so.1", "libonnxruntime.so"}
}
