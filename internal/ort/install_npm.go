package ort

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"time"
)

// npmPackage carries the shared libraries of all platforms of one release.
const npmPackage = "onnxruntime-node@" + Version

// fetchNPM takes this platform's library out of the package that npm fetches.
func fetchNPM(ctx context.Context, o *InstallOptions, p platform, work, lib string) error {
	o.logf("fetching %s with npm (about 100 MB)", npmPackage)
	ball, err := fetch(ctx, 10*time.Minute, work, "npm pack "+npmPackage, "*.tgz",
		cmp.Or(o.npm, "npm"), "pack", npmPackage, "--ignore-scripts")
	if err != nil {
		return err
	}
	// The archive is not needed once the library is out of it.
	defer func() { _ = os.Remove(ball) }()
	f, err := os.Open(ball)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	want := regexp.MustCompile(`^package/bin/napi-v[0-9]+/` + regexp.QuoteMeta(p.npm.path) + `$`)
	sum, err := fromTar(f, want.MatchString, lib)
	if err != nil {
		return fmt.Errorf("%s: %w", npmPackage, err)
	}
	return compare(npmPackage, lib, sum, p.npm.sha256)
}
