package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"infill/cmd/infill/internal/console"
	"infill/infill/jsonl"
	"infill/mlm/onnx"
)

// Every kind of bad input has its exit code and an error that says what to do.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const ok = "the [MASK] sleeps ."
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no blank", withTiny("fill", "the dog sleeps ."), 2, "[MASK], <mask> or ___"},
		{"no blank, nor masking", withTiny("fill", "the dog sleeps ."), 2, "--mask-words 1"},
		{"empty text", withTiny("fill", ""), 2, "empty"},
		{"white space", withTiny("fill", " \t "), 2, "empty"},
		{"too long", withTiny("fill", "--long", "error", strings.Repeat("dog ", 3000)+"[MASK]"), 2, "pieces"},
		{"invalid utf-8", withTiny("fill", "the \xff [MASK]"), 2, "byte 4"},
		{"two texts", withTiny("fill", "the", "[MASK]"), 2, "quotes"},
		{"two texts in quotes", withTiny("fill", "a [MASK] .", "the [MASK] ."), 2,
			"2 texts; fill takes one text; several come one a line on standard input: infill fill -"},
		{"two blanks without quotes", withTiny("fill", "[MASK]", "[MASK]."), 2, "put quotes around"},
		{"a blank not closed", withTiny("fill", "the [MASK sat"), 2, "byte 4: the text has no blank: " +
			"[MASK is not closed, or has a space after it"},
		{"a blank with a space", withTiny("fill", "the [MASK /ing$/]"), 2, "byte 4: the text has no blank"},
		{"the first of no sentences", []string{"eval", "main.go", "--self-bleu", "first"}, 2, "--first N"},
		{"a flag like no other", withTiny("fill", "--foo"), 2, "has no flag --foo (infill fill --help all lists them"},
		{"tied blanks too far apart", withTiny("fill", "[MASK:a] "+strings.Repeat("dog ", 3000)+"[MASK:a]"), 2,
			"are filled in 2 groups since the model does not see all of them at once; give those far apart different names"},
		{"blank options", withTiny("fill", "the [MASK*0] sleeps ."), 2, "byte 4"},
		{"nothing to fill in", withTiny("fill", "a dog in the [MASK/^q/] ."), 2, "blank 1, [MASK/^q/]"},
		{"two maskings", withTiny("fill", "--mask-rate", "0.5", "--mask-words", "1", "the dog sleeps ."), 2, "one of them"},
		{"too few words", withTiny("fill", "--mask-words", "4", "the dog sleeps ."), 2, "3"},
		{"masking a blank", withTiny("fill", "--mask-words", "1", ok), 2, "without blanks"},
		{"distance without masking", withTiny("fill", "--min-distance", "1", ok), 2, "--mask-rate"},
		{"long word banned", withTiny("fill", "--ban", "dog,"+strings.Repeat("q", 201), ok), 2, "201 bytes"},
		{"no allow list", withTiny("fill", "--allow", "no/such/file", ok), 3, "no/such/file"},
		{"unknown sampler", withTiny("fill", "--sampler", "dmalla", ok), 2, `did you mean "dmala"`},
		{"unknown parameter", withTiny("fill", "--sampler", "dmala", "--param", "stepsize=1", ok), 2, `did you mean "step-size"`},
		{"parameter of another sampler", withTiny("fill", "--step-size", "1", ok), 2, "samplers that have it: dula, dmala"},
		{"parameter given twice", withTiny("fill", "--param", "block=2", "--param", "block=3", ok), 2, "--param: block is given twice"},
		{"parameter without value", withTiny("fill", "--param", "step-size", ok), 2, "NAME=VALUE"},
		{"NaN step size", withTiny("fill", "--step-size", "NaN", ok), 2, "step-size"},
		{"negative step size", withTiny("fill", "--step-size", "-1", ok), 2, "step-size"},
		{"infinite step size", withTiny("fill", "--step-size", "Inf", ok), 2, "step-size"},
		{"NaN temperature", withTiny("fill", "--temperature", "NaN", ok), 2, "temperature"},
		{"zero temperature", withTiny("fill", "--temperature", "0", ok), 2, "from 1e-300"},
		{"negative temperature", withTiny("fill", "--temperature", "-0.5", ok), 2, "from 1e-300"},
		{"negative steps", withTiny("fill", "--steps", "-3", ok), 2, "whole number"},
		{"fractional chains", withTiny("fill", "--chains", "2.5", ok), 2, "whole number"},
		{"no chains", withTiny("fill", "--chains", "0", ok), 2, "whole number"},
		{"zero threads", withTiny("fill", "--threads", "0", ok), 2, "whole number"},
		{"negative batch", withTiny("fill", "--batch-tokens", "-1", ok), 2, "whole number"},
		{"bad seed", withTiny("fill", "--seed", "-1", ok), 2, "2^64"},
		{"bad choice", withTiny("fill", "--vocab", "whole-word", ok), 2, `did you mean "whole-words"`},
		{"unknown balance", withTiny("fill", "--sampler", "dmala", "--balance", "sqr", ok), 2, "sqrt"},
		{"unknown flag", withTiny("fill", "--chain", "3", ok), 2, "did you mean --chains"},
		{"unknown short flag", withTiny("fill", "-q", ok), 2, "infill fill has no flag -q (infill fill --help all lists them"},
		{"short flag and value", withTiny("batch", "-o2", ok), 2, "infill batch has no flag -o2; did you mean -o?"},
		{"unknown flag after the text", append(withTiny("fill", ok), "--smapler", "dula"), 2, "did you mean --sampler"},
		{"flag without value", append(withTiny("fill", ok), "--seed"), 2, "needs a value"},
		{"flag as it is written", withTiny("fill", "--top", "x", ok), 2, "for flag --top"},
		{"sampler twice", withTiny("compare", "--samplers", "dmala,dmala", "main.go"), 2, "there twice"},
		{"no sampler", withTiny("compare", "--samplers", "", "main.go"), 2, "known: gibbs"},
		{"unknown command", []string{"fil", ok}, 2, `did you mean "fill"`},
		{"unknown subcommand", []string{"model", "inof"}, 2, `did you mean "info"`},
		{"help of no command", []string{"help", "nope"}, 2, `unknown command "nope"`},
		{"help of no subcommand", []string{"help", "model", "nope"}, 2, `unknown command "nope"; known: `},
		{"no command with --help", []string{"fil", "--help"}, 2, `did you mean "fill"? (infill --help)`},
		{"no subcommand with --help", []string{"model", "inof", "-h"}, 2, `did you mean "info"? (infill model`},
		{"text with a dash and no blank", withTiny("fill", "- no"), 2, "[MASK], <mask> or ___"},
		{"no such model", []string{"fill", "--model", "no/such/folder", ok}, 3, "no/such/folder"},
		{"a folder without a model", []string{"fill", "--model", "../../docs", ok}, 3, "../../docs: no model: "},
		{"no such path", []string{"model", "info", "./nope"}, 3, `no model and no folder is called "./nope"; ` +
			"the program has default and small; infill model list shows others, and the hub has them as OWNER/NAME"},
		{"a name of the hub", []string{"fill", "--model", "google-bert/bert-base-uncased", ok}, 3,
			"in the cache: infill model pull google-bert/bert-base-uncased\n"},
		{"no name of the hub", []string{"model", "pull", "a/b/c"}, 2, "the hub has them as OWNER/NAME"},
		{"no such file of a model", []string{"model", "info", "nope.onnx"}, 3,
			`no model and no folder is called "nope.onnx"; `},
		{"no such name", []string{"fill", "--model", "robertta", ok}, 2, "default"},
		{"score of nothing", withTiny("score", ""), 2, "empty"},
		{"an output without a name", withTiny("batch", "in.txt", "-o", ""), 2,
			`value "" for flag -o: want the name of a file`},
		{"scores without a name", withTiny("score", "--file", "in.txt", "-o", ""), 2, "want the name of a file"},
		{"a report without a name", []string{"eval", "in.txt", "--html", ""}, 2, "want the name of a file"},
		{"a trace without a name", withTiny("fill", "--trace", "", ok), 2, "want the name of a file"},
		{"empty standard input", withTiny("fill", "-"), 2, "no text"},
		{"install with a path", []string{"doctor", "--install", "--ort", "x"}, 2, "--ort"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := infillRun("", c.args...)
			if r.code != c.code || !strings.Contains(r.err, c.says) {
				t.Errorf("exit %d, want %d; want %q in: %s", r.code, c.code, c.says, r.err)
			}
			if strings.Contains(r.err, "panic") || strings.Contains(r.err, "goroutine") {
				t.Errorf("panicked: %s", r.err)
			}
			if r.out != "" {
				t.Errorf("standard output: %s", r.out)
			}
		})
	}
}

// Damaged model folders are told apart, and none gets as far as a crash.
func TestBadModel(t *testing.T) {
	t.Parallel()
	whole := map[string][]byte{}
	entries, err := os.ReadDir(tinyModel)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if whole[e.Name()], err = os.ReadFile(filepath.Join(tinyModel, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, file, says string
		data             func([]byte) []byte // nil removes the file
	}{
		{"no graph", "model.onnx", "model.onnx", nil},
		{"truncated", "model.onnx", "model.onnx", func(b []byte) []byte { return b[:len(b)/2] }},
		{"empty", "model.onnx", "model.onnx", func([]byte) []byte { return []byte{} }},
		{"not ONNX", "model.onnx", "model.onnx", func([]byte) []byte { return []byte("<!DOCTYPE html><html></html>") }},
		{"without logits", "model.onnx", "logits", func(b []byte) []byte { return renameOutput(t, b) }},
		{"vocabulary too small", "vocab.txt", "vocabulary", func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] }},
		{"vocabulary too large", "vocab.txt", "vocabulary", func(b []byte) []byte { return append(bytes.Clone(b), "surplus\n"...) }},
		{"no vocabulary", "vocab.txt", "vocab.txt", nil},
		{"vocabulary without a mask", "vocab.txt", "[MASK]", func(b []byte) []byte { return bytes.Replace(b, []byte("[MASK]"), []byte("[MOSK]"), 1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, b := range whole {
				if name == c.file {
					if c.data == nil {
						continue
					}
					b = c.data(b)
				}
				if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r := infillRun("", "fill", "--model", dir, "the [MASK] sleeps .")
			if r.code != exitTrouble || !strings.Contains(r.err, c.says) {
				t.Errorf("exit %d, want %d; want %q in: %s", r.code, exitTrouble, c.says, r.err)
			}
		})
	}
}

// renameOutput turns a masked language model into a file with the outputs of a
// model without the head.
func renameOutput(t *testing.T, b []byte) []byte {
	t.Helper()
	m, err := onnx.Parse(b, "model.onnx", nil)
	if err != nil {
		t.Fatal(err)
	}
	out := *m.Graph.Outputs[0]
	for i, name := range []string{"last_hidden_state", "pooler_output"} {
		o := out
		o.Name = name
		for _, n := range m.Graph.Nodes {
			for j := range n.Outputs {
				if i == 0 && n.Outputs[j] == out.Name {
					n.Outputs[j] = name
				}
			}
		}
		if i == 1 {
			o.Name = m.Graph.Nodes[len(m.Graph.Nodes)-2].Outputs[0]
		}
		m.Graph.Outputs = append(m.Graph.Outputs, &o)
	}
	m.Graph.Outputs = m.Graph.Outputs[1:]
	enc, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// The runtime is loaded once per process, so that its absence needs one of its own.
func TestNoRuntime(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], withTiny("fill", "the [MASK] sleeps .")...)
	for _, c := range []struct{ env, says string }{
		{"INFILL_ORT=/no/such/library.so", "/no/such/library.so"},
		{"INFILL_ORT=main.go", "without --ort and INFILL_ORT: infill doctor --install"},
	} {
		cmd = exec.Command(cmd.Path, cmd.Args[1:]...)
		cmd.Env = append(os.Environ(), asCommand+"=1", c.env)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		err := cmd.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitTrouble ||
			!strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: %v: %s", c.env, err, errs.String())
		}
	}
}

func TestBadLinesInJSON(t *testing.T) {
	t.Parallel()
	in := strings.Join(
		[]string{
			"no blank", " ", "\xff [MASK]", strings.Repeat("dog ", 3000) + "[MASK]", "the [MASK*0] .",
		},
		"\n",
	)
	r := infillRun(in, withTiny("fill", "--json", "--long", "error", "--seed", "1", "-")...)
	if r.code != exitSomeFailed {
		t.Errorf("exit %d", r.code)
	}
	var codes []string
	for _, l := range strings.Split(strings.TrimSpace(r.out), "\n") {
		var rec jsonl.Filled
		if err := json.Unmarshal([]byte(l), &rec); err != nil || rec.Error == nil ||
			rec.Error.Message == "" {
			t.Fatalf("%v: %s", err, l)
		}
		codes = append(codes, rec.Error.Code)
	}
	if got := strings.Join(codes, " "); got != "no_blank invalid_utf8 too_long bad_blank" {
		t.Errorf("codes %s", got)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	code := runLine(
		ctx, console.IO{In: strings.NewReader(""), Out: &out, Err: &errs},
		withTiny("fill", "--seed", "1", "the [MASK] sleeps ."),
	)
	if code != exitInterrupted || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}
