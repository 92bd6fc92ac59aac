package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/infill/open"
	"infill/infill/settings"
	"infill/mlm"
	"infill/models/hub"
	"infill/models/hub/hubtest"
)

// tinyHub serves the tiny model.
func tinyHub(t *testing.T) *hubtest.Server {
	t.Helper()
	return hubOf(t, tinyModel, "model.onnx", "vocab.txt", "config.json", "tokenizer_config.json")
}

// hubOf serves the model of a folder as the repository o/tiny, and points the environment to it and
// to an empty cache. There is no token.
func hubOf(t *testing.T, folder string, names ...string) *hubtest.Server {
	t.Helper()
	files := map[string][]byte{"README.md": []byte("# Tiny")}
	for _, name := range names {
		files[name] = []byte(get(t, filepath.Join(folder, name)))
	}
	s := hubtest.New(t)
	s.Put("o/tiny", hubtest.Masked(files))
	t.Setenv("INFILL_HUB", s.URL)
	for _, name := range []string{"HF_TOKEN", "HF_ENDPOINT", "HF_TOKEN_PATH"} {
		t.Setenv(name, "")
	}
	t.Setenv("HF_HOME", t.TempDir())
	newCache(t)
	return s
}

// newCache gives the commands of a test an empty cache. The runtime stays where it is.
func newCache(t *testing.T) string {
	t.Helper()
	if lib := os.Getenv("INFILL_ORT"); lib == "" {
		var d diagnosis
		if r := infillRun("", "doctor", "--json"); json.Unmarshal([]byte(r.out), &d) == nil &&
			d.Runtime.Path != "" {
			t.Setenv("INFILL_ORT", d.Runtime.Path)
		}
	}
	dir := filepath.Join(t.TempDir(), "cache")
	t.Setenv("INFILL_CACHE", dir)
	return dir
}

func TestModelPullAndUse(t *testing.T) {
	server := tinyHub(t)
	if r := infillRun("", "fill", "--model", "o/tiny", "the [MASK] sleeps ."); r.code != exitTrouble ||
		!strings.Contains(r.err, "in the cache: infill model pull o/tiny\n") {
		t.Errorf("before it is pulled: exit %d, %s", r.code, r.err)
	}
	if log := server.Requests(); len(log) > 0 {
		t.Errorf("asked for without a pull: %v", log)
	}
	r := infillRun("", "model", "pull", "o/tiny")
	folder := strings.TrimSuffix(r.out, "\n")
	for _, says := range []string{"o/tiny: ", " kB, apache-2.0, from " + server.URL + "/o/tiny at commit " +
		hubtest.Commit[:12] + ", trusted on first use\n", "\n  model.onnx\n", "model.onnx 149 kB, 3 small files\n"} {
		if !strings.Contains(r.err, says) {
			t.Errorf("%q is not in %s", says, r.err)
		}
	}
	if log := server.Requests(); r.code != 0 || len(log) != 6 {
		t.Fatalf("exit %d: %s%s, %v", r.code, r.out, r.err, log)
	}
	byPath := infillRun(
		"", "fill", "--json", "--seed", "1", "--model", tinyModel, "the [MASK] sleeps .",
	)
	for _, name := range []string{"o/tiny", "o/tiny@main", "o/tiny@" + hubtest.Commit} {
		byName := infillRun("", "fill", "--json", "--seed", "1", "--model", name, "the [MASK] sleeps .")
		if byName.code != 0 || byName.out != byPath.out {
			t.Errorf("exit %d: %s%s\nby its path: %s", byName.code, byName.out, byName.err, byPath.out)
		}
	}
	serve := &serveFlags{models: []string{"o/tiny@main", "x=o/tiny"}}
	if named, err := serve.named(); err != nil || named[0].name != "tiny" || named[1].name != "x" ||
		named[0].from != (open.Source{Dir: folder}) {
		t.Errorf("serve: %+v, %v", named, err)
	}
	if r := infillRun("", "tokenize", "--model", "o/tiny", "the dog"); r.code != 0 {
		t.Errorf("tokenize: exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", "model", "pull", "--quiet", "o/tiny"); r.code != 0 || r.err != "" ||
		r.out != folder+"\n" || len(server.Requests()) != 1 {
		t.Errorf("again: exit %d: %s%s", r.code, r.out, r.err)
	}

	// Verified by its name and by its folder; then changed.
	for _, arg := range []string{"o/tiny", folder} {
		r = infillRun("", "model", "verify", "--json", arg)
		var v verification
		if err := json.Unmarshal([]byte(r.out), &v); err != nil || r.code != 0 || !v.OK ||
			v.Model != "o/tiny" ||
			v.Folder != folder ||
			len(v.Files) != 4 {
			t.Errorf("verify %s: exit %d, %v: %s%s", arg, r.code, err, r.out, r.err)
		}
	}
	model := filepath.Join(folder, "model.onnx")
	data, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	put(t, model, string(data))
	if r := infillRun("", "model", "verify", "o/tiny"); r.code != exitTrouble ||
		!strings.Contains(r.out, "DIFFERS") ||
		!strings.Contains(r.out, "the record of the first download") ||
		!strings.Contains(r.err, "pull") {
		t.Errorf("verify after damage: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", "model", "verify", "--all"); r.code != exitTrouble ||
		!strings.HasPrefix(r.out, "o/tiny in "+folder+"\n") {
		t.Errorf("verify --all after damage: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", "model", "info", "o/tiny"); r.code != exitTrouble ||
		!strings.Contains(r.err, "infill model pull o/tiny") {
		t.Errorf("a damaged model is used: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", "model", "pull", "o/tiny"); r.code != 0 || len(server.Requests()) != 3 {
		t.Errorf("healing: exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", "model", "verify", "--all"); r.code != 0 ||
		!strings.Contains(r.out, "whole, as the record of the first download says") {
		t.Errorf("verify --all: exit %d: %s%s", r.code, r.out, r.err)
	}
}

// Several ONNX files, none of the usual name: one has to be named.
func TestModelPullFile(t *testing.T) {
	server := tinyHub(t)
	files := map[string][]byte{}
	for _, name := range []string{"vocab.txt", "config.json", "tokenizer_config.json"} {
		files[name] = []byte(get(t, filepath.Join(tinyModel, name)))
	}
	data := []byte(get(t, filepath.Join(tinyModel, "model.onnx")))
	files["onnx/model_fp16.onnx"], files["deep/x/model.onnx"] = data, append(data, 0x7a, 1, 'x')
	server.Put("o/many", hubtest.Masked(files))
	fill := func(args ...string) outcome {
		return infillRun("", append([]string{"fill", "--json", "the [MASK] sleeps .", "--model", "o/many"}, args...)...)
	}
	want := infillRun("", "fill", "--json", "the [MASK] sleeps .", "--model", tinyModel).out
	if r := infillRun("", "model", "pull", "o/many"); r.code != exitTrouble ||
		!strings.Contains(r.err, "has to be named, one of deep/x/model.onnx, onnx/model_fp16.onnx: --file PATH") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	half := infillRun("", "model", "pull", "o/many", "--file", "onnx/model_fp16.onnx")
	if r := fill(); half.code != 0 || r.out != want || !strings.Contains(half.err, "onnx/model_fp16.onnx") {
		t.Errorf("exit %d: %s%s%s", r.code, r.out, r.err, half.err)
	}
	if r := fill("--model-file", "deep/x/model.onnx"); r.code != exitTrouble ||
		!strings.Contains(r.err, "infill model pull o/many --file deep/x/model.onnx") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	deep := infillRun("", "model", "pull", "o/many", "--file", "deep/x/model.onnx")
	if deep.code != 0 || deep.out == half.out {
		t.Fatalf("exit %d: %s%s", deep.code, deep.out, deep.err)
	}
	fillings, _, _ := strings.Cut(want, `"model":`)
	for _, args := range [][]string{{}, {"--model-file", "deep/x/model.onnx"},
		{"--model-file", "onnx/model_fp16.onnx"}} {
		if r := fill(args...); r.code != 0 || (r.out == want) != (len(args) > 0 && args[1] != "deep/x/model.onnx") ||
			!strings.HasPrefix(r.out, fillings) {
			t.Errorf("%q: exit %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	if words := infillRun("", "fill", "--model", "o/", completes).out; !strings.Contains(words, "o/many") ||
		strings.Contains(words, hubtest.Commit) {
		t.Error("o/many is not completed, or its commit is")
	}
	list := infillRun("", "model", "list").out
	for _, text := range []string{"\no/many ", "\no/many@" + hubtest.Commit, "    onnx/model_fp16.onnx\n",
		"    deep/x/model.onnx\n", strings.TrimSpace(deep.out)} {
		if !strings.Contains(list, text) {
			t.Errorf("%q is not in\n%s", text, list)
		}
	}
}

// The user's token opens what is private at HF_ENDPOINT, and is not sent to a mirror.
func TestModelPullToken(t *testing.T) {
	server := tinyHub(t)
	private := hubtest.Masked(map[string][]byte{"vocab.txt": []byte(get(t, tinyModel+"/vocab.txt")),
		"model.onnx": []byte(get(t, tinyModel+"/model.onnx"))})
	private.Private = true
	server.Put("o/private", private)
	t.Setenv("HF_TOKEN", server.Token)
	r := infillRun("", "model", "pull", "o/private")
	if r.code != exitTrouble || !strings.Contains(r.err, "HF_ENDPOINT") {
		t.Errorf("a mirror: exit %d: %s", r.code, r.err)
	}
	for _, q := range server.Requests() {
		if q.Token != "" {
			t.Errorf("the mirror got a token: %+v", q)
		}
	}
	t.Setenv("INFILL_HUB", "")
	t.Setenv("HF_ENDPOINT", server.URL)
	r = infillRun("", "model", "pull", "o/private")
	if r.code != 0 || strings.Contains(r.out+r.err, server.Token) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	for name, token := range map[string]bool{"https://huggingface.co": true, server.URL: true, "https://x.test": false} {
		t.Setenv("INFILL_HUB", name)
		var d diagnosis
		r := infillRun("", "doctor", "--json")
		if err := json.Unmarshal([]byte(r.out), &d); err != nil || d.Hub.Address != name ||
			d.Hub.Token != token || strings.Contains(r.out, server.Token) {
			t.Errorf("%v, %+v", err, d.Hub)
		}
	}
	t.Setenv("INFILL_HUB", "")
	t.Setenv("HF_TOKEN", "two words")
	if r := infillRun("", "model", "pull", "o/private"); r.code != exitTrouble ||
		strings.Contains(r.err, "two words") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// A name of the catalogue is found in the cache.
func TestCatalogueNames(t *testing.T) {
	tinyHub(t)
	cache, err := hub.UserCache()
	if err != nil {
		t.Fatal(err)
	}
	m := cache.Find("bert-base-uncased", "")
	if _, err := resolveModel(m.Name, ""); err == nil ||
		!strings.HasSuffix(advice.Message(err), "not in the cache: infill model pull bert-base-uncased (532 MB)") {
		t.Errorf("%v", err)
	}
	for _, f := range m.Files {
		if err := os.MkdirAll(cache.Folder(m), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(cache.Folder(m), f.Path), "x")
	}
	if s, err := resolveModel(m.Name, ""); err != nil || s != (open.Source{Dir: cache.Folder(m)}) {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestModelList(t *testing.T) {
	tinyHub(t)
	if r := infillRun("", "model", "pull", "o/tiny"); r.code != 0 {
		t.Fatal(r.err)
	}
	var names []string
	byName := map[string]listed{}
	for _, line := range strings.Split(strings.TrimSpace(infillRun("", "model", "list", "--json").out), "\n") {
		var l listed
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		names, byName[l.Name] = append(names, l.Name), l
	}
	tiny := byName["o/tiny"]
	if names[0] != "default" || byName["default"].Cached != "embedded" || tiny.Cached != "yes" ||
		tiny.Folder == "" || tiny.Commit != hubtest.Commit || tiny.Hash != "first use" ||
		byName["bert-base-uncased"].Hash != "pinned" ||
		byName["bert-base-uncased"].Cached != "no" {
		t.Errorf("%+v", byName)
	}
	text := infillRun("", "model", "list").out
	for _, n := range names {
		if !strings.Contains(text, "\n"+n+" ") {
			t.Errorf("%s is not in\n%s", n, text)
		}
	}
}

func TestModelPullRefuses(t *testing.T) {
	server := tinyHub(t)
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"pull"}, exitUsage, "model list"},
		{[]string{"pull", "default"}, exitUsage, "part of the command"},
		{[]string{"pull", "robertabase"}, exitUsage, "did you mean roberta-base?"},
		{[]string{"pull", "bert-base"}, exitUsage, "did you mean bert-base-uncased?"},
		{[]string{"pull", "--hub", "http://example.com", "o/tiny"}, exitUsage, "https"},
		{[]string{"pull", "--hub", "http://example.com", "roberta-base"}, exitUsage, "https"},
		{[]string{"pull", "--offline", "o/tiny"}, exitTrouble, "on a machine with a network, and copy its folder, "},
		{[]string{"pull", "--offline", "roberta-base"}, exitTrouble, "on a machine with a network, and copy its folder, "},
		{[]string{"pull", "--file", "x.onnx", "roberta-base"}, exitUsage, "--file goes with"},
		{[]string{"pull", "--file", "x.onnx", "o/tiny", "o/n"}, exitUsage, "--file goes with"},
		{[]string{"verify", "o/tiny"}, exitTrouble, "infill model pull o/tiny"},
		{[]string{"verify", "roberta-base"}, exitTrouble, "infill model pull roberta-base"},
		{[]string{"verify", "nothing-of-that-name"}, exitUsage, "model list"},
		{[]string{"verify", "nothing-of-that-name"}, exitUsage, "default and small; infill model list"},
		{[]string{"verify", "--all", "o/tiny"}, exitUsage, "--all"},
		{[]string{"verify"}, exitUsage, "--all"},
		{[]string{"verify", "default"}, exitUsage, "part of the command"},
		{[]string{"verify", tinyModel}, exitUsage, "sha256sum -c SHA256SUMS"},
		{[]string{"verify", tinyModel + "/nowhere"}, exitTrouble, "nowhere"},
		{[]string{"list", "x"}, exitUsage, "no argument"},
	} {
		if r := infillRun("", append([]string{"model"}, c.args...)...); r.code != c.code ||
			!strings.Contains(r.err, c.text) {
			t.Errorf("%q: exit %d: %s%s", c.args, r.code, r.out, r.err)
		}
	}
	t.Setenv("INFILL_OFFLINE", "1")
	if r := infillRun("", "model", "pull", "o/tiny"); r.code != exitTrouble ||
		!strings.Contains(r.err, "offline") {
		t.Errorf("INFILL_OFFLINE: exit %d: %s", r.code, r.err)
	}
	if log := server.Requests(); len(log) != 0 {
		t.Errorf("requests: %v", log)
	}
	t.Setenv("INFILL_OFFLINE", "")
	for name, text := range map[string]string{"o/nowhere": "HF_TOKEN", "o/tiny@v9": "no revision v9",
		"o/bare": "export it with Hugging Face's optimum", "o/classes": "--file PATH",
		"o/odd": "one of a.onnx, b.onnx: --file PATH"} {
		server.Put("o/bare", hubtest.Masked(nil))
		server.Put("o/odd", hubtest.Masked(map[string][]byte{"a.onnx": {1}, "b.onnx": {2}}))
		server.Put("o/classes", &hubtest.Repo{Pipeline: "text-classification"})
		if r := infillRun("", "model", "pull", name); r.code != exitTrouble || !strings.Contains(r.err, text) {
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		}
	}
}

// Ctrl-C in the middle of a download: exit 130, and the next pull goes on.
func TestModelPullInterrupted(t *testing.T) {
	server := tinyHub(t)
	ctx, cancel := context.WithCancel(context.Background())
	first := true
	server.Serve = func(w http.ResponseWriter, r *http.Request, data []byte) bool {
		if !first || data == nil {
			return false
		}
		first = false
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:1])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
		return true
	}
	var out, errs strings.Builder
	if code := runLine(ctx, console.IO{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"model", "pull", "o/tiny"}); code != exitInterrupted ||
		!strings.Contains(errs.String(), "infill model pull o/tiny goes on there") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	if r := infillRun("", "model", "pull", "o/tiny"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// HTTPS_PROXY is asked to reach the hub.
func TestModelPullProxy(t *testing.T) {
	tinyHub(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(
		ctx, os.Args[0], "model", "pull", "--hub",
		"https://hub.invalid",
		"roberta-base",
	)
	cmd.Env = append(
		os.Environ(), asCommand+"=1",
		"HTTPS_PROXY=http://"+l.Addr().String(),
		"NO_PROXY=",
	)
	cmd.Stderr = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 100)
	n, err := conn.Read(head)
	if err != nil && !errors.Is(err, io.EOF) ||
		!strings.HasPrefix(string(head[:n]), "CONNECT hub.invalid:443 ") {
		t.Errorf("the proxy got %q, %v", head[:n], err)
	}
	cancel()
	_ = conn.Close()
	_ = cmd.Wait()
}

// The commands of docs/guide/models.md run, with the tiny model under the name that they use.
func TestDocumentedModelCommands(t *testing.T) {
	server := tinyHub(t)
	server.Put("google-bert/bert-base-uncased", hubtest.Masked(map[string][]byte{
		"vocab.txt": []byte(get(t, tinyModel+"/vocab.txt")), "model.onnx": []byte(get(t, tinyModel+"/model.onnx")),
		"onnx/model_fp16.onnx": []byte(get(t, tinyModel+"/model.onnx")), "config.json": []byte(get(t, tinyModel+"/config.json"))}))
	doc := get(t, filepath.Join("..", "..", "docs", "guide", "models.md"))
	tiny, err := filepath.Abs(tinyModel)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS("my-bert", os.DirFS(tiny)); err != nil {
		t.Fatal(err)
	}
	put(t, "corpus.txt", strings.Repeat("a dog sat on the mat and a cat ran to the dog .\n", 400))
	n := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(doc, -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			line, _, _ = strings.Cut(line, " #")
			args := words(line)
			if args[0] != "infill" {
				continue // pip, optimum-cli
			}
			if args[1] == "doctor" && len(args) > 2 {
				continue // it fetches
			}
			if n++; args[1] == "fill" {
				args = append(args, "--steps", "2", "--chains", "2")
			}
			if r := infillRun("", args[1:]...); r.code != 0 {
				t.Errorf("%s: exit %d: %s%s", line, r.code, r.out, r.err)
			}
		}
	}
	if n < 9 {
		t.Errorf("%d commands", n)
	}
}

// A model that is an argument goes before that of the environment, and not before another flag.
func TestModelArgument(t *testing.T) {
	if os.Getenv(settings.EnvName("model")) == "" {
		t.Fatal("the environment of the tests names no model")
	}
	r := infillRun("", "model", "info", tinyModel, "--json")
	var v mlm.Info
	if err := json.Unmarshal([]byte(r.out), &v); err != nil || v.Hidden != 32 {
		t.Errorf("exit %d, %v: %s%s", r.code, err, r.out, r.err)
	}
	r = infillRun("", "model", "info", tinyModel, "--model", "small")
	if r.code != exitUsage || !strings.Contains(r.err, "two models") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

// A server that sends what it was not asked for is told of by package log of the standard library,
// in a line of its own. The command's standard error has its own words only.
func TestLyingServerIsNotLogged(t *testing.T) {
	tinyHub(t)
	honest, err := url.Parse(os.Getenv("INFILL_HUB"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	// The files come slowly, so that the lie comes first.
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Millisecond)
		httputil.NewSingleHostReverseProxy(honest).ServeHTTP(w, r)
	}))
	defer slow.Close()
	lies := make(chan struct{}, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go lie(c, slow.Listener.Addr().String(), lies)
		}
	}()
	command := exec.Command(os.Args[0], "model", "pull", "o/tiny", "--progress", "none")
	command.Env = append(os.Environ(), asCommand+"=1", "INFILL_HUB=http://"+l.Addr().String())
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if len(lies) < 4 {
		t.Errorf("the server lied %d times", len(lies))
	}
	if s := errs.String(); strings.Contains(s, "Unsolicited") || strings.Contains(s, "HTTP/1.1") {
		t.Errorf("standard error has %q", s)
	}
}

// lie sends a client to another server, and what nobody asked for after it.
func lie(c net.Conn, honest string, lies chan<- struct{}) {
	defer func() { _ = c.Close() }()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	const answer = "HTTP/1.1 302 Found\r\nLocation: http://%s%s\r\nContent-Length: 0\r\n\r\n"
	fmt.Fprintf(c, answer, honest, r.URL.Path)
	time.Sleep(20 * time.Millisecond) // the client has taken the answer
	if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nlie"); err == nil {
		lies <- struct{}{}
	}
	time.Sleep(time.Second)
}
