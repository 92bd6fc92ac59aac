// Package deploy holds what runs infill on many machines. Its tests run the scripts and the
// manifests with many processes on one machine. Some are killed, and the bytes are compared.
package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"infill/internal/testmode"
)

// TestMain lets the test binary stand for Slurm's commands, by the name that it is called by.
func TestMain(m *testing.M) {
	if command, ok := slurm[filepath.Base(os.Args[0])]; ok {
		if err := command(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "fake", filepath.Base(os.Args[0])+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := os.RemoveAll(programDir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// programDir is the folder of the program, "" before it is built.
var programDir string

// program builds infill, once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "infill-deploy-")
	if err != nil {
		return "", err
	}
	programDir = dir
	path := filepath.Join(dir, "infill")
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, "../cmd/infill").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// setUp is a folder with a file of sentences, and what infill makes of it in one process. Its
// flags are those that all runs have.
func setUp(t *testing.T, lines int, flags []string) (infill, dir string, want []byte) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for Unix")
	}
	infill, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	var text strings.Builder
	for i := range lines {
		switch i % 10 {
		case 3:
			text.WriteString("nothing to fill in\r\n")
		case 7:
			text.WriteString("\n")
		default:
			fmt.Fprintf(&text, "the [MASK] %s in the [MASK] .\n", []string{"sleeps", "runs", "sings"}[i%3])
		}
	}
	in := filepath.Join(dir, "in.txt")
	if err := os.WriteFile(in, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(dir, "whole.jsonl")
	args := append([]string{"batch", in, "-o", whole, "--ok-if-lines-fail"}, flags...)
	if out, err := exec.Command(infill, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err = os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{whole, whole + ".manifest"} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	return infill, dir, want
}

// tiny are flags for a model that answers within milliseconds, and enough steps for a process to
// be killed at work.
func tiny(t *testing.T) []string {
	return []string{"--model", filepath.Join(testmode.Root(t), "mlm", "testdata", "tiny-bert"),
		"--chains=20", "--steps=60", "--memo=0", "--threads=1", "--quiet"}
}

// kill ends a process when its output has some records. It reports whether it came in time.
func kill(ended <-chan struct{}, output string, records int, end func() error) (bool, error) {
	for {
		select {
		case <-ended:
			return false, nil
		case <-time.After(time.Millisecond):
			b, err := os.ReadFile(output)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return false, err
			}
			if bytes.Count(b, []byte("\n")) >= records {
				return true, end()
			}
		}
	}
}

// argsOf are the arguments of the container of a manifest.
func argsOf(t *testing.T, manifest string) []string {
	t.Helper()
	_, after, ok := strings.Cut(manifest, "\n          args:\n")
	if !ok {
		t.Fatal("the manifest has no arguments")
	}
	var args []string
	for line := range strings.Lines(after) {
		arg, ok := strings.CutPrefix(line, "            - ")
		if !ok {
			break
		}
		args = append(args, strings.TrimSpace(arg))
	}
	return args
}

// What an Indexed Job does, by its manifest: a pod for each index, with the index in its arguments,
// and a new pod for one that failed. A pod that is killed goes on. The joined file is the same as
// from one process.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("kubernetes", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	job, join := read("job.yaml"), read("join.yaml")
	var completions int
	if _, after, ok := strings.Cut(job, "\n  completions: "); ok {
		if _, err := fmt.Sscan(after, &completions); err != nil {
			t.Fatal(err)
		}
	}
	args := argsOf(t, job)
	if !strings.Contains(strings.Join(args, " "), fmt.Sprintf("--shard=$(JOB_COMPLETION_INDEX)/%d ",
		completions)) {
		t.Fatalf("%d completions, and %q", completions, args)
	}
	var settings []string // those of the manifest that decide results
	for _, a := range args {
		if strings.HasPrefix(a, "--seed=") || strings.HasPrefix(a, "--top=") {
			settings = append(settings, a)
		}
	}
	infill, dir, want := setUp(t, 16*completions, append(settings, tiny(t)...))
	// pod runs a container once.
	pod := func(args []string, index int, during func(cmd *exec.Cmd, ended <-chan struct{})) int {
		var real []string
		for _, a := range args {
			a = strings.ReplaceAll(a, "$(JOB_COMPLETION_INDEX)", fmt.Sprint(index))
			real = append(real, strings.ReplaceAll(a, "/data", dir))
		}
		cmd := exec.Command(infill, real...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return -1
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait() // the state says what there is to know
			close(ended)
		}()
		if during != nil {
			during(cmd, ended)
		}
		<-ended
		if code := cmd.ProcessState.ExitCode(); code == 2 {
			t.Errorf("exit 2: %s", errs.String())
		}
		return cmd.ProcessState.ExitCode()
	}
	args = append(args, tiny(t)...)
	killed := 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for index := range completions {
		wg.Go(func() {
			out := filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", index))
			for try := 0; ; try++ {
				during := func(cmd *exec.Cmd, ended <-chan struct{}) {
					signal := []os.Signal{syscall.SIGKILL, syscall.SIGTERM}[index%2]
					done, err := kill(ended, out, 2+5*try, func() error { return cmd.Process.Signal(signal) })
					if err != nil {
						t.Error(err)
					}
					if done {
						mu.Lock()
						killed++
						mu.Unlock()
					}
				}
				if index%3 == 2 || try == 2 {
					during = nil
				}
				if code := pod(args, index, during); code == 0 || code == 2 || t.Failed() {
					return
				}
			}
		})
	}
	wg.Wait()
	if killed < completions/2 {
		t.Errorf("%d pods were killed at work, few for %d shards", killed, completions)
	}
	if code := pod(argsOf(t, join), 0, nil); code != 0 {
		t.Fatalf("joining: exit %d", code)
	}
	got, err := os.ReadFile(filepath.Join(dir, "filled.jsonl"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the joined file is not that of one process (%v)", err)
	}
}
