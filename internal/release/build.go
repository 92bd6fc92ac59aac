package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// zigVersion is the release of Zig whose C compiler builds for all platforms, and for an old glibc.
const zigVersion = "0.15.1"

// goCommand is the go command, which the Makefile may name.
func goCommand() string { return cmp.Or(os.Getenv("GO"), "go") }

// A zig is an installed Zig; the zero value is none.
type zig struct {
	cc    string // the C compiler for a target
	files string // the folder of its files
}

// compiler installs Zig and writes the C compiler of a target into a folder. For the machine's own
// platform the user's CC does too, or the machine's compiler where pip is missing.
func compiler(t target, work string) (zig, error) {
	switch {
	case t.here() && (t.zig == "" || os.Getenv("CC") != ""):
		return zig{}, nil
	case t.zig == "":
		return zig{}, errors.New("it needs Apple's frameworks; build it on a Mac")
	}
	python, err := installZig()
	switch {
	case err != nil && t.here():
		fmt.Fprintf(os.Stderr, "== without Zig, by the compiler of this machine: %v\n", err)
		return zig{}, nil
	case err != nil:
		return zig{}, fmt.Errorf("another platform needs Zig: %w", err)
	}
	const where = "import os, ziglang; print(os.path.dirname(ziglang.__file__), end='')"
	out, err := exec.Command(python, "-c", where).Output()
	if err != nil {
		return zig{}, err
	}
	// The path of the compiler differs between runs, so that Go takes nothing that was compiled by C
	// out of its cache. A difference between two builds is then one of the build.
	cc := filepath.Join(work, "cc")
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' -m ziglang cc -target %s \"$@\"\n", python, t.zig)
	return zig{cc, string(out)}, os.WriteFile(cc, []byte(script), 0o755)
}

// installZig returns a Python of the user's cache that has Zig.
func installZig() (python string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	place := filepath.Join(cache, "infill-build", "zig-"+zigVersion)
	python, complete := filepath.Join(place, "bin", "python"), filepath.Join(place, "complete")
	if _, err := os.Stat(complete); err == nil {
		return python, nil
	}
	fmt.Fprintf(os.Stderr, "== installing Zig %s into %s, 90 MB\n", zigVersion, place)
	for _, args := range [][]string{
		{"python3", "-m", "venv", "--clear", place},
		{python, "-m", "pip", "install", "--quiet", "ziglang==" + zigVersion},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w: %s", args, err, out)
		}
	}
	return python, os.WriteFile(complete, nil, 0o644)
}

// environment is Go's for a target. What else of the user's changes the bytes is left out.
func environment(t target) []string {
	return append(os.Environ(), "CGO_ENABLED=1", "GOOS="+t.goos, "GOARCH="+t.goarch, "GOAMD64=v1",
		"GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "CGO_CFLAGS=-O2 -g", "CGO_LDFLAGS=-O2")
}

// compile builds the program, stripped.
func compile(t target, z zig, out, version string) error {
	cmd := exec.Command(goCommand(), "build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -buildid= -X main.buildVersion="+version, "-o", out, "./cmd/infill")
	cmd.Env, cmd.Stdout, cmd.Stderr = environment(t), os.Stderr, os.Stderr
	if z.cc != "" {
		cmd.Env = append(cmd.Env, "CC="+z.cc)
	}
	return cmd.Run()
}
