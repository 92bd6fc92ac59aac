package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The example of docs/guide/distributed.md is run by a shell, and what it says of its result and of
// shards that do not belong together is true. The settings of the environment make it quick.
func TestDistributedExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "distributed.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(sh|)\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 2 || len(blocks[0][1]) == 0 {
		t.Fatalf("%d blocks of code, want the example and the messages", len(blocks))
	}
	example, messages := string(blocks[0][2]), string(blocks[1][2])
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	model, err := filepath.Abs(tinyModel)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("PATH", filepath.Join(".", "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if err := os.Mkdir("bin", 0o755); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nexec env %s=1 %q \"$@\"\n", asCommand, program)
	if err := os.WriteFile(filepath.Join("bin", "infill"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"MODEL=" + model, "STEPS=2", "CHAINS=2", "QUIET=true"} {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv("INFILL_"+name, value)
	}
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "the [MASK] number %d sat on the [MASK]\n\n", i)
	}
	put(t, "sentences.txt", text.String()+"no blank\n")
	shell := func(command string) (out string, code int) {
		c := exec.Command("sh", "-ec", command)
		b, _ := c.CombinedOutput()
		return string(b), c.ProcessState.ExitCode()
	}
	for range 2 { // the commands are right every time, and only the last one needs --force
		if out, code := shell(example); code != 0 {
			t.Fatalf("exit %d: %s", code, out)
		}
		example = strings.Replace(example, "--join", "--force --join", 1)
	}
	whole := regexp.MustCompile("the bytes of `(infill batch [^`]*)`").FindSubmatch(page)
	if whole == nil {
		t.Fatal("no command for the whole file")
	}
	one := strings.Replace(string(whole[1]), "filled.jsonl", "whole.jsonl", 1)
	if out, code := shell(one); code != 1 {
		t.Fatalf("exit %d: %s", code, out)
	}
	joined, _ := os.ReadFile("filled.jsonl")
	want, _ := os.ReadFile("whole.jsonl")
	if len(want) == 0 || !bytes.Equal(joined, want) {
		t.Errorf("joined shards: %d bytes, the whole file %d", len(joined), len(want))
	}
	if out, _ := shell(`grep '"error":{' filled.jsonl | wc -l`); strings.TrimSpace(out) != "1" {
		t.Errorf("%s error records, want 1", out)
	}

	const remake = " && infill batch sentences.txt -o shards/3.jsonl --top 1 --ok-if-lines-fail"
	var said string
	other := []string{"", remake + " --shard 3/8 --seed 2", remake + " --shard 3/9 --seed 1"}
	for _, change := range other {
		out, code := shell("rm shards/3.jsonl*" + change)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, out)
		}
		out, code = shell("infill batch --join shards -o other.jsonl")
		if code != 2 {
			t.Errorf("%s: exit %d", change, code)
		}
		said += out
		put(t, filepath.Join("shards", "3.jsonl"), "") // for rm
	}
	if said != messages {
		t.Errorf("printed:\n%sthe page says:\n%s", said, messages)
	}
}
