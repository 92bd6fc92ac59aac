package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"infill/beam/pipeline"
	"infill/internal/program"
)

// asCommand is the variable that makes this program the command.
const asCommand = "INFILL_BEAM_TEST_AS_COMMAND"

// infill is the program whose output is the truth.
var infill string

func TestMain(m *testing.M) {
	buildVersion = "test"
	if os.Getenv(asCommand) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "infill-beam")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	infill = filepath.Join(dir, "infill")
	c := exec.Command(cmp.Or(os.Getenv("GO"), "go"), "build",
		"-ldflags", "-X main.buildVersion=test", "-o", infill, "./cmd/infill")
	c.Dir = filepath.Join("..", "..", "..")
	if out, err := c.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building infill: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// beamRun runs the command and returns its exit code and what it wrote to standard error.
func beamRun(t *testing.T, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	var log bytes.Buffer
	c.Stderr = &log
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	return c.ProcessState.ExitCode(), log.String()
}

// write writes a file of a test, maybe a program. No process starts meanwhile: it would inherit the
// open file, and Linux refuses to run a program that is open for writing ("text file busy").
func write(t *testing.T, path, text string) string {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// read reads all files that match a pattern, in the order of their names.
func read(t *testing.T, pattern string) (text string, files int) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	return text, len(names)
}

// quick are settings of all runs.
var quick = []string{"--model", "small", "--seed", "3", "--steps", "4", "--chains", "3",
	"--threads", "2"}

// batchOf is the file that infill batch makes of an input, and whether lines failed.
func batchOf(t *testing.T, in string, more ...string) (text string, failed bool) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "want.jsonl")
	args := append([]string{"batch", in, "-o", out, "--quiet"}, append(quick, more...)...)
	c := exec.Command(infill, args...)
	log, err := c.CombinedOutput()
	if err != nil && c.ProcessState.ExitCode() != program.SomeFailed {
		t.Fatalf("infill batch: %v\n%s", err, log)
	}
	text, _ = read(t, out)
	return text, err != nil
}

// texts has lines that are filled, empty ones and some that fail, with both line ends.
const texts = "The [MASK] sat on the [MASK].\r\n\nA dog [MASK] at [MASK].\nno blank here\n   \n" +
	"She drank a cup of [MASK].\nThe car is [MASK|red|green].\n[MASK|\nHe likes [MASK] and [MASK]."

const objects = `{"text":"The [MASK] sat on the [MASK].","id":"a","more":[1,2]}
{"text":"The [MASK] ran to the [MASK].","steps":2,"seed":9}
{"text":1}
{"text":"It is [MASK].","steps":"many","line":3}
not JSON
{"id":7,"text":"A [MASK] [MASK]."}
`

// The files, one after the other, are the file of infill batch, however the input is cut.
func TestEqualsBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	words := write(t, filepath.Join(dir, "words"), "dog 2\nmat 1\n")
	kept := write(t, filepath.Join(dir, "kept"), "cat\nclosed\n")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(texts)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name, text   string
		chunk, shard int
		files        int
		more         []string
	}{
		{"in.txt", texts, 1, 1, 7, nil},
		{"in.txt", texts, 2, 3, 3, nil},
		{"in.txt", texts, 64, 10000, 1, []string{"--limit", "5", "--top", "2"}},
		{"in.jsonl", objects, 3, 2, 3, []string{"--vocab", "all"}},
		{"in.gz", packed.String(), 5, 4, 2, nil},
		{"whole.txt", "The cat sat on the mat.\nHe closed the door.", 1, 10, 1,
			[]string{"--mask-rate", "0.4"}},
		{"files.txt", "The cat sat on the mat.\nHe closed the door.", 1, 10, 1,
			[]string{"--mask-rate", "0.9", "--keep-file", kept, "--energy", "words:" + words + "=1"}},
		{"empty.txt", "\n", 1, 1, 0, nil},
	} {
		in := write(t, filepath.Join(dir, c.name), c.text)
		want, failed := batchOf(t, in, c.more...)
		out := filepath.Join(dir, fmt.Sprint("out", i))
		code, log := beamRun(t, append(append([]string{"--input", in, "--output", out,
			"--chunk-lines", fmt.Sprint(c.chunk), "--shard-lines", fmt.Sprint(c.shard)}, quick...),
			c.more...)...)
		if failed != (code == program.SomeFailed) || !failed && code != program.OK {
			t.Fatalf("%d: exit code %d\n%s", i, code, log)
		}
		got, files := read(t, out+"-0*.jsonl")
		if got != want || files != c.files {
			t.Errorf("%d: %d files, want %d\n%s\nwant\n%s", i, files, c.files, got, want)
		}
		var lost string // the records of lines that failed
		for line := range strings.Lines(want) {
			if strings.Contains(line, `"error":{`) {
				lost += line
			}
		}
		if got, _ := read(t, out+"-failed-0*.jsonl"); got != lost || failed != (lost != "") {
			t.Errorf("%d: dead letters\n%s\nwant\n%s", i, got, lost)
		}
		sum, err := pipeline.ReadSummary(context.Background(), out)
		if err != nil || sum.Files != files || sum.Records != strings.Count(want, "\n") ||
			sum.Failed != strings.Count(lost, "\n") || sum.Input != in || sum.Seed != 3 {
			t.Errorf("%d: %v, the summary is %+v", i, err, sum)
		}
	}
}

// worker makes a program that Prism starts as a worker of its own process.
func worker(t *testing.T, dir string) []string {
	t.Helper()
	// Prism puts the identifier into quotes.
	script := write(t, filepath.Join(dir, "worker.sh"), "#!/bin/sh\n"+
		"id=$(printf %s \"${1#--id=}\" | tr -d \"'\")\nat=${2#--provision_endpoint=}\n"+
		"exec "+os.Args[0]+" --worker=true --id=\"$id\" --logging_endpoint=\"$at\" "+
		"--control_endpoint=\"$at\"\n")
	return []string{"--environment_type", "PROCESS", "--environment_config",
		fmt.Sprintf(`{"command":%q}`, script)}
}

// A worker that is another process gets all settings, and opens the model once for all bundles.
func TestWorkerProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := write(t, filepath.Join(dir, "in.txt"), texts)
	words := write(t, filepath.Join(dir, "words"), "man\ndog\ndoor\nred\n")
	want, _ := batchOf(t, in, "--allow", words)
	out := filepath.Join(dir, "out")
	args := append([]string{"--input", in, "--output", out, "--chunk-lines", "1", "--allow", words,
		"--ok-if-lines-fail"}, quick...)
	code, log := beamRun(t, append(args, worker(t, dir)...)...)
	if got, _ := read(t, out+"-0*.jsonl"); code != program.OK || got != want {
		t.Errorf("exit code %d\n%s\nwant\n%s\n%s", code, got, want, log)
	}
	if n := strings.Count(log, "opened the model in"); n != 1 {
		t.Errorf("the model was opened %d times:\n%s", n, log)
	}
	if !strings.Contains(log, "Using specified worker binary: '"+os.Args[0]) {
		t.Errorf("the running program is not the worker's:\n%s", log)
	}
}

// What a worker cannot do ends the run, and the last line says why.
func TestWorkerFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := write(t, filepath.Join(dir, "in.txt"), texts)
	out := filepath.Join(dir, "out")
	args := []string{"--input", in, "--output", out, "--model", "/nowhere/bert"}
	code, log := beamRun(t, append(args, worker(t, dir)...)...)
	// The worker is another process. It may write a last word to the same stream when the job's end
	// has closed its connection.
	var own []string
	for _, line := range strings.Split(log, "\n") {
		if strings.HasPrefix(line, "infill-beam: ") {
			own = append(own, line)
		}
	}
	if code != program.Trouble || len(own) != 1 ||
		!strings.HasPrefix(own[0], "infill-beam: the job failed: no usable model on ") ||
		!strings.Contains(own[0], "there is no folder /nowhere/bert, nor a pulled model; a model has to "+
			"lie under the same") {
		t.Errorf("exit code %d\n%s", code, log)
	}
	if _, err := os.Stat(pipeline.SummaryPath(out)); err == nil {
		t.Error("a job that failed has a summary")
	}
}

// What is wrong with a command line shows before anything runs.
func TestBadInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := write(t, filepath.Join(dir, "in.txt"), "A [MASK].\n")
	out := filepath.Join(dir, "out")
	write(t, pipeline.ShardPath(filepath.Join(dir, "old"), 0), "old")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--input", in}, program.Usage, "--input FILE and --output PREFIX are needed"},
		{[]string{"--input", in, "--output", out, "more"}, program.Usage, `"more" is not a flag`},
		{[]string{"--steps", "many"}, program.Usage, "want a whole number"},
		{[]string{"--no-such"}, program.Usage, "no-such"},
		{[]string{"--input", in, "--output", out, "--sampler", "dmla"}, program.Usage, "dmla"},
		{[]string{"--input", in, "--output", out, "--mask-rate", "1", "--mask-words", "1"}, program.Usage,
			"--mask-rate and --mask-words: give one of them"},
		{[]string{"--input", in + "x", "--output", out}, program.Trouble, "in.txtx: no such file"},
		{[]string{"--input", in, "--output", filepath.Join(dir, "no", "out")}, program.Trouble,
			"make it first"},
		{[]string{"--input", in, "--output", filepath.Join(dir, "old")}, program.Usage,
			"old-00000.jsonl; overwrite it, or name another (--force removes it)"},
		{[]string{"--input", in, "--output", out, "--model", filepath.Join(dir, "none")}, program.Trouble,
			"there is no folder " + filepath.Join(dir, "none")},
		{[]string{"--input", in, "--output", out, "--sampler", "dmala", "--param", "step-sise=1"},
			program.Usage, "step-sise"},
	} {
		code, log := beamRun(t, c.args...)
		if code != c.code || !strings.HasPrefix(log, "infill-beam: ") || !strings.Contains(log, c.says) ||
			strings.Contains(log, "Serving JobManagement") || strings.Contains(log, "opened the model") {
			t.Errorf("%v: exit code %d, %s", c.args, code, log)
		}
	}
}
