package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
)

// sampled is what standard error has once sampling has begun.
const sampled = "(1 of 2)"

func compareTwo(more ...string) []string {
	return withTiny(append([]string{"compare", "--seed", "1", "--steps", "2", "--chains", "2",
		"--samplers", "gibbs,dmala"}, more...)...)
}

// References that cannot be used are refused before anything is sampled.
func TestCompareReadsReferencesFirst(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", "the [MASK] sleeps .\n")
	good := strings.Repeat("the dog sleeps in the house .\n", 50)
	gold := write(t, "gold.jsonl", `{"text":"the [MASK] sleeps .","gold":"the dog sleeps ."}`)
	for name, c := range map[string]struct {
		stdin string
		args  []string
		says  string
	}{
		"not UTF-8": {"", []string{in, "--reference", write(t, "bad.txt", good+"a \xff b\n")},
			"bad.txt:51:"},
		"blank lines only": {"", []string{in, "--reference", write(t, "blank.txt", "\n \n\n")},
			"no sentences"},
		"nothing but the originals": {"",
			[]string{gold, "--reference", write(t, "same.txt", "The dog sleeps.\n")}, "1 excluded"},
		"records in a pipe": {`{"text":"a b"}`, []string{in, "--reference", "-"}, "stdin: unknown format: records"},
		"the second of two": {good + "a \xff b\n",
			[]string{in, "--reference", write(t, "good.txt", good), "--reference", "-"}, "stdin:51:"},
	} {
		r := infillRun(c.stdin, compareTwo(c.args...)...)
		if r.code != exitUsage || !strings.Contains(r.err, c.says) || strings.Contains(r.err, sampled) {
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		}
	}
	// What is looked for is there when sampling begins, and a pipe is read once.
	r := infillRun(good, compareTwo(in, "--reference", "-")...)
	if r.code != 0 || !strings.Contains(r.err, sampled) || !strings.Contains(r.out, "50") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

// Standard input has one reader.
func TestStandardInputOnce(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] sleeps .\n"
	in := write(t, "in.txt", text)
	for _, c := range []struct {
		args []string
		says string
	}{
		{compareTwo("-", "--reference", "-"), "the texts or --reference, not both"},
		{compareTwo(in, "--reference", "-", "--reference", "-"), "--reference once"},
		{compareTwo(in, "--reference", "-", "--allow", "-"), "--allow or --reference, not both"},
		{[]string{"eval", "-", "--reference", "-"}, "the sentences or --reference, not both"},
		{[]string{"eval", in, "--reference", "-", "--reference", "-"}, "--reference once"},
		{[]string{"eval", "-", in, "-"}, "the sentences once"},
	} {
		r := infillRun(text, c.args...)
		if r.code != exitUsage || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("%v: exit %d: %s%s", c.args, r.code, r.out, r.err)
		}
	}
}

// A file called - is not what --reference - means, and nothing is read for it.
func TestReferenceBesideAFileCalledDash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "-"), "a b c\n")
	put(t, filepath.Join(dir, "gen.txt"), "the dog sleeps .\n")
	cmd, errs := command(t, "eval", "gen.txt", "--reference", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader("the dog runs .\n")
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "stdin") {
		t.Errorf("%v: %s%s", err, out, errs)
	}
}

// A rendered result is a text with every renderer.
type rendered string

func (r rendered) Text(w io.Writer) error     { return r.JSON(w) }
func (r rendered) Markdown(w io.Writer) error { return r.JSON(w) }
func (r rendered) HTML(w io.Writer) error     { return r.JSON(w) }
func (r rendered) JSON(w io.Writer) error {
	_, err := io.WriteString(w, string(r))
	return err
}

// goneReader is standard output whose reader went away.
type goneReader struct{}

func (goneReader) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// A result is printed, and the other file written, where a file cannot be written.
func TestRenderPrintsAnyway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none := func(name string) string { return filepath.Join(dir, "none", name) }
	for _, asJSON := range []bool{false, true} {
		f := reportFlags{json: asJSON, markdown: none("r.md"), html: filepath.Join(dir, "r.html")}
		var out strings.Builder
		err := f.render(console.IO{Out: &out}, rendered("result"))
		if advice.ExitCode(err) != exitTrouble || !strings.Contains(err.Error(), "none") ||
			out.String() != "result" || get(t, f.html) != "result" {
			t.Errorf("%v; %q, %q", err, out.String(), get(t, f.html))
		}
	}
	f := reportFlags{markdown: none("r.md"), html: none("r.html")}
	err := f.render(console.IO{Out: io.Discard}, rendered("result"))
	for _, name := range []string{"r.md", "r.html"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
	// A closed pipe is no failure of its own. It does not hide those of the files.
	if err = f.render(console.IO{Out: goneReader{}}, rendered("result")); advice.ExitCode(err) != exitTrouble {
		t.Errorf("exit %d: %v", advice.ExitCode(err), err)
	}
	f = reportFlags{}
	if err = f.render(console.IO{Out: goneReader{}}, rendered("result")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("%v", err)
	}
}

// Both commands that have reports print what they measured.
func TestResultOfAFailedReport(t *testing.T) {
	t.Parallel()
	const unwritable = "/proc/infill-report.md"
	if runtime.GOOS != "linux" {
		t.Skip("it takes a folder that not even root can write to")
	}
	for _, args := range [][]string{
		compareTwo(write(t, "in.txt", "the [MASK] sleeps .\n")),
		{"eval", write(t, "gen.txt", "the dog sleeps .\nthe cat runs .\n")},
	} {
		r := infillRun("", append(args, "--markdown", unwritable)...)
		if r.code != exitTrouble || !strings.Contains(r.err, "/proc") ||
			!strings.Contains(strings.ToLower(r.out), "self-bleu") {
			t.Errorf("%s: exit %d: %s%s", args[0], r.code, r.out, r.err)
		}
	}
}

// A run that fails before its first step leaves no trace, which would be in the way of the next.
func TestNoTraceOfARefusedRun(t *testing.T) {
	t.Parallel()
	plain := write(t, "plain.txt", "the dog sleeps .\n")
	in := write(t, "in.txt", "the [MASK] sleeps .\n")
	none := write(t, "none.txt", "the [MASK/^zzz$/] sleeps .\n")
	for name, args := range map[string][]string{
		"no blank":     compareTwo(plain),
		"no judge":     compareTwo(in, "--judge", "no/such"),
		"no reference": compareTwo(in, "--reference", write(t, "blank.txt", "\n")),
		"no word fits": compareTwo(none, "--strict"),
		"fill":         withTiny("fill", "the dog sleeps ."),
	} {
		trace := filepath.Join(t.TempDir(), "t.jsonl")
		if r := infillRun("", append(args, "--trace", trace)...); r.code == 0 {
			t.Errorf("%s: exit 0: %s", name, r.out)
		}
		if _, err := os.Lstat(trace); err == nil {
			t.Errorf("%s: a trace of %d bytes", name, len(get(t, trace)))
		}
		args = compareTwo(in, "--trace", trace)
		if r := infillRun("", args...); r.code != 0 || get(t, trace) == "" {
			t.Errorf("%s: the next try: exit %d: %s", name, r.code, r.err)
		}
	}
}
