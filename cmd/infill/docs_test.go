package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"infill/infill/batch"
)

// The commands in the documents run: with the default model, a short run each.
func TestDocumentedCommands(t *testing.T) {
	var commands []string
	for _, doc := range []string{"blanks.md", "batch.md"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
			commands = append(commands, strings.Split(strings.TrimSpace(block[1]), "\n")...)
		}
		for _, example := range regexp.MustCompile(`(?m)^\$ (infill .*)$`).FindAllStringSubmatch(string(b), -1) {
			commands = append(commands, example[1])
		}
		for _, inline := range regexp.MustCompile("`(infill (?:fill|score) [^`]*\"[^`]*)`").FindAllStringSubmatch(string(b), -1) {
			commands = append(commands, inline[1])
		}
	}
	if len(commands) < 12 {
		t.Fatalf("%d commands in the documents", len(commands))
	}
	t.Chdir(t.TempDir())
	put(t, "animals.txt", "dog\ncat\nold friend\n")
	put(t, "sentences.txt", "The [MASK] went home.\nShe sat on the [MASK].\n")
	put(t, "books.txt", "The young woman went by bus.\nHe sat down on the bed.\n")
	put(t, "corpus.txt", "The old man went home by train.\nShe sat on the bed and read.\n")
	for _, line := range commands {
		line, _, _ = strings.Cut(line, " #")
		for _, one := range strings.Split(line, " && ") {
			args := words(one)
			if len(args) < 2 || args[0] != "infill" {
				t.Fatalf("not a command of ours: %s", one)
			}
			args = args[1:]
			switch args[0] {
			case "fill", "batch":
				args = append(args, "--steps", "2", "--chains", "2", "--quiet")
			}
			switch {
			case strings.Contains(one, ".jsonl.gz"):
				continue // needs a compressed file; package batch tests them
			case strings.Contains(one, "--resume"):
				first := strings.Split(strings.Replace(strings.Join(args, "\x00"), "--resume", "--force", 1), "\x00")
				if r := infillRun("", first...); r.code != 0 {
					t.Errorf("%q: exit %d: %s", first, r.code, r.err)
				}
			case args[0] == "batch":
				args = append(args, "--force")
			}
			if r := infillRun("", args...); r.code != 0 {
				t.Errorf("%s: exit %d: %s", one, r.code, r.err)
			}
		}
	}
}

// words takes a simple shell command apart.
func words(s string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(s, -1) {
		out = append(out, m[1]+m[2])
	}
	return out
}

func TestBatchProgress(t *testing.T) {
	var b strings.Builder
	p := &batchProgress{w: &b, mode: "bar"}
	p.show(batch.Progress{Records: 100, Resumed: 100, Read: 1000, Size: 5000})
	rate, left := p.rates(batch.Progress{Records: 150, Read: 2000, Size: 5000}, 10*time.Second)
	if rate != 5 || left != 30*time.Second {
		t.Errorf("%v records a second, %v left", rate, left)
	}
	if rate, left = p.rates(batch.Progress{Records: 150, Read: 2000, Size: -1}, 10*time.Second); rate != 5 || left != 0 {
		t.Errorf("of a stream: %v records a second, %v left", rate, left)
	}
	if rate, left = p.rates(batch.Progress{Records: 100, Read: 1000, Size: 5000}, time.Second); rate != 0 || left != 0 {
		t.Errorf("of nothing: %v, %v", rate, left)
	}
	if s := b.String(); !strings.Contains(s, " 20 % 100 records") {
		t.Errorf("shown: %q", s)
	}
	p.last = time.Time{}
	p.show(batch.Progress{Records: 200, Failed: 3, Read: 5000, Size: 5000})
	if s := b.String(); !strings.Contains(s, "100 % 200 records, 3 failed, ") {
		t.Errorf("shown: %q", s)
	}
	p.clear()
	if !strings.HasSuffix(b.String(), "\r\x1b[K") {
		t.Error("the bar stays")
	}
}
