package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"infill/cmd/infill/internal/console"
)

// openTerminal opens a terminal of the system: what is written to the second comes out of the first.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no terminals: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	return master, slave
}

// onTerminal runs one command line on a terminal and returns what was shown.
func onTerminal(t *testing.T, args ...string) (int, string) {
	t.Helper()
	master, slave := openTerminal(t)
	shown := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = b.ReadFrom(master) // ends with an error when the last slave is closed
		shown <- b.String()
	}()
	code := runLine(context.Background(), console.IO{In: strings.NewReader(""), Out: slave, Err: slave}, args)
	if err := slave.Close(); err != nil {
		t.Error(err)
	}
	select {
	case s := <-shown:
		return code, s
	case <-time.After(time.Minute):
		t.Fatal("the terminal does not end")
	}
	return 0, ""
}

// A dumb terminal is sent no escape codes, neither colours nor progress. Others are sent some.
func TestDumbTerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), strings.Repeat("the [MASK] and the [MASK] .\n", 3))
	commands := map[string][]string{
		"fill":  withTiny("fill", "--seed", "1", "the [MASK] and the [MASK] ."),
		"exact": withTiny("fill", "the [MASK] sleeps ."),
		"batch": withTiny("batch", in, "--seed", "1", "--steps", "4", "--force", "-o", filepath.Join(dir, "o.jsonl")),
	}
	for name, args := range commands {
		for term, escapes := range map[string]bool{"xterm": true, "dumb": false} {
			t.Setenv("TERM", term)
			code, shown := onTerminal(t, args...)
			if code != 0 || shown == "" {
				t.Fatalf("%s on %s: exit %d, %q", name, term, code, shown)
			}
			if strings.Contains(shown, "\x1b") != escapes {
				t.Errorf("%s on %s: %q", name, term, shown)
			}
		}
	}
	// Colours that are asked for are sent to any terminal.
	t.Setenv("TERM", "dumb")
	if _, shown := onTerminal(t, append(commands["exact"], "--color", "always")...); !strings.Contains(
		shown, "\x1b[1;32m") {
		t.Errorf("asked for: %q", shown)
	}
}

// Who asks for standard input at a terminal is told that the program waits. A pipe is not told.
func TestTypedTexts(t *testing.T) {
	t.Parallel()
	_, slave := openTerminal(t)
	t.Cleanup(func() { _ = slave.Close() })
	for _, c := range []struct {
		in   io.Reader
		want string
	}{{slave, "Ctrl-D"}, {strings.NewReader("one [MASK]\n"), ""}} {
		for _, texts := range []func([]string, console.IO) (iter.Seq2[line, error], error){inputTexts, manyTexts} {
			var said strings.Builder
			if _, err := texts([]string{"-"}, console.IO{In: c.in, Out: io.Discard, Err: &said}); err != nil {
				t.Error(err)
			}
			if !strings.Contains(said.String(), c.want) || c.want == "" && said.Len() > 0 {
				t.Errorf("said %q, want %q", said.String(), c.want)
			}
		}
	}
}
