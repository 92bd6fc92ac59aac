package main

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"time"
)

// A run ends when nobody reads its standard output any more, although it is at work on a record of
// hours and its input goes on.
func TestReaderIsGone(t *testing.T) {
	t.Parallel()
	cmd, errs := command(t, withTiny("batch", "-", "--format", "jsonl", "--quiet", "--chains", "10",
		"--seed", "1")...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The first record comes while the input is open, before its next line.
	if _, err := io.WriteString(in, `{"text":"the [MASK] sleeps .","steps":1}`+"\n"); err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(first, `"fillings"`) {
		t.Fatalf("%v: %s%s", err, first, errs)
	}
	if _, err := io.WriteString(in, `{"text":"the [MASK] [MASK] .","steps":1000000}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !late.Stop() || cmd.ProcessState.ExitCode() != exitOK || errs.Len() > 0 {
		t.Errorf("%v: %s", cmd.ProcessState, errs)
	}
}
