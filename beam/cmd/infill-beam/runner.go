package main

import (
	"cmp"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"infill/internal/program"
)

// inProcess reports whether the workers of a runner are this process.
func inProcess(runner string) bool {
	environment := strings.ToLower(*jobopts.EnvironmentType)
	if environment == "loopback" {
		return true
	}
	switch strings.ToLower(runner) {
	case "direct", "directrunner":
		return true
	case "", "prism", "prismrunner":
		return environment == "" && *jobopts.Endpoint == ""
	}
	return false
}

// container builds the program for workers on another platform.
const container = `docker run --rm --platform linux/amd64 -v "$PWD":/infill -w /infill/beam ` +
	`golang:1.26 go build -o ../bin/infill-beam-worker ./cmd/infill-beam`

// workerBinary makes the running program the worker's. The SDK would build the worker without cgo,
// by which the model is called.
func workerBinary(runner string) error {
	if inProcess(runner) || *jobopts.WorkerBinary != "" {
		return nil
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return program.Usagef("workers of the runner %s are linux/amd64, and this program is %s/%s; "+
			"build theirs in the repository, in a container, and name it by "+
			"--worker_binary bin/infill-beam-worker:\n  %s",
			cmp.Or(runner, "prism"), runtime.GOOS, runtime.GOARCH, container)
	}
	path, err := os.Executable()
	if err != nil {
		return err
	}
	*jobopts.WorkerBinary = path
	return nil
}

// A workerError is what a function of the pipeline said. The runner's own error repeats the plan.
type workerError struct {
	runner error
	text   string
}

func (e *workerError) Error() string { return "the job failed: " + e.text }

func (e *workerError) Unwrap() error { return e.runner }

// failing comes before the error of a function in the error of a runner.
var failing = regexp.MustCompile(`DoFn\[UID:[^\n]*\] failed:\n`)

// pipelineError finds what a worker said in the error of a runner.
func pipelineError(err error) error {
	text := err.Error()
	found := failing.FindAllStringIndex(text, -1)
	if found == nil {
		return err
	}
	return &workerError{err, text[found[len(found)-1][1]:]}
}
