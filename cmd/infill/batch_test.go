package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/internal/testmode"
	"infill/tokenize"
)

// command is a process that runs a command line.
func command(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stderr = &errs
	return cmd, &errs
}

func put(t *testing.T, path, data string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

// sentenceFile writes n JSON lines, a few of them without a blank.
func sentenceFile(t *testing.T, dir string, n int) string {
	t.Helper()
	var b strings.Builder
	verbs := []string{"sleeps", "runs", "walks", "sings"}
	for i := range n {
		text := fmt.Sprintf("the [MASK] %s in the [MASK] .", verbs[i%4])
		if i%50 == 7 {
			text = "nothing to fill in"
		}
		fmt.Fprintf(&b, "{\"id\":\"r%d\",\"text\":%q,\"weight\":%d.50}\n", i, text, i)
	}
	return put(t, filepath.Join(dir, "in.jsonl"), b.String())
}

// A batch that is killed again and again, and resumed each time with another number of threads and
// another batch size, gives the bytes of a run without a disturbance. make test-all has 60 kills.
func TestKilledBatch(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no SIGKILL")
	}
	kills := 20
	if testmode.All() {
		kills = 60
	}
	for _, suffix := range []string{".jsonl", ".jsonl.gz"} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			killBatch(t, suffix, kills/2)
		})
	}
}

// killBatch kills a batch at random instants. One kill of five comes at any time since the start of
// the process. The others wait until the file grows, however loaded the machine is, and come within
// the time that the rest of a run takes.
func killBatch(t *testing.T, suffix string, kills int) {
	dir := t.TempDir()
	in := sentenceFile(t, dir, 300)
	args := func(out string, more ...string) []string {
		return append(withTiny("batch", in, "-o", out, "--quiet", "--seed", "5", "--chains", "4",
			"--steps", "8"), more...)
	}
	run := func(name string) string {
		path := filepath.Join(dir, name)
		if r := infillRun("", args(path)...); r.code != exitSomeFailed {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		return get(t, path)
	}
	lines := run("whole.jsonl") // what the file holds, decompressed
	if strings.Count(lines, "\n") != 300 {
		t.Fatalf("%d records", strings.Count(lines, "\n"))
	}
	want := lines
	if suffix != ".jsonl" {
		want = run("whole" + suffix)
	}
	// finish runs to the end, from where a file ends, and returns how long that took before and
	// after the file began to grow.
	out := filepath.Join(dir, "out"+suffix)
	finish := func(name string, more ...string) (before, after time.Duration) {
		path := filepath.Join(dir, name)
		cmd, errs := command(t, args(path, more...)...)
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := wait(cmd)
		grown(path, ended)
		grew := time.Now()
		<-ended
		if code := cmd.ProcessState.ExitCode(); code != exitSomeFailed || get(t, path) != want {
			t.Fatalf("%s is another file: exit %d, %s", name, code, errs)
		}
		return grew.Sub(began), time.Since(grew)
	}
	starting, working := finish("timed" + suffix)
	files, torn, progress := 0, 0, 0
	for k, runs := 0, 0; k < kills && runs < 5*kills; runs++ {
		before := len(get(t, out))
		cmd, errs := command(t, args(out, "--resume", "--threads", fmt.Sprint(1+k%3),
			"--batch-tokens", fmt.Sprint(64<<(k%6)))...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := wait(cmd)
		delay := starting
		if k%5 > 0 {
			grown(out, ended)
			delay = working / 4
		}
		select {
		case <-time.After(rand.N(delay + 1)):
			_ = cmd.Process.Kill()
			<-ended
			k++
			now := get(t, out)
			if len(now) != before {
				progress++
			}
			if !strings.HasPrefix(want, now) {
				if suffix != ".jsonl" || !strings.HasPrefix(want, now[:strings.LastIndexByte(now, '\n')+1]) {
					t.Fatalf("%d bytes are not a beginning of the file", len(now))
				}
				torn++
			}
		case <-ended:
			if code := cmd.ProcessState.ExitCode(); code != exitSomeFailed {
				t.Fatalf("exit %d: %s", code, errs)
			}
			if got := get(t, out); got != want {
				t.Fatal("the resumed file is another")
			}
			files++
			for _, f := range []string{out, out + ".manifest"} {
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	finish("out"+suffix, "--resume")
	t.Logf("%d kills, %d of them after records were written, %d files finished, %d torn lines",
		kills, progress, files+1, torn)
	if progress < kills/2 {
		t.Errorf("only %d of %d kills hit a run at work", progress, kills)
	}
}

// wait ends a process that was started. Its exit code says what there is to know.
func wait(cmd *exec.Cmd) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	return ended
}

// grown returns when a file has become longer, or the process has ended.
func grown(path string, ended <-chan struct{}) {
	size := func() int64 {
		if info, err := os.Stat(path); err == nil {
			return info.Size()
		}
		return 0
	}
	for before := size(); size() <= before; {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// SIGINT and SIGTERM end a batch in order: exit 130, and the command that is
// printed goes on to the same file.
func TestInterruptedBatch(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := t.TempDir()
		in := sentenceFile(t, dir, 400)
		whole, out := filepath.Join(dir, "whole.jsonl"), filepath.Join(dir, "out file.jsonl")
		args := withTiny(
			"batch", in, "--chains", "8", "--steps", "10", "--seed", "3", "--force", "--output",
		)
		if r := infillRun("", append(args, whole)...); r.code != exitSomeFailed {
			t.Fatal(r.err)
		}
		cmd, errs := command(t, append(args, out)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); strings.Count(get(t, out), "\n") < 5 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		got := get(t, out)
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted ||
			!strings.HasSuffix(got, "}\n") ||
			len(got) == len(get(t, whole)) {
			t.Fatalf("%v: exit %d, %d bytes: %s", sig, code, len(got), errs)
		}
		_, resume, ok := strings.Cut(errs.String(), "go on with:\n  infill ")
		resume, _, _ = strings.Cut(resume, "\n")
		if !ok || !strings.Contains(resume, "--resume") || strings.Contains(resume, "--force") {
			t.Fatalf("no command to go on with: %s", errs)
		}
		// The command is for a shell: let one take it apart.
		exe, _ := os.Executable()
		sh := exec.Command("sh", "-c", "'"+exe+"' "+resume)
		sh.Env = append(os.Environ(), asCommand+"=1")
		if b, _ := sh.CombinedOutput(); sh.ProcessState.ExitCode() != exitSomeFailed ||
			get(t, out) != get(t, whole) {
			t.Errorf("%s: exit %d, %s", resume, sh.ProcessState.ExitCode(), b)
		}
	}
}

// A reader that goes away ends the run without a word.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, errs := command(
		t,
		withTiny(
			"batch", sentenceFile(t, dir, 400), "--quiet", "--seed", "1", "--chains", "2", "--steps", "2",
		)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 || errs.Len() > 0 {
		t.Errorf("exit %d, standard error: %s", code, errs)
	}
}

type batchRecord struct {
	jsonl.Filled
	Weight json.Number `json:"weight"`
	Note   *string     `json:"note"`
}

func batchRecords(t *testing.T, out string) []batchRecord {
	t.Helper()
	var all []batchRecord
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		var r batchRecord
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatalf("%v: %s", err, l)
		}
		all = append(all, r)
	}
	return all
}

// Settings of a line go before the flags, and fields that are none are kept.
func TestBatchOverrides(t *testing.T) {
	t.Parallel()
	const in = `{"id":7,"text":"the [MASK] runs .","weight":1.50,"note":"a\u00e9<b>"}
{"text":"the [MASK] runs .","sampler":"gwg","chains":3,"steps":2,"top":1,"seed":9,"score":5}
{"text":"the dog runs .","mask_words":2,"min_distance":1}
{"text":"the [MASK] runs .","allow":["cat","cow"],"ban":["cow"],"top":10}
{"text":"the [MASK] runs .","steps":-1}
{"text":"the [MASK] runs .","sampler":"gwgg"}
{"text":"the [MASK] runs .","step_size":"big"}
{"text":"the [MASK] runs .","allow":["qqq"]}
{"text":"the [MASK] runs .","temperature":0}
{"text":"the [MASK] runs .","vocab":"some"}
{"text":"the [MASK] runs .","min_distance":1}
{"text":"the dog runs .","mask_words":1,"mask_rate":0.5}
{"text":7}
`
	r := infillRun(in, withTiny("batch", "--seed", "1", "--quiet", "--format", "jsonl", "-")...)
	if r.code != exitSomeFailed {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	got := batchRecords(t, r.out)
	if len(got) != 13 {
		t.Fatalf("%d records", len(got))
	}
	if string(got[0].ID) != "7" || got[0].Weight != "1.50" || got[0].Note == nil ||
		*got[0].Note != "aé<b>" ||
		!strings.Contains(r.out, `"weight":1.50,"note":"a\u00e9<b>"}`) {
		t.Errorf("fields are lost: %+v", got[0])
	}
	if g := got[1]; g.Sampler != "gwg" || g.Chains != 3 || g.Steps != 2 || *g.Seed != 9 ||
		len(g.Fillings) != 1 ||
		g.ID != nil {
		t.Errorf("%+v", g)
	}
	if !strings.Contains(r.out, `,"top":1,"input_fields":{"score":5}}`) {
		t.Error("a field of the input is lost, or could be taken for the record's")
	}
	if g := got[2]; g.Gold != "the dog runs ." || len(g.Masked) != 2 ||
		strings.Count(g.Text, "[MASK]") != 2 {
		t.Errorf("%+v", g)
	}
	for _, f := range got[2].Fillings {
		for i, w := range got[2].Masked {
			if strings.EqualFold(f.Tokens[i], w) {
				t.Errorf("%q keeps %q", f.Text, w)
			}
		}
	}
	if g := got[3]; len(g.Fillings) != 1 || g.Fillings[0].Tokens[0] != "cat" {
		t.Errorf("%+v", g)
	}
	for i, code := range []string{"bad_option", "bad_option", "bad_option", "bad_option", "bad_option", "bad_option", "bad_option", "bad_option", "bad_json"} {
		if g := got[4+i]; g.Error == nil || g.Error.Code != code || g.Line != 5+i {
			t.Errorf("line %d: %+v", 5+i, g.Error)
		}
	}
}

// Fields whose names records use, or settings have, are kept as well, whether
// or not the line can be filled, and settings are named once.
func TestBatchKeepsFields(t *testing.T) {
	t.Parallel()
	const fields = `"score":0.1,"model":"mine","version":7,"line":90,"error":null,"masked":[1],"input_fields":"x",` +
		`"top":1,"steps":2,"seed":3,"step_size":0.2,"gold":["a","b"],"extra":{"a": 1}`
	in := `{"text":"the [MASK] runs .",` + fields + "}\n" + `{"text":"the dog runs .",` + fields + "}\n" +
		`{"text":"the [MASK] runs .","top":2,"temperature":2}` + "\n"
	r := infillRun(in, withTiny("batch", "--sampler", "dmala", "--format", "jsonl", "-")...)
	lines := strings.Split(r.out, "\n")
	if r.code != exitSomeFailed || len(lines) != 4 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	// The record has steps and seed, with the values of the line.
	kept := `,"top":1,"gold":["a","b"],"extra":{"a":1},"input_fields":{"score":0.1,"model":"mine",` +
		`"version":7,"line":90,"error":null,"masked":[1],"input_fields":"x","step_size":0.2}}`
	if !strings.HasSuffix(lines[0], kept) || !strings.Contains(lines[0], `"seed":3,"steps":2,`) {
		t.Errorf("%s\nwant at the end %s", lines[0], kept)
	}
	kept = `"version":7,"line":90,"error":null,"masked":[1],"input_fields":"x","steps":2,"seed":3,"step_size":0.2}}`
	if !strings.HasSuffix(lines[1], kept) ||
		!strings.Contains(lines[1], `"error":{"code":"no_blank"`) {
		t.Errorf("%s\nwant at the end %s", lines[1], kept)
	}
	first, next := "from line 1 on, taken as settings of their lines: top, steps, seed, step_size\n",
		"from line 3 on, taken as settings of their lines: temperature\n"
	if strings.Count(r.err, "taken as settings") != 2 || !strings.Contains(r.err, first) ||
		!strings.Contains(r.err, next) {
		t.Errorf("said: %s", r.err)
	}
	// Data that resemble a setting and have a value of one are told of, once.
	r = infillRun(`{"text":"the [MASK] runs .","stepz":3,"stars":5,"Top":1,"min-distance":"far","shortlist":4,"exact":true,"label":"x"}
{"text":"the [MASK] runs .","stepz":4,"temprature":0.5,"colect":"last","log_z":true}
`, withTiny("batch", "--format", "jsonl", "--seed", "1", "-")...)
	said := strings.Split(strings.TrimSpace(r.err), "\n")
	want := []string{
		"infill: from line 1 on, the field stepz is data: the setting is called steps",
		"infill: from line 1 on, the field Top is data: the setting is called top",
		"infill: from line 1 on, the field shortlist is data: lines do not choose it, --shortlist does",
		"infill: from line 2 on, the field temprature is data: the setting is called temperature",
		"infill: from line 2 on, the field colect is data: the setting is called collect",
		"infill: from line 2 on, the field log_z is data: marginals estimates the probabilities of " +
			"whole texts, and log Z is not estimated",
	}
	if r.code != 0 || len(said) != len(want)+1 || !slices.Equal(said[:len(want)], want) {
		t.Errorf("exit %d, said:\n%s", r.code, r.err)
	}
	// Infill's own programs read what they wrote.
	out := put(t, filepath.Join(t.TempDir(), "out.jsonl"), r.out)
	if r := infillRun("", "eval", out); r.code != 0 {
		t.Errorf("eval: exit %d, %s", r.code, r.err)
	}
}

// A record depends on its line or id, not on what is around it, and agrees
// with what infill fill makes of the same line.
func TestBatchAgreesWithFill(t *testing.T) {
	t.Parallel()
	const in = "the [MASK] sleeps .\nthe [MASK:a] saw the [MASK:a] .\n\nno blank\na [MASK*1-2] runs\n"
	for _, flags := range [][]string{nil, {"--method", "sample", "--score", "pll"}} {
		batchAgreesWithFill(t, in, append([]string{"--json", "--seed", "4", "-"}, flags...))
	}
}

func batchAgreesWithFill(t *testing.T, in string, args []string) {
	t.Helper()
	fill := infillRun(in, withTiny(append([]string{"fill"}, args...)...)...)
	batch := infillRun(in, withTiny(append([]string{"batch"}, args[1:]...)...)...)
	if fill.code != exitSomeFailed || batch.code != exitSomeFailed || fill.out != batch.out {
		t.Errorf("%v: exit %d and %d:\n%s%s", args, fill.code, batch.code, fill.out, batch.out)
	}
	a := infillRun(
		`{"id":"x","text":"the [MASK] sleeps ."}`,
		withTiny(append([]string{"batch"}, args[1:]...)...)...)
	b := infillRun(
		"{\"text\":\"no\"}\n"+`{"id":"x","text":"the [MASK] sleeps ."}`,
		withTiny(append([]string{"batch"}, args[1:]...)...)...)
	if _, second, _ := strings.Cut(b.out, "\n"); second != strings.Replace(
		a.out,
		`"line":1`,
		`"line":2`,
		1,
	) ||
		a.out == "" {
		t.Errorf("an id's record depends on its place:\n%s%s", a.out, b.out)
	}
}

// Text outside blanks survives byte for byte.
func TestNastyCorpus(t *testing.T) {
	t.Parallel()
	texts := []string{
		"the\t[MASK]\t\tsleeps  .",
		"\u00a0the [MASK] sleeps\u00a0.\u2003",
		"the \U0001F469\u200d\U0001F680 [MASK] \U0001F600 e\u0301\u0302 sleeps .",
		"\u202eשלום [MASK] עולם\u202c مرحبا ___",
		"[MASK:a|dog|big cat]\u200b[MASK*1-2]/[MASK/^c/] ‘quotes’ “and” … [MASK:a]!!",
		"caf\u00e9 ﬁ Ⅷ ＦＵＬＬ [MASK] \u0000\u0007 x",
		"<b>[MASK]</b> & \\ \" {\"text\": 1}",
		"Ünïcödé [MASK*2] ÑANDÚ \ufeff end",
		" ____ ",
		"line\r\nwith [MASK]\nmore\rlines\r\n",
	}
	var in strings.Builder
	for i, s := range texts {
		b, err := json.Marshal(map[string]string{"text": s})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(b)
		if i < len(texts)-1 {
			in.WriteString([]string{"\n", "\r\n"}[i%2])
		}
	}
	r := infillRun(
		in.String(),
		withTiny("batch", "--seed", "1", "--steps", "4", "--chains", "6", "--top", "6", "--quiet")...)
	if r.code != 0 {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	plain := infillRun(
		texts[0]+"\r\n"+texts[1]+"\n"+texts[3],
		withTiny("batch", "--seed", "1", "--quiet")...)
	tok, err := tokenize.Load(os.DirFS(tinyModel))
	if err != nil {
		t.Fatal(err)
	}
	got := batchRecords(t, r.out)
	if len(got) != len(texts) {
		t.Fatalf("%d records", len(got))
	}
	for i, p := range batchRecords(t, plain.out) {
		if want := texts[[]int{0, 1, 3}[i]]; p.Text != want {
			t.Errorf("a line of text: %q, want %q", p.Text, want)
		}
	}
	for i, g := range got {
		tm, err := text.Parse(tok, texts[i])
		if err != nil {
			t.Fatal(err)
		}
		if g.Text != texts[i] || len(g.Fillings) == 0 {
			t.Errorf("text %q, want %q", g.Text, texts[i])
		}
		for _, f := range g.Fillings {
			at, from := 0, 0
			for j, b := range tm.Blanks {
				if f.Text[at:f.Spans[j][0]] != texts[i][from:b.Start] {
					t.Errorf("%q became %q", texts[i], f.Text)
				}
				if f.Spans[j][0] == f.Spans[j][1] {
					t.Errorf("blank %d of %q is empty", j+1, f.Text)
				}
				at, from = f.Spans[j][1], b.End
			}
			if f.Text[at:] != texts[i][from:] {
				t.Errorf("%q became %q", texts[i], f.Text)
			}
		}
	}
}

// What --mask-rate makes can be measured at once.
func TestBatchIntoEval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(
		t, filepath.Join(dir, "in.txt"),
		strings.Repeat("the big dog sleeps in the house .\na cat saw the bird near the tree .\n", 4),
	)
	var plain string
	var out string
	for _, suffix := range []string{".jsonl.gz", ".jsonl.zst", ".jsonl"} {
		out = filepath.Join(dir, "made-by-batch"+suffix)
		if r := infillRun("", withTiny("batch", in, "-o", out, "--mask-rate", "0.25", "--seed", "1", "--quiet", "--no-repeat", "text", "--select", "diverse", "--min-distance", "1")...); r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		r := infillRun("", "eval", out, "--reference", in, "--json")
		if r.code != 0 || !strings.Contains(r.out, "self_bleu") {
			t.Errorf("%s: exit %d: %s%s", suffix, r.code, r.out, r.err)
		}
		// The same numbers, but for the names.
		got := strings.ReplaceAll(
			strings.ReplaceAll(r.out, out, ""), strings.TrimSuffix(filepath.Base(out), filepath.Ext(out)),
			"",
		)
		got = strings.ReplaceAll(got, `"made-by-batch"`, `""`)
		if plain != "" && got != plain {
			t.Errorf("%s: %s, want %s", suffix, got, plain)
		}
		plain = got
	}
	for _, g := range batchRecords(t, get(t, out)) {
		if len(g.Masked) != 2 || g.Gold == "" || len(g.Fillings) == 0 {
			t.Errorf("%+v", g)
		}
	}
	if r := infillRun("", "eval", out, "--reference", in); r.code != 0 ||
		!strings.Contains(strings.ToLower(r.out), "self-bleu") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestBadBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] runs .\nno blank\nthe [MASK] runs .\n")
	out := filepath.Join(dir, "out.jsonl")
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no such input", []string{filepath.Join(dir, "none"), "-o", out}, 3, "none"},
		{"two inputs", []string{in, in}, 2, "one file"},
		{"resume and force", []string{in, "-o", out, "--resume", "--force"}, 2, "one of them"},
		{"resume without a file", []string{in, "--resume"}, 2, "-o FILE"},
		{"a folder as output", []string{in, "-o", dir}, 3, "folder"},
		{"output in no folder", []string{in, "-o", filepath.Join(dir, "x", "y")}, 3, filepath.Join(dir, "x", "y") + ": its folder"},
		{"strict", []string{in, "-o", out, "--strict", "--seed", "1"}, 4, "line 2"},
		{"exists", []string{in, "-o", out, "--seed", "1"}, 2, "--resume"},
		{"strict again", []string{in, "-o", out, "--strict", "--seed", "1", "--resume"}, 4, "line 2"},
		{"another seed", []string{in, "-o", out, "--seed", "2", "--resume"}, 2, "seed was 1, is 2"},
		{"resumed with its own seed", []string{in, "-o", out, "--resume"}, 1, "1 of them an error"},
		{"itself", []string{in, "-o", in, "--force"}, 2, "input itself"},
		{"max errors", []string{in, "-o", out, "--force", "--max-errors", "0", "--seed", "1"}, 4, "too many"},
	} {
		r := infillRun("", withTiny(append([]string{"batch"}, c.args...)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("%s: exit %d, want %d; want %q in: %s%s", c.name, r.code, c.code, c.says, r.err, r.out)
		}
	}
	if get(t, in) != "the [MASK] runs .\nno blank\nthe [MASK] runs .\n" {
		t.Error("the input changed")
	}
}

func TestScoreCandidates(t *testing.T) {
	t.Parallel()
	rank := func(args ...string) string {
		r := infillRun("", withTiny(append([]string{"score", "--json"}, args...)...)...)
		if r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		var rec jsonl.Ranked
		if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, c := range rec.Candidates {
			order = append(order, c.Candidate)
		}
		return strings.Join(order, ",")
	}
	const text = "a [MASK] sees the big [MASK|dog] in the house ."
	one := "the fish [MASK] in the river ."
	if got := rank(one, "--candidates", "barks, swims,very old"); !strings.HasPrefix(got, "swims,") ||
		!strings.Contains(got, "very old") {
		t.Errorf("ranked %s", got)
	}
	if got := rank("the fish [MASK|barks|swims] in the river ."); got != "swims,barks" {
		t.Errorf("ranked %s", got)
	}
	// The sum puts more pieces at a disadvantage, the mean does not.
	if sum, mean := rank(one, "--candidates", "plum,very old horse swims"), rank(one, "--candidates", "plum,very old horse swims", "--normalize", "tokens"); sum == mean ||
		!strings.HasPrefix(sum, "plum") {
		t.Errorf("by the sum %s, by the mean %s", sum, mean)
	}
	for _, args := range [][]string{{text, "--candidates", "dog"}, {"the dog .", "--candidates", "dog"}, {one, "--candidates", "qqq"}, {one}, {"x", "--file", "y"}, {"x", "-o", "y"}} {
		if r := infillRun("", withTiny(append([]string{"score"}, args...)...)...); r.code != exitUsage {
			t.Errorf("%q: exit %d, %s", args, r.code, r.err)
		}
	}
}

// Files are scored as batches are filled: in order, with errors in place,
// resumably, and to the numbers that single texts get.
func TestScoreFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(
		t, filepath.Join(dir, "in.jsonl"),
		strings.Repeat(`{"id":"a","text":"the dog sleeps in the house .","candidates":5}
{"text":"the [MASK] runs .","candidates":["dog","cat"],"n":1}
{"text":"the dog sleeps in the house .","n":2}
`, 30),
	)
	out := filepath.Join(dir, "out.jsonl")
	args := withTiny("score", "--file", in, "-o", out, "--quiet")
	if r := infillRun("", args...); r.code != exitSomeFailed {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	whole := get(t, out)
	lines := strings.Split(whole, "\n")
	single := infillRun("", withTiny("score", "--json", "the dog sleeps in the house .")...)
	if want := strings.Replace(strings.TrimSuffix(single.out, "}\n")+`,"n":2}`, `"line":1`, `"line":3`, 1); lines[2] != want {
		t.Errorf("%s\nwant %s", lines[2], want)
	}
	if !strings.Contains(
		lines[0],
		`"id":"a","line":1,"text":"the dog sleeps in the house .","error":{"code":"bad_option"`,
	) ||
		!strings.Contains(lines[1], `"candidate":"dog"`) ||
		!strings.HasSuffix(lines[1], `,"n":1,"input_fields":{"candidates":["dog","cat"]}}`) {
		t.Errorf("%s\n%s", lines[0], lines[1])
	}
	put(t, out, whole[:len(whole)/2])
	if r := infillRun("", append(args, "--resume", "--threads", "1")...); r.code != exitSomeFailed ||
		get(t, out) != whole {
		t.Errorf("resumed: exit %d, %s", r.code, r.err)
	}
}

// A word that was meant as a blank is told of, as fill does, once for a file.
func TestBatchTellsOfSlips(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"),
		"the [MASK] sleeps .\nthe [mask] sleeps on [MASK] .\nthe [MASK *2] runs to [MASK] .\n")
	out := filepath.Join(dir, "out.jsonl")
	r := infillRun("", withTiny("batch", in, "-o", out, "--seed", "1", "--steps", "2")...)
	const want = "infill: line 2: [mask] is not a blank and stays as it is; write [MASK] " +
		"(2 texts have such)\n"
	if r.code != 0 || !strings.Contains(r.err, want) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", withTiny("batch", in, "-o", out, "--seed", "1", "--steps", "2", "--force",
		"--quiet")...); r.code != 0 || r.err != "" {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// A part of the energy that compares with the words before fails on lines without such words, and
// the run goes on.
func TestBatchWithoutWordsBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.jsonl"), `{"text":"the dog sleeps .","mask_words":1}
{"text":"the [MASK] sleeps ."}
{"text":"the cat sleeps .","mask_words":1}
`)
	out := filepath.Join(dir, "out.jsonl")
	r := infillRun("", withTiny("batch", in, "-o", out, "--seed", "1", "--steps", "2", "--energy",
		"edit=1", "--quiet")...)
	lines := strings.Split(strings.TrimSpace(get(t, out)), "\n")
	if r.code != exitSomeFailed || len(lines) != 3 || !strings.Contains(lines[1], `"no_original"`) ||
		strings.Contains(lines[0]+lines[2], `"error"`) {
		t.Errorf("exit %d: %s%s", r.code, r.err, lines)
	}
}
