//go:build linux

package ort

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	binding "github.com/yalue/onnxruntime_go"

	"infill/internal/testmode"
)

// Children that load a library and live for a while: by Load, and as a program does that has not
// heard of telemetry.
const (
	quietEnv = "INFILL_ORT_TEST_QUIET"
	plainEnv = "INFILL_ORT_TEST_PLAIN"
)

// init makes the test binary such a child.
func init() {
	quiet, plain := os.Getenv(quietEnv), os.Getenv(plainEnv)
	if quiet+plain == "" {
		return
	}
	var err error
	if quiet != "" {
		_, err = Load(FindOptions{Path: quiet})
	} else {
		binding.SetSharedLibraryPath(plain)
		err = binding.InitializeEnvironment()
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	time.Sleep(3 * time.Second) // telemetry goes on in the background
	os.Exit(0)
}

// withTelemetry is a build of the runtime that has telemetry. INFILL_ORT_TELEMETRY names its file.
// The long tests fetch it from PyPI.
func withTelemetry(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("INFILL_ORT_TELEMETRY"); path != "" {
		return path
	}
	testmode.Long(t)
	dir := t.TempDir()
	c := exec.Command("python3", "-m", "pip", "download", "--quiet", "--no-deps", "--dest", dir,
		"onnxruntime==1.32.*")
	if out, err := c.CombinedOutput(); err != nil {
		testmode.Missing(t, "onnxruntime 1.32 of PyPI, which python3 -m pip fetches: "+string(out))
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("%v, %v", wheels, err)
	}
	z, err := zip.OpenReader(wheels[0])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close() //nolint:errcheck // opened for reading
	for _, f := range z.File {
		if name := filepath.Base(f.Name); strings.HasPrefix(name, "libonnxruntime.so") {
			from, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(from)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, b, 0o755); err != nil { //nolint:gosec // a library
				t.Fatal(err)
			}
			return path
		}
	}
	testmode.Missing(t, "libonnxruntime.so in "+wheels[0])
	return ""
}

// watch is a library that notes where a process connects to and which hosts it looks for.
const watch = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static void note(const char *what) {
	FILE *f = fopen(getenv("INFILL_TEST_WATCH"), "a");
	if (f) { fprintf(f, "%s\n", what); fclose(f); }
}

int connect(int fd, const struct sockaddr *to, socklen_t n) {
	if (to->sa_family == AF_INET || to->sa_family == AF_INET6) note("connect");
	int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
	return real(fd, to, n);
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **res) {
	note(host ? host : "-");
	return EAI_FAIL;
}
`

// TestTelemetry: a library that has telemetry writes no file, looks for no host and connects to
// none. As another program loads it, it writes some.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	library, dir := withTelemetry(t), t.TempDir()
	source, preload := filepath.Join(dir, "watch.c"), filepath.Join(dir, "watch.so")
	if err := os.WriteFile(source, []byte(watch), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", preload, source, "-ldl").
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, mode := range []string{quietEnv, plainEnv} {
		home, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
		c := exec.Command(os.Args[0], "-test.run=^$")
		c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LD_PRELOAD=" + preload,
			"INFILL_TEST_WATCH=" + seen, mode + "=" + library}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", mode, err, out)
		}
		var files []string
		err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		asked, _ := os.ReadFile(seen)
		t.Logf("%s: %d files, hosts and connections: %q", mode, len(files), asked)
		if quiet := mode == quietEnv; quiet && (len(files) > 0 || len(asked) > 0) {
			t.Errorf("the library writes %q and asks for %q", files, asked)
		} else if !quiet && len(files) == 0 {
			t.Error("the library writes nothing by itself either: nothing was tested")
		}
	}
}

// The variable is set before any library is loaded.
func TestTelemetryIsOff(t *testing.T) {
	t.Parallel()
	if _, err := Load(FindOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv(envTelemetry); got != "1" {
		t.Errorf("%s is %q", envTelemetry, got)
	}
}
