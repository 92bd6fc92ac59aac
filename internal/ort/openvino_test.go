package ort

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What the plug-in is told: a precision always, as many streams as there are runs, and no cores.
func TestOpenVINOOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config Config
		want   map[string]string
	}{
		{Config{}, map[string]string{"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": "1",
			"INFERENCE_NUM_THREADS": "1", "ENABLE_CPU_PINNING": "NO"}},
		{Config{Streams: 3, BFloat16: true}, map[string]string{"INFERENCE_PRECISION_HINT": "bf16",
			"NUM_STREAMS": "3", "INFERENCE_NUM_THREADS": "3", "ENABLE_CPU_PINNING": "NO"}},
	} {
		got, err := openvinoOptions(c.config)
		var said map[string]map[string]string
		if err == nil {
			err = json.Unmarshal([]byte(got["load_config"]), &said)
		}
		if err != nil || len(got) != 1 || len(said) != 1 || len(said["CPU"]) != len(c.want) {
			t.Fatalf("%v: %v, %v", c.config, got, err)
		}
		for k, v := range c.want {
			if said["CPU"][k] != v {
				t.Errorf("%s: %q, want %q", k, said["CPU"][k], v)
			}
		}
	}
}

// What is in the way is said, with what helps.
func TestOpenVINOProblems(t *testing.T) {
	t.Setenv(EnvOpenVINO, "")
	cache := t.TempDir()
	p := &openvino{}
	problem := func(want string) {
		t.Helper()
		if d := p.device(cache); !strings.Contains(d.Problem, want) {
			t.Errorf("%q, want %q", d.Problem, want)
		}
	}
	if err := openvinoPlatform("darwin", "arm64"); err == nil ||
		!strings.Contains(err.Error(), "darwin-arm64") {
		t.Error(err)
	}
	if openvinoPlatform("linux", "amd64") != nil {
		t.Error("refused where it is for")
	}
	if openvinoPlatform(runtime.GOOS, runtime.GOARCH) != nil {
		return
	}
	problem("not installed")
	if _, err := FindDevice(OpenVINO, cache); !errors.Is(err, ErrNotInstalled) {
		t.Error(err)
	}
	dir := openvinoDir(cache)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name := range openvinoFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	problem("expected")
	if err := os.Remove(filepath.Join(dir, "libtbb.so.12")); err != nil {
		t.Fatal(err)
	}
	problem("install it again")
	t.Setenv(EnvOpenVINO, filepath.Join(cache, "none.so"))
	problem(EnvOpenVINO)
	_, err := FindDevice(OpenVINO, cache)
	if !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), "there is: cpu") {
		t.Error(err)
	}
}

// A library of another build is another device for what is derived for it.
func TestOpenVINOIdentity(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range []string{"one", "two"} {
		path := filepath.Join(t.TempDir(), "lib.so")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := namedVersion(path)
		if err != nil || !strings.Contains(v, "not the pinned build") {
			t.Errorf("%q, %v", v, err)
		}
		seen[v] = true
	}
	if len(seen) != 2 {
		t.Error(seen)
	}
}
