// Package gradients compares a model's log-probabilities and derivatives with its file, evaluated
// in float64 by code that shares nothing with the runtime or with the derived graph:
//
//	bin/lab gradients -model my-bert/
//
// It is a test of package onnxgrad, which is run here on any model: the command needs Go. Other
// flags are -device, -blanks, -directions (tokens tried per blank) and -seed.
package gradients

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

var errWrong = errors.New("the gradients are wrong: take --gradient forward, and report the model")

// Command is the command gradients: args are its flags. The figures go to out.
func Command(ctx context.Context, args []string, _ io.Reader, out, errs io.Writer) error {
	given := []string{"test", "-count=1", "-vet=off", "-run=^TestModels$/^given$", "-v",
		"infill/mlm/onnxgrad", "-args", "-model=default"}
	for _, a := range args {
		if abs, err := filepath.Abs(a); err == nil {
			if _, err := os.Stat(a); err == nil { // the test runs elsewhere
				a = abs
			}
		}
		given = append(given, a)
	}
	cmd := exec.CommandContext(ctx, "go", given...)
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%w (%w)", errWrong, err)
	}
	return err
}
