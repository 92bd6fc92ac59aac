package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// endlessSearch is a search of minutes.
var endlessSearch = []string{"--effort", "thorough", "--top", "10000", "--rows", "10000000"}

const endlessText = "the [MASK] [MASK] [MASK] sleeps in the [MASK] [MASK] ."

// Control-C at a terminal ends a search with the best fillings up to then. The line that shows the
// best one is not wider than the terminal and goes away at the end.
func TestControlC(t *testing.T) {
	t.Parallel()
	master, slave := openTerminal(t)
	cmd, _ := command(t, append(withTiny("fill", endlessText), endlessSearch...)...)
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	var shown bytes.Buffer
	piece := make([]byte, 4096)
	for asked := false; ; {
		n, err := master.Read(piece)
		shown.Write(piece[:n])
		if err != nil {
			break // the program has ended
		}
		if !asked && bytes.Contains(shown.Bytes(), []byte(" rows  the ")) {
			asked = true
			if _, err := master.Write([]byte{3}); err != nil { // what the key sends
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	before, after, _ := strings.Cut(shown.String(), "^C")
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	for _, line := range regexp.MustCompile(`\r\x1b\[K[^\r]*`).FindAllString(before, -1) {
		if n := utf8.RuneCountInString(line) - 4; n > 79 {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
	best := after[strings.LastIndex(after, "\x1b[K")+3:]
	if !regexp.MustCompile(`(?s)^ *-\d+\.\d\d  the .* \.\r\n.*search: \d+ rows of the model, .*, stopped; the best ` +
		`are of what was found\r\ninfill: interrupted\r\n$`).MatchString(best) {
		t.Errorf("at the end: %q", best[max(0, len(best)-500):])
	}
}

// A signal gives the best of the line under way and ends the run: no other line begins. Chains stop
// in the same way.
func TestSignalGivesTheBest(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"search": endlessSearch,
		"sample": {"--steps", "1000000", "--chains", "4", "--seed", "1"},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			cmd, _ := command(t, append(withTiny("fill", "--json", "--progress", "json"), flags...)...)
			cmd.Stdin = strings.NewReader(endlessText + "\n" + endlessText + "\n")
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, nil
			said := underWay(t, cmd)
			endBy(t, cmd, sig)
			var rec struct {
				Line          int
				Method, Ended string
				Fillings      []struct{ Text string }
			}
			if err := json.Unmarshal(out.Bytes(), &rec); err != nil || rec.Line != 1 || rec.Method != name ||
				rec.Ended != "stopped" || len(rec.Fillings) == 0 {
				t.Errorf("%s, %v: %v: %.300s", name, sig, err, out.String())
			}
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
				t.Errorf("%s, %v: exit %d", name, sig, code)
			}
			want := `{"progress":{"line":1,"step":`
			if name == "search" {
				want = `{"progress":{"line":1,"rows":`
			}
			if !strings.HasPrefix(said, want) || !json.Valid([]byte(said)) {
				t.Errorf("%s: %q", name, said)
			}
		}
	}
}

// underWay starts a program and waits for the first line of its progress.
func underWay(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), `{"progress"`) {
			first := lines.Text()
			go func() {
				for lines.Scan() { // the rest must not block
				}
			}()
			return first
		}
	}
	t.Fatal("no progress")
	return ""
}

// Work is asked once to end early, and only while it is under way.
func TestEarlyEnd(t *testing.T) {
	t.Parallel()
	e := &earlyEnd{}
	if e.ask() {
		t.Error("nothing is under way")
	}
	stop := make(chan struct{})
	end := e.begin(stop)
	if !e.ask() || e.ask() {
		t.Error("work is asked once")
	}
	select {
	case <-stop:
	case <-time.After(time.Second):
		t.Error("it does not stop")
	}
	if !end() {
		t.Error("it does not know that it was asked")
	}
}
