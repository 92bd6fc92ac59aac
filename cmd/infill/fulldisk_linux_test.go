package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A disk that really is full, one of 64 KB in memory: the run ends with exit
// code 3 and whole records, and goes on to the undisturbed file when there is
// room. Without room even for the manifest nothing is left behind.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir, disk := t.TempDir(), t.TempDir()
	size := func(flags uintptr, s string) error {
		return syscall.Mount("tmpfs", disk, "tmpfs", flags, "size="+s)
	}
	if err := size(0, "64k"); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("mounting needs more rights: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	in := sentenceFile(t, dir, 300)
	for _, suffix := range []string{".jsonl", ".jsonl.gz"} {
		args := func(out string, more ...string) []string {
			return append(
				withTiny("batch", in, "-o", out, "--quiet", "--seed", "5", "--chains", "4", "--steps", "3"),
				more...)
		}
		whole, out := filepath.Join(dir, "whole"+suffix), filepath.Join(disk, "out"+suffix)
		if r := infillRun("", args(whole)...); r.code != exitSomeFailed {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		want := get(t, whole)
		// Leave room for less than the file, whatever the suffix.
		room := 64<<10 - len(want)/2
		ballast := filepath.Join(disk, "ballast")
		if room > 0 {
			put(t, ballast, strings.Repeat("x", room))
		}
		r := infillRun("", args(out)...)
		kept, records := out, want // where whole records are, and all of them
		if suffix != ".jsonl" {
			kept, records = out+".part", get(t, filepath.Join(dir, "whole.jsonl"))
		}
		got := get(t, kept)
		if r.code != exitTrouble || !strings.Contains(r.err, "no space left") ||
			!strings.Contains(r.err, "--resume") {
			t.Fatalf("%s: exit %d: %s", suffix, r.code, r.err)
		}
		if len(got) == 0 || len(got) >= len(records) || !strings.HasPrefix(records, got) ||
			!strings.HasSuffix(got, "}\n") {
			t.Fatalf("%s: %d of %d bytes, not whole records", suffix, len(got), len(records))
		}
		if r := infillRun("", args(out, "--resume")...); r.code != exitTrouble { // still full
			t.Errorf("%s: exit %d: %s", suffix, r.code, r.err)
		}
		if err := size(syscall.MS_REMOUNT, "4m"); err != nil {
			t.Fatal(err)
		}
		if r := infillRun("", args(out, "--resume")...); r.code != exitSomeFailed || get(t, out) != want {
			t.Errorf("%s: with room again: exit %d, %s", suffix, r.code, r.err)
		}
		// No room at all, not even for the manifest.
		left, err := os.ReadDir(disk)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range left {
			if err := os.Remove(filepath.Join(disk, f.Name())); err != nil {
				t.Fatal(err)
			}
		}
		if err := size(syscall.MS_REMOUNT, "64k"); err != nil {
			t.Fatal(err)
		}
		put(t, ballast, strings.Repeat("x", 64<<10))
		if r := infillRun("", args(out)...); r.code != exitTrouble ||
			!strings.Contains(r.err, "manifest") {
			t.Errorf("%s: exit %d: %s", suffix, r.code, r.err)
		}
		if left, _ := os.ReadDir(disk); len(left) != 1 {
			t.Errorf("%s: left behind: %v", suffix, left)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
}
