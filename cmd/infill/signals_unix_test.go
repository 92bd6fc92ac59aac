//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fifo makes a pipe that nobody writes to.
func fifo(t *testing.T, path string) string {
	t.Helper()
	if err := errors.Join(os.RemoveAll(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// A pipe or a device in the place of one of a model's files is named, not waited for.
func TestModelOfPipes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"vocab.txt", "config.json", "model.onnx", "tokenizer_config.json"} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(tinyModel)); err != nil {
			t.Fatal(err)
		}
		fifo(t, filepath.Join(dir, name))
		for _, args := range [][]string{{"fill", "--model", dir, "the [MASK] ."}, {"model", "info", dir}} {
			done := make(chan outcome, 1)
			go func() { done <- infillRun("", args...) }()
			select {
			case r := <-done:
				if r.code != exitTrouble || !strings.Contains(r.err+r.out, name) {
					t.Errorf("%s, %v: exit %d: %s", name, args[:2], r.code, r.err)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s, %v: it waits for the pipe", name, args[:2])
			}
		}
	}
}

// endBy sends a signal to a program and waits for its end.
func endBy(t *testing.T, cmd *exec.Cmd, sig syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		t.Fatalf("%v is swallowed", sig)
	}
}

// The first signal ends a batch that waits for a pipe, in order: what was filled is there.
func TestSignalWhileThePipeIsSilent(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		out := filepath.Join(t.TempDir(), "out.jsonl")
		cmd, errs := command(t, withTiny("batch", "-", "-o", out, "--format", "text",
			"--seed", "1", "--chains", "2", "--steps", "2")...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write([]byte("the [MASK] sleeps .\n")); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			if b, err := os.ReadFile(out); err == nil && strings.HasSuffix(string(b), "}\n") {
				break
			}
			time.Sleep(time.Millisecond)
		}
		endBy(t, cmd, sig)
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted ||
			strings.Count(get(t, out), "\n") != 1 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("%v: exit %d: %s%s", sig, code, errs, get(t, out))
		}
	}
}

// The first signal ends a program that waits for something and has not begun.
func TestSignalBeforeWork(t *testing.T) {
	t.Parallel()
	pipe := fifo(t, filepath.Join(t.TempDir(), "pipe"))
	cmd, errs := command(t, "eval", pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // nothing says when it waits; a signal before that ends it as well
	endBy(t, cmd, syscall.SIGINT)
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted ||
		errs.String() != "infill: interrupted\n" {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// The first signal ends a batch whose output is a pipe that nobody reads.
func TestSignalWhileNobodyReads(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := t.TempDir()
		in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] sleeps .\n")
		cmd, errs := command(t, withTiny("batch", in, "-o", fifo(t, filepath.Join(dir, "out")), "--seed", "1")...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // it waits for the reader by then, or is about to
		endBy(t, cmd, sig)
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
			t.Errorf("%v: exit %d: %s", sig, code, errs)
		}
	}
}
