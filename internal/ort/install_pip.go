package ort

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
)

// pipPackage carries the shared library of one platform, for one release of Python. That of
// pipPython is taken. The library knows nothing of it.
const (
	pipPackage = "onnxruntime==" + Version
	pipPython  = "3.12"
)

// fetchPip takes the library out of the package that pip fetches.
func fetchPip(ctx context.Context, o *InstallOptions, p platform, work, lib string) error {
	file, err := o.pip(ctx, work, pipPackage, p.tag, pipPython, "20 MB")
	if err != nil {
		return err
	}
	sum, err := fromZip(file, "onnxruntime/capi/"+p.pip.path, lib)
	if err != nil {
		return fmt.Errorf("%s: %w", pipPackage, err)
	}
	return compare(pipPackage, lib, sum, p.pip.sha256)
}

// pip has pip fetch a package into a folder, and gives its file. tag is the platform that it is
// for, and release the Python, "" for any. size is for people.
func (o *InstallOptions) pip(ctx context.Context, work, requirement, tag, release, size string) (
	string, error) {
	o.logf("fetching %s with pip (about %s)", requirement, size)
	args := []string{cmp.Or(o.Python, "python3"), "-m", "pip", "download", "--no-deps",
		"--only-binary", ":all:", "--platform", tag}
	if release != "" {
		args = append(args, "--implementation", "cp", "--python-version", release, "--abi",
			"cp"+strings.ReplaceAll(release, ".", ""))
	}
	file, err := fetch(ctx, time.Hour, work, "pip download "+requirement, "*.whl", append(args,
		"--disable-pip-version-check", "--no-input", "--dest", ".", requirement)...)
	if err != nil {
		err = fmt.Errorf("%w; install Python 3 with pip, with its package index within reach, or copy "+
			"the folder from the cache of another machine", err)
	}
	return file, err
}
