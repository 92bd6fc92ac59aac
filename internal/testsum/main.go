// Testsum runs `go test` with the given arguments, prints what go test prints as
// it comes, and ends with the tests that were skipped: those whose data are
// missing by name, the long ones as a number.
//
// Usage: go run ./internal/testsum [arguments of go test]
//
// It ends with the exit status of go test.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
	}
	os.Exit(code)
}

// run starts go test and returns its exit status. The environment variable GO
// names another go command, as in the Makefile.
func run(args []string) (int, error) {
	command := os.Getenv("GO")
	if command == "" {
		command = "go"
	}
	test := exec.Command(command, append([]string{"test", "-json"}, args...)...)
	test.Stderr = os.Stderr
	out, err := test.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := test.Start(); err != nil {
		return 1, err
	}
	s := newSummary(os.Stdout)
	if err := s.read(out); err != nil {
		_ = test.Process.Kill() // nobody reads its output any more
		_ = test.Wait()
		return 1, err
	}
	err = test.Wait()
	s.print()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(1, exit.ExitCode()), nil // a signal has no exit code
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
