package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// The commands in the documents run: with the default model, a short run each.
func TestDocumentedCommands(t *testing.T) {
	testmode.Long(t)
	var commands []string
	file, shown := regexp.MustCompile("(?ms)`([\\w.-]+)`:\n\n^```\\w*\n(.*?)^```$"), map[string]string{}
	for _, doc := range []string{
		"blanks.md", "batch.md", "search.md", "augment.md", "masks.md", "samplers.md",
	} {
		b, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range file.FindAllStringSubmatch(string(b), -1) {
			shown[m[1]] = m[2]
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
	if len(commands) < 30 {
		t.Fatalf("%d commands in the documents", len(commands))
	}
	stays := get(t, filepath.Join("..", "..", "infill", "table", "testdata", "stays.parquet"))
	t.Chdir(t.TempDir())
	put(t, "stays.parquet", stays)
	put(t, "animals.txt", "dog\ncat\nold friend\n")
	put(t, "sentences.txt", "The [MASK] went home.\nShe sat on the [MASK].\n")
	if err := os.Mkdir("corpus", 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join("corpus", "a.txt"), "The [MASK] went home.\n")
	put(t, "table.csv", "id,sentence\n1,The [MASK] went home.\n")
	for name, text := range shown {
		put(t, name, text)
	}
	put(t, "books.txt", "The young woman went by bus.\nHe sat down on the bed.\n")
	put(t, "reviews.csv", "review,label\nThe film was wonderful and the actors played well.,pos\n")
	put(t, "reviews.jsonl", `{"text":"The old man went home by train.","label":"pos",`+
		`"review":{"text":"The [MASK] went home."}}`+"\n")
	put(t, "chats.jsonl", `{"messages":[{"role":"user","content":"The old man went home."},`+
		`{"role":"assistant","content":"Yes."}]}`+"\n")
	put(t, "squad.json", `{"data":[{"paragraphs":[{"context":"The [MASK] went home.","qas":[]}]}]}`)
	put(t, "reviews.txt", "The young woman and the old man went home by bus.\n")
	put(t, "names.txt", "Ann\n")
	put(t, "people.jsonl", `{"text":"Zoë met the old man.","spans":[{"start":0,"end":3,"label":"name"}]}`+"\n")
	put(t, "corpus.txt", "The old man went home by train.\nShe sat on the bed and read.\n")
	for _, line := range commands {
		line, _, _ = strings.Cut(line, " #")
		if strings.HasPrefix(line, "for ") {
			continue // a shell's loop
		}
		for _, one := range strings.Split(line, " && ") {
			args := words(one)
			if len(args) < 2 || args[0] != "infill" {
				t.Fatalf("not a command of ours: %s", one)
			}
			args, file := redirected(args[1:])
			joins := len(args) > 1 && args[1] == "--join" // what is there
			switch {
			case slices.Contains(args, "--thin"): // wants its steps
				args = append(args, "--chains", "2", "--quiet")
			case slices.Contains(args, "--rank"): // is of computed fillings
			case args[0] == "fill", args[0] == "augment", args[0] == "batch" && !joins:
				args = append(args, "--steps", "2", "--chains", "2", "--quiet")
			}
			if slices.Contains(args, "--max-drop") {
				args = append(args, "--seed", "1") // by chance nothing passes
			}
			switch {
			case strings.Contains(one, ".jsonl.gz"):
				continue // needs a compressed file; package batch tests them
			case strings.Contains(one, "--encoder"):
				continue // needs the folder of an encoder; TestSimilarityOfVariants has one
			case strings.Contains(one, "--resume"):
				first := strings.Split(
					strings.Replace(strings.Join(args, "\x00"), "--resume", "--force", 1), "\x00",
				)
				if r := infillRun("", first...); r.code != 0 {
					t.Errorf("%q: exit %d: %s", first, r.code, r.err)
				}
			case args[0] == "batch", args[0] == "augment":
				args = append(args, "--force")
			}
			r := infillRun("", args...)
			if r.code != 0 {
				t.Errorf("%s: exit %d: %s", one, r.code, r.err)
			}
			if file != "" {
				put(t, file, r.out)
			}
		}
	}
}

// redirected takes "> FILE" from the end of a command, "" for none.
func redirected(args []string) (rest []string, file string) {
	if n := len(args); n > 2 && args[n-2] == ">" {
		return args[:n-2], args[n-1]
	}
	return args, ""
}

// words takes a simple shell command apart.
func words(s string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`).FindAllStringSubmatch(s, -1) {
		out = append(out, m[1]+m[2]+m[3])
	}
	return out
}
