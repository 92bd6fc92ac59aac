package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"infill/cmd/infill/internal/console"
	"infill/internal/testmode"
)

// A serving is an infill serve in this process.
type serving struct {
	url  string
	errs *testmode.Buffer
	stop func() int // ends it as a signal does, and returns the exit code
}

var readyAt = regexp.MustCompile(`(?:ready at |"msg":"ready","url":")(http://[^/]+)/`)

// serve runs infill serve at a free port until it is ready.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &serving{errs: &testmode.Buffer{}}
	code := make(chan int, 1)
	args = append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)
	go func() {
		code <- runLine(ctx, console.IO{In: strings.NewReader(""), Out: io.Discard, Err: s.errs}, args)
	}()
	s.stop = sync.OnceValue(func() int { cancel(); return <-code })
	t.Cleanup(func() { s.stop() })
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if found := readyAt.FindStringSubmatch(s.errs.String()); found != nil {
			s.url = found[1]
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("not ready: %s", s.errs)
		}
	}
}

func (s *serving) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// With --log-format json each line of standard error is an object, and texts are in it only if asked
// for.
func TestServeLogJSON(t *testing.T) {
	t.Parallel()
	for _, texts := range []bool{false, true} {
		args := []string{"--model", "a=" + tinyModel, "--log-format", "json"}
		if texts {
			args = append(args, "--log", "texts")
		}
		s := serve(t, args...)
		if code, body := s.post(t, "/v1/fill", `{"text": "the [MASK] sleeps .", "seed": 1}`); code != http.StatusOK {
			t.Fatalf("%d %s", code, body)
		}
		if code := s.stop(); code != exitOK {
			t.Errorf("exit %d", code)
		}
		seen := map[any]bool{}
		for line := range strings.Lines(s.errs.String()) {
			var object map[string]any
			if err := json.Unmarshal([]byte(line), &object); err != nil || object["time"] == nil {
				t.Errorf("%q: %v", line, err)
			}
			seen[object["msg"]] = true
			if object["msg"] == "ready" && (fmt.Sprint(object["models"]) != "[a]" || object["version"] != version()) {
				t.Error(line)
			}
			if object["msg"] == "request" && (object["path"] != "/v1/fill" || object["status"] != 200.0 ||
				len(object["trace_id"].(string)) != 32) {
				t.Error(line)
			}
		}
		if !seen["ready"] || !seen["request"] || seen["text"] != texts ||
			strings.Contains(s.errs.String(), "sleeps") != texts {
			t.Errorf("texts %v: %s", texts, s.errs)
		}
	}
	for _, args := range [][]string{{"--addr", "nowhere"}, {"--model", "a=nowhere"}} {
		r := infillRun("", append([]string{"serve", "--log-format", "json"}, args...)...)
		var object map[string]any
		if err := json.Unmarshal([]byte(r.err), &object); err != nil || r.code != exitUsage ||
			object["msg"] != "failed" || !strings.Contains(fmt.Sprint(object["error"]), "nowhere") {
			t.Errorf("%q: exit %d: %q, %v", args, r.code, r.err, err)
		}
	}
	var out bytes.Buffer
	std := console.IO{Err: &out}
	(&serveFlags{logFormat: "json"}).logs(&std)
	if _, err := io.WriteString(std.Err, "infill: one\ninfill: two\n"); err != nil || strings.Count(out.String(),
		`"msg":"note","text":"`) != 2 {
		t.Errorf("notes: %s, %v", out.String(), err)
	}
}

// A server answers with the bytes that infill fill --json prints.
func TestServeAsFill(t *testing.T) {
	t.Parallel()
	s := serve(t, "--model", "a="+tinyModel, "--model", "b="+tinyModel)
	for _, c := range []struct {
		fields string
		args   []string
	}{
		{`"text": "the [MASK] sleeps in the ___ ."`, []string{"the [MASK] sleeps in the ___ ."}},
		{`"text": "the [MASK*1-2] sleeps .", "top": 2, "steps": 9, "no_repeat": "text", "model": "b"`,
			[]string{"the [MASK*1-2] sleeps .", "--top", "2", "--steps", "9", "--no-repeat", "text"}},
		{`"text": "the dog sleeps in the house .", "mask_words": 2, "sampler": "gwg", "temperature": 2`,
			[]string{"the dog sleeps in the house .", "--mask-words", "2", "--sampler", "gwg",
				"--temperature", "2"}},
	} {
		want := infillRun("", withTiny(append([]string{"fill", "--json", "--seed", "3"}, c.args...)...)...)
		if code, body := s.post(t, "/v1/fill", `{"seed": 3, `+c.fields+"}"); code != http.StatusOK ||
			want.code != 0 || body != want.out {
			t.Errorf("%d %swant %d %s%s", code, body, want.code, want.out, want.err)
		}
	}
	if code := s.stop(); code != exitOK {
		t.Errorf("exit %d: %s", code, s.errs)
	}
	if log := s.errs.String(); !strings.Contains(log, "msg=request") || strings.Contains(log, "sleeps") {
		t.Errorf("the log has texts, or no requests: %s", log)
	}
}

// A signal lets a running request end, and takes no new one.
func TestServeDrains(t *testing.T) {
	t.Parallel()
	s := serve(t, "--model", tinyModel, "--log", "none", "--max-work", "100000000")
	body := `{"text": "the [MASK] sleeps .", "seed": 1, "chains": 1, "steps": 3000, "stream": true}`
	res, err := http.Post(s.url+"/v1/fill", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	first := make([]byte, 12)
	if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "event: start" {
		t.Fatalf("%q: %v", first, err)
	}
	code := make(chan int, 1)
	go func() { code <- s.stop() }()
	rest, err := io.ReadAll(res.Body)
	if err != nil || !bytes.Contains(rest, []byte("event: done\ndata: {\"record\":")) {
		t.Errorf("%v: …%s", err, rest[max(0, len(rest)-300):])
	}
	if c := <-code; c != exitOK {
		t.Errorf("exit %d: %s", c, s.errs)
	}
	if res, err := http.Get(s.url + "/health"); err == nil {
		_ = res.Body.Close()
		t.Error("it still answers")
	}
}

// Requests that do not end within the time of grace are cut off, and the exit code says so.
func TestServeGrace(t *testing.T) {
	t.Parallel()
	s := serve(t, "--model", tinyModel, "--log", "none", "--max-work", "1000000000", "--grace", "1")
	body := `{"text": "the [MASK] sleeps in the [MASK] .", "chains": 100, "steps": 1000000, "stream": true}`
	res, err := http.Post(s.url+"/v1/fill", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if c := s.stop(); c != exitTrouble {
		t.Errorf("exit %d: %s", c, s.errs)
	}
	if !strings.Contains(s.errs.String(), "requests were cut off: 1 after 1s") {
		t.Error(s.errs)
	}
}

// A public address needs keys, and what is wrong with the flags is said before anything is opened.
func TestServeFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	short, none := write("short", "# a key\nabc\n"), write("none", "\n# nothing\n")
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	taken := other.Addr().String()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--addr", "0.0.0.0:0"}, exitUsage, "give --api-key-file FILE"},
		{[]string{"--addr", ":0"}, exitUsage, "give --api-key-file FILE"},
		{[]string{"--addr", "nowhere"}, exitUsage, "want HOST:PORT"},
		{[]string{"--addr", "127.0.0.1:x"}, exitUsage, "--addr 127.0.0.1:x"},
		{[]string{"--addr", taken}, exitTrouble, "--addr " + taken + ": another program listens there"},
		{[]string{"--api-key-file", short}, exitUsage, "line 2: a key has at least 16 characters"},
		{[]string{"--api-key-file", none}, exitUsage, "has no key"},
		{[]string{"--api-key-file", filepath.Join(dir, "missing")}, exitTrouble, "missing"},
		{[]string{"--allow-origin", "example.org"}, exitUsage, "want one such as https://example.org"},
		{[]string{"--model", "=x"}, exitUsage, "want NAME=FOLDER"},
		{[]string{"--model", "a=" + tinyModel, "--model", "a=" + tinyModel}, exitUsage,
			`two models are called "a"`},
		{[]string{"--model", "a=" + dir}, exitTrouble, "model"},
		{[]string{"a text"}, exitUsage, "takes no arguments"},
		{[]string{"--queue", "0"}, exitUsage, "whole number from 1"},
	} {
		args := append([]string{"serve"}, c.args...)
		if c.args[0] != "--addr" {
			args = append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)
		}
		if r := infillRun("", args...); r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
}

// With a file of keys a request needs one of them.
func TestServeKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	const key = "0123456789abcdef"
	if err := os.WriteFile(path, []byte("# two\nfedcba9876543210\n"+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--model", tinyModel, "--api-key-file", path)
	code, body := s.post(t, "/v1/fill", `{"text": "the [MASK] ."}`)
	var refused struct {
		Type string `json:"error_type"`
	}
	if err := json.Unmarshal([]byte(body), &refused); err != nil || code != http.StatusUnauthorized ||
		refused.Type != "unauthorized" {
		t.Errorf("%d %s", code, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%d %v", res.StatusCode, err)
	}
	if strings.Contains(s.errs.String(), key) {
		t.Error("the log has a key")
	}
}

// The size of the memo counts for a server too: with a memo the model is not asked twice.
func TestServeMemo(t *testing.T) {
	t.Parallel()
	own := t.TempDir() // other tests ask the model that is kept, and it counts their calls
	if err := os.CopyFS(own, os.DirFS(tinyModel)); err != nil {
		t.Fatal(err)
	}
	var first string
	for _, size := range []string{"0", "1"} {
		s := serve(t, "--model", own, "--log", "none", "--memo", size)
		calls := func() string {
			res, err := http.Get(s.url + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			b, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(regexp.MustCompile(`(?m)^infill_model_calls_total.*$`).
				FindAllString(string(b), -1), "\n")
		}
		var after [2]string
		for i := range after {
			code, body := s.post(t, "/v1/fill",
				`{"text": "the [MASK] sleeps in the [MASK] .", "seed": 1, "steps": 3}`)
			if first == "" {
				first = body
			}
			if code != http.StatusOK || body != first {
				t.Errorf("--memo %s: %d %swant %s", size, code, body, first)
			}
			after[i] = calls()
		}
		if remembers := size != "0"; (after[0] == after[1]) != remembers || after[0] == "" {
			t.Errorf("--memo %s:\n%s\nand after the same request\n%s", size, after[0], after[1])
		}
	}
}

// Requests weigh the parts that the server opened, for fillings and for scores, with the bytes that
// the commands print. They open nothing, and what is wrong with the flag is said at the start.
func TestServeEnergy(t *testing.T) {
	t.Parallel()
	list := write(t, "list.txt", "dog 2\ncat -1\n")
	part, second := "words:"+list, "model:"+tinyModel
	s := serve(t, "--model", tinyModel, "--log", "none", "--energy", part, "--energy", second)
	const text = "the [MASK|dog|cat|fox] sees the [MASK] ."
	for _, parts := range [][]string{nil, {part + "=1.5"}, {part + "=-3", second + "=0.5"}} {
		var flags []string
		for _, p := range parts {
			flags = append(flags, "--energy", p)
		}
		body, err := json.Marshal(map[string]any{"text": text, "seed": 3, "steps": 9, "energy": parts})
		if err != nil {
			t.Fatal(err)
		}
		want := infillRun("", withTiny(append([]string{"fill", "--json", "--seed", "3", "--steps", "9", text},
			flags...)...)...)
		if code, got := s.post(t, "/v1/fill", string(body)); code != http.StatusOK || want.code != 0 ||
			got != want.out || strings.Contains(got, `"energies"`) != (parts != nil) {
			t.Errorf("%v: %d %swant %s%s", parts, code, got, want.out, want.err)
		}
	}
	want := infillRun("", withTiny("score", "--json", "--energy", part+"=2", "the dog sleeps .")...)
	code, got := s.post(t, "/v1/score", `{"text": "the dog sleeps .", "energy": ["`+part+`=2"]}`)
	if code != http.StatusOK || got != want.out || !strings.Contains(got, `"energies"`) {
		t.Errorf("%d %swant %s%s", code, got, want.out, want.err)
	}
	for body, says := range map[string]string{
		`{"text": "the [MASK] .", "energy": ["words:` + list + `.bak=1"]}`: "open are " + second + ", " + part,
		`{"text": "the [MASK] .", "energy": ["` + part + `"]}`:             "a list of parts",
	} {
		if code, got := s.post(t, "/v1/fill", body); code != 422 || !strings.Contains(got, says) {
			t.Errorf("%s: %d %s", body, code, got)
		}
	}
	for value, says := range map[string]string{
		part + "=2":                  "without a weight",
		"edit":                       "edit needs no file",
		"words":                      "words needs a file",
		"poems:x":                    `there is no kind "poems"`,
		"words:" + list + ".missing": "--energy",
		"model:" + list:              "--energy",
	} {
		r := infillRun("", "serve", "--addr", "127.0.0.1:0", "--log", "none", "--model", tinyModel,
			"--energy", value)
		if r.code == 0 || !strings.Contains(r.err, "--energy") || !strings.Contains(r.err, says) {
			t.Errorf("--energy %s: exit %d: %s", value, r.code, r.err)
		}
	}
}

// A stream has the record of a plain request, however the text is filled.
func TestServeStreamAsFill(t *testing.T) {
	t.Parallel()
	s := serve(t, "--model", tinyModel, "--log", "none")
	for text, method := range map[string]string{
		"the [MASK] sleeps in the [MASK] .": "auto", "the [MASK] sleeps .": "auto",
		"the [MASK] sleeps in a [MASK] .": "sample", "a [MASK] sleeps .": "sample",
	} {
		want := infillRun("", withTiny("fill", "--json", "--seed", "3", "--method", method, text)...)
		body, err := json.Marshal(map[string]any{"text": text, "seed": 3, "stream": true, "method": method})
		if err != nil {
			t.Fatal(err)
		}
		code, got := s.post(t, "/v1/fill", string(body))
		record := `"record":` + strings.TrimSuffix(want.out, "\n") + "}\n"
		if want.code != 0 || code != http.StatusOK || !strings.Contains(got, record) {
			t.Errorf("%s: %d %s\nwant %s%s", text, code, got, record, want.err)
		}
	}
}

// The variable INFILL_MODEL is for all commands. A server with flags does not read it, and one that
// cannot open a model says which.
func TestServeModelVariable(t *testing.T) {
	t.Setenv("INFILL_MODEL", tinyModel)
	s := serve(t, "--log", "none")
	if code, body := s.post(t, "/models/"+filepath.Base(tinyModel), `{"inputs": "the [MASK] ."}`); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	t.Setenv("INFILL_MODEL", t.TempDir())
	s = serve(t, "--log", "none", "--model", "a="+tinyModel)
	if code, body := s.post(t, "/models/a", `{"inputs": "the [MASK] ."}`); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	r := infillRun("", "serve", "--addr", "127.0.0.1:0", "--log", "none", "--model", "a="+tinyModel, "--model",
		"b="+t.TempDir())
	if r.code != exitTrouble || !strings.Contains(r.err, `model "b": `) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
