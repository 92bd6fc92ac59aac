package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/settings"
	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/models/hub/hubtest"
)

// Every command that a message of the program names is there, and so is every flag. The scripts
// for shells and the template of help are left out.
func TestRemediesExist(t *testing.T) {
	t.Parallel()
	app := newRoot(console.IO{})
	flags, commands := flagNames(app.Subcommands), map[string]bool{}
	cmdline.Each(app, func(c *cli.Command) { commands[c.HelpName] = true })
	flags["help"] = true
	commands["infill runs"] = true // doctor says what it runs on
	flag := regexp.MustCompile(`--([a-z-]+)`)
	command := regexp.MustCompile(`\binfill (?:(?:model )?[a-z-]+)`)
	var files []string
	for _, folder := range []string{".", filepath.Join("internal", "*")} {
		found, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	seen := map[string]bool{}
	for _, name := range files {
		switch base := filepath.Base(name); {
		case strings.HasSuffix(base, "_test.go"), base == "completion.go", base == "help.go":
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Error(err)
			}
			for _, m := range flag.FindAllStringSubmatch(text, -1) {
				if seen[m[0]] = true; !flags[m[1]] {
					t.Errorf("%s: no command has the flag of %q", name, text)
				}
			}
			for _, words := range command.FindAllString(text, -1) {
				if seen[words] = true; !commands[words] {
					t.Errorf("%s: there is no %q of %q", name, words, text)
				}
			}
			return true
		})
	}
	for _, want := range []string{"--shortlist", "--install", "infill doctor", "infill model pull"} {
		if !seen[want] {
			t.Errorf("%s was not looked up", want)
		}
	}
}

// A remedy that a message about a text, a device, a filter or a file names works: a command with it
// does what was refused. NAME, N and the like stand for something that helps.
func TestAdviceWorks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	texts := put(t, filepath.Join(dir, "texts.txt"), "the [MASK] sleeps .\n")
	full := put(t, filepath.Join(dir, "full.txt"), "the cat sleeps .\n")
	dogs := put(t, filepath.Join(dir, "dogs.txt"), strings.Repeat("dog\n", 11_000))
	table := put(t, filepath.Join(dir, "table.csv"), "a;text\nx;the [MASK] .\n")
	other := put(t, filepath.Join(dir, "table.txt"), "a\ttext\nx\tthe [MASK] .\n")
	broken := put(t, filepath.Join(dir, "broken.json"), "the [MASK] sleeps .\n")
	shard := filepath.Join(dir, "shard.jsonl")
	whole := put(t, filepath.Join(dir, "whole.jsonl"), "another\n")
	if r := infillRun("", withTiny("batch", texts, "-o", shard, "--seed", "1", "--shard", "0/1")...); r.code != 0 {
		t.Fatal(r.err)
	}
	long := strings.Repeat("the ", 60) + "[MASK] ."
	const text = "the [MASK] sleeps ."
	for _, c := range []struct {
		name    string
		args    []string // what is refused
		remedy  string   // as the message has it
		instead []string // what it says to do
	}{
		{"long", withTiny("fill", "--long", "error", long), "--long window",
			withTiny("fill", "--long", "window", long)},
		{"long in a batch", withTiny("batch", "--strict", "--long", "error", put(t,
			filepath.Join(dir, "long.txt"), long)), "--long window",
			withTiny("batch", "--strict", "--long", "window", filepath.Join(dir, "long.txt"))},
		{"device", withTiny("fill", "--device", "0", text), "infill doctor lists", []string{"doctor"}},
		{"no device", withTiny("fill", "--device", "0", text), "without --device", withTiny("fill", text)},
		{"least edits", withTiny("fill", "--mask-words", "1", "--min-edits", "900", "the cat sleeps ."),
			"--min-edits", withTiny("fill", "--mask-words", "1", "--min-edits", "1", "the cat sleeps .")},
		{"drop", withTiny("fill", "--mask-words", "1", "--max-drop", "-900", "the cat sleeps ."),
			"--max-drop", withTiny("fill", "--mask-words", "1", "--max-drop", "900", "the cat sleeps .")},
		{"ban", withTiny("fill", "--ban", "dog", "the [MASK/^dog$/] ."), "--ban",
			withTiny("fill", "the [MASK/^dog$/] .")},
		{"distance", withTiny("fill", "--mask-words", "1", "--min-distance", "90", "the dog sleeps ."),
			"--min-distance", withTiny("fill", "--mask-words", "1", "--min-distance", "1", "the dog sleeps .")},
		{"a long list", withTiny("fill", "the [MASK|"+strings.Repeat("dog|", 11_000)+"dog] ."),
			"--allow FILE", withTiny("fill", "--allow", dogs, "the [MASK] .")},
		{"score of a blank", withTiny("score", text), "infill fill", withTiny("fill", text)},
		{"rank for a blank", withTiny("score", text), "--candidates WORDS",
			withTiny("score", "--candidates", "dog,cat", text)},
		{"no blank", withTiny("fill", "the cat sleeps ."), "--mask-words 1",
			withTiny("fill", "--mask-words", "1", "the cat sleeps .")},
		{"a file for a text", withTiny("fill", texts), "infill batch " + texts, withTiny("batch", texts)},
		{"a file to score", withTiny("score", full), "infill score --file " + full,
			withTiny("score", "--file", full)},
		{"a text for a file", withTiny("batch", text), "infill fill '" + text + "'", withTiny("fill", text)},
		{"a text to vary", withTiny("batch", "the cat sleeps ."), "infill augment 'the cat sleeps .'",
			withTiny("augment", "the cat sleeps .")},
		{"semicolons", withTiny("batch", table), "--delimiter ';'", withTiny("batch", "--delimiter", ";", table)},
		{"tabs", withTiny("batch", "--format", "csv", other), "--format tsv",
			withTiny("batch", "--format", "tsv", other)},
		{"text called JSON", withTiny("batch", broken), "--format text",
			withTiny("batch", "--format", "text", broken)},
		{"joined again", []string{"batch", "--join", shard, "-o", whole}, "--force",
			[]string{"batch", "--join", shard, "-o", whole, "--force"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if r := infillRun("", c.args...); r.code == 0 || !strings.Contains(r.err, c.remedy) {
				t.Fatalf("exit %d, want %s in: %s", r.code, c.remedy, r.err)
			}
			if r := infillRun("", c.instead...); r.code != 0 {
				t.Errorf("with %s: exit %d: %s", c.remedy, r.code, r.err)
			}
		})
	}
}

// A library of the runtime that is named and cannot be used: what the message says works. It fetches
// nothing here, because a good one is in the cache. A process of its own loads none before.
func TestRuntimeAdviceWorks(t *testing.T) {
	t.Parallel()
	if r := orttest.Load(t); !r.Pinned || filepath.Dir(r.Path) != r.Cache {
		t.Skip("the runtime is not in the cache")
	}
	run := func(library string, args ...string) (string, error) {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), asCommand+"=1", ort.EnvLibrary+"="+library)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	fill := withTiny("fill", "the [MASK] sleeps .")
	const remedy = "(without --ort and INFILL_ORT: infill doctor --install)"
	for _, library := range []string{"main.go", "no-such-file.so"} {
		if out, err := run(library, fill...); err == nil || !strings.Contains(out, remedy) {
			t.Errorf("%s: %v: %s", library, err, out)
		}
		if out, err := run(library, "doctor", "--install"); err == nil ||
			!strings.Contains(out, "leave --ort and INFILL_ORT out") {
			t.Errorf("%s: %v: %s", library, err, out)
		}
	}
	for _, args := range [][]string{{"doctor", "--install"}, fill} {
		if out, err := run("", args...); err != nil {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
}

// A remedy that a message about the hub names works: a command with it pulls the model, and the
// model fills then.
func TestHubAdviceWorks(t *testing.T) {
	server := tinyHub(t)
	t.Setenv(settings.EnvName("model"), tinyModel)
	model := []byte(get(t, filepath.Join(tinyModel, "model.onnx")))
	put := func(name string, exports ...string) *hubtest.Repo {
		files := map[string][]byte{}
		for _, f := range []string{"vocab.txt", "config.json", "tokenizer_config.json"} {
			files[f] = []byte(get(t, filepath.Join(tinyModel, f)))
		}
		for _, f := range exports {
			files[f] = model
		}
		repo := hubtest.Masked(files)
		server.Put(name, repo)
		return repo
	}
	put("o/two", "encoder_model.onnx", "decoder_model.onnx")
	put("o/deep", "model.onnx", "deep/x/model.onnx")
	class := put("o/class", "model.onnx")
	class.Pipeline, class.Classes = "text-classification", []string{"BertForSequenceClassification"}
	fill := func(model string, flags ...string) []string {
		return append([]string{"fill", "--model", model, "the [MASK] sleeps ."}, flags...)
	}
	for _, c := range []struct {
		args    []string // what is refused
		remedy  string   // as the message has it
		instead []string // what it says to do
		then    []string // what works now
	}{
		{fill("o/tiny"), "infill model pull o/tiny\n", []string{"model", "pull", "o/tiny"}, fill("o/tiny")},
		{[]string{"model", "pull", "o/two"}, "--file PATH",
			[]string{"model", "pull", "o/two", "--file", "encoder_model.onnx"}, fill("o/two")},
		{[]string{"model", "pull", "o/class"}, "--file PATH",
			[]string{"model", "pull", "o/class", "--file", "model.onnx"}, fill("o/class")},
		{fill("o/deep", "--model-file", "deep/x/model.onnx"),
			"infill model pull o/deep --file deep/x/model.onnx\n",
			[]string{"model", "pull", "o/deep", "--file", "deep/x/model.onnx"},
			fill("o/deep", "--model-file", "deep/x/model.onnx")},
	} {
		if r := infillRun("", c.args...); r.code == 0 || !strings.Contains(r.err, c.remedy) {
			t.Errorf("%q: exit %d, want %s in: %s", c.args, r.code, c.remedy, r.err)
		}
		for _, args := range [][]string{c.instead, c.then} {
			if r := infillRun("", args...); r.code != 0 {
				t.Errorf("after %s: %q: exit %d: %s", c.remedy, args, r.code, r.err)
			}
		}
	}
}
