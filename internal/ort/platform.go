package ort

import (
	"fmt"
	"runtime"
)

// platform describes the library of one operating system and processor.
type platform struct {
	goos, goarch string
	file         string // the name under which the library is kept in the cache
	npm, pip     build
	tag          string // the platform, as pip knows it
}

// build is a library in a package: its path there, and its SHA-256.
type build struct{ path, sha256 string }

// pinned reports whether a library of that SHA-256 is one of the builds.
func (p platform) pinned(sum string) bool { return sum == p.npm.sha256 || sum == p.pip.sha256 }

// The platforms that both packages of release 1.27.0 have. macOS on Intel was dropped by upstream.
//
// The packages are built in other jobs: the Linux library of npm carries more execution providers.
// Their libraries were hashed after npm and pip had compared the packages with what their
// registries state.
var platforms = []platform{
	{"linux", "amd64", "libonnxruntime.so.1",
		build{"linux/x64/libonnxruntime.so.1",
			"d8aff4aa8abee8fb2abb2f2f2459ffc94461e781e41b9f7c072829dd0d470221"},
		build{"libonnxruntime.so." + Version,
			"b5c9d4f124d24707f514dad926dc181820807178855df1c528e3addb2dd0e6f7"},
		"manylinux_2_28_x86_64"},
	{"linux", "arm64", "libonnxruntime.so.1",
		build{"linux/arm64/libonnxruntime.so.1",
			"c36bc200e7e6c093b8abb0b34590fbdd8c52fd3fb5e33795b9523ffdde2fce0f"},
		build{"libonnxruntime.so." + Version,
			"9275ef52956228686ae47b0219f67476a1148505084bdc5571e7bf1bf69b11f2"},
		"manylinux_2_28_aarch64"},
	{"darwin", "arm64", "libonnxruntime." + Version + ".dylib",
		build{"darwin/arm64/libonnxruntime." + Version + ".dylib",
			"89f692a3a1a224e4ad0b796b0e7c0bd81113b0741bfe84211eceef14d05a9e59"},
		build{"libonnxruntime." + Version + ".dylib",
			"49422a138fff12d7fcbd544373aefbffd510e473e08e18af28a8ecc3581029bf"},
		"macosx_14_0_arm64"},
	{"windows", "amd64", "onnxruntime.dll",
		build{"win32/x64/onnxruntime.dll",
			"273f9ef9cf755c6a0f342226a80448156c10ceb74db2ae8c8370dc98e75af0eb"},
		build{"onnxruntime.dll",
			"bbb4ff18db820c24ad6d9196ecdc7a62d6099268eaadf264813a23591d4d15cc"},
		"win_amd64"},
	{"windows", "arm64", "onnxruntime.dll",
		build{"win32/arm64/onnxruntime.dll",
			"908ce63e73f375e90daabe24c52486b42392c19df3d63973a26f871cfeab5453"},
		build{"onnxruntime.dll",
			"85a25defdaafc74ee540c98d8eff5f9bbfe0f1260141f369b3e0f4f7ee4261f2"},
		"win_arm64"},
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
		"build one and name it with %s=/path/to/the/library", errRuntimeMissing, Version, goos, goarch,
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
