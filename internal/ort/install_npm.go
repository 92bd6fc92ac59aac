package ort

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// npmPackage carries the shared libraries of all platforms of one release.
const npmPackage = "onnxruntime-node@" + Version

// fetchNPM lets the user's own npm fetch the package, so that its registry,
// proxy and certificates are the ones they have set up. No script of the
// package runs.
func fetchNPM(ctx context.Context, o *InstallOptions, p platform, work string) (fetched, error) {
	npm := cmp.Or(o.npm, "npm")
	bin, err := exec.LookPath(npm)
	if err != nil {
		return fetched{}, fmt.Errorf("%s is not installed: %w", npm, err)
	}
	o.logf("fetching %s with npm (about 100 MB)", npmPackage)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "pack", npmPackage, "--ignore-scripts")
	cmd.Dir = work
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("it took more than 10 minutes: %w", err)
		}
		return fetched{}, fmt.Errorf("npm pack %s: %w: %s", npmPackage, err,
			lastLines(stderr.String(), 3))
	}
	balls, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil || len(balls) != 1 {
		return fetched{}, fmt.Errorf("npm pack %s left %d archives, expected one", npmPackage, len(balls))
	}
	// The archive is not needed once the library is out of it, and the work
	// folder is shared with the next source.
	defer func() { _ = os.Remove(balls[0]) }()
	f, err := os.Open(balls[0])
	if err != nil {
		return fetched{}, err
	}
	defer func() { _ = f.Close() }()
	return fromNPM(f, p, work)
}

// fromNPM takes this platform's library out of the package, which is read as
// a stream.
func fromNPM(r io.Reader, p platform, work string) (fetched, error) {
	want := regexp.MustCompile(`^package/bin/napi-v[0-9]+/` +
		regexp.QuoteMeta(p.npmDir+"/"+p.npmFile) + `$`)
	got := fetched{path: filepath.Join(work, "npm-"+p.file), from: npmPackage}
	var err error
	got.sha256, got.size, err = fromTar(r, want.MatchString, got.path)
	if err != nil {
		return fetched{}, fmt.Errorf("%s: %w", npmPackage, err)
	}
	if got.sha256 != p.sha256 {
		_ = os.Remove(got.path)
		return fetched{}, fmt.Errorf("%w: the library in %s has sha256 %s, expected %s",
			ErrRuntimeCorrupt, npmPackage, got.sha256, p.sha256)
	}
	got.pinned = true
	return got, nil
}
