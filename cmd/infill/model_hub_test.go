package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"slices"
	"strings"
	"testing"
	"time"

	"infill/infill/settings"
	"infill/mlm"
	"infill/models"
	"infill/models/hub"
)

const hubCommit = "0123456789abcdef0123456789abcdef01234567"

// tinyHub serves the tiny model.
func tinyHub(t *testing.T) (requests *[]string) {
	t.Helper()
	return hubOf(t, tinyModel, "model.onnx", "vocab.txt", "config.json", "tokenizer_config.json")
}

// hubOf serves the model of a folder as two models of a catalogue, tiny with hashes and trusted
// without, and points the environment to it and to an empty cache. It counts requests.
func hubOf(t *testing.T, folder string, names ...string) (requests *[]string) {
	t.Helper()
	requests = new([]string)
	folder, err := filepath.Abs(folder) // tests change the folder
	if err != nil {
		t.Fatal(err)
	}
	files := http.StripPrefix("/o/n/resolve/"+hubCommit, http.FileServerFS(os.DirFS(folder)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, r.URL.Path)
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	tiny := &hub.Model{
		Name: "tiny", Architecture: "BERT", Licence: "MIT",
		Home: "https://example.com/tiny",
	}
	trusted := &hub.Model{
		Name: "trusted", Architecture: "BERT", Licence: "MIT",
		Home: "https://example.com/tiny",
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.Sum256(data)
		f := hub.File{
			Path: name, URL: "{hub}/o/n/resolve/" + hubCommit + "/" + name, Bytes: int64(len(data)),
		}
		g := f
		g.SHA256 = hex.EncodeToString(h[:])
		tiny.Files, trusted.Files = append(tiny.Files, &g), append(trusted.Files, &f)
	}
	data, err := json.Marshal(map[string]any{"version": 1, "models": []*hub.Model{tiny, trusted}})
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "own.json")
	put(t, own, string(data))
	t.Setenv("INFILL_CATALOGUE", own)
	t.Setenv("INFILL_HUB", s.URL)
	newCache(t)
	return requests
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
	requests := tinyHub(t)
	if r := infillRun("", "fill", "--model", "tiny", "the [MASK] sleeps ."); r.code != exitTrouble ||
		!strings.Contains(r.err, "infill model pull tiny") {
		t.Errorf("before it is pulled: exit %d, %s", r.code, r.err)
	}
	r := infillRun("", "model", "pull", "tiny")
	folder := strings.TrimSuffix(r.out, "\n")
	if r.code != 0 || len(*requests) != 4 || !strings.Contains(r.err, "MIT") ||
		strings.Contains(r.err, "warning") {
		t.Fatalf("exit %d: %s%s, %q", r.code, r.out, r.err, *requests)
	}
	if _, err := os.Stat(filepath.Join(folder, "model.onnx")); err != nil {
		t.Fatal(err)
	}
	byName := infillRun("", "fill", "--json", "--seed", "1", "--model", "tiny", "the [MASK] sleeps .")
	byPath := infillRun(
		"", "fill", "--json", "--seed", "1", "--model", tinyModel, "the [MASK] sleeps .",
	)
	if byName.code != 0 || byName.out != byPath.out {
		t.Errorf("exit %d: %s%s\nby its path: %s", byName.code, byName.out, byName.err, byPath.out)
	}
	if r := infillRun("", "tokenize", "--model", "tiny", "the dog"); r.code != 0 {
		t.Errorf("tokenize: exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", "model", "pull", "--quiet", "tiny"); r.code != 0 || r.err != "" ||
		r.out != folder+"\n" ||
		len(*requests) != 4 {
		t.Errorf("again: exit %d: %s%s, %d requests", r.code, r.out, r.err, len(*requests))
	}

	// Verified by its name and by its folder; then changed.
	for _, arg := range []string{"tiny", folder} {
		r = infillRun("", "model", "verify", "--json", arg)
		var v verification
		if err := json.Unmarshal([]byte(r.out), &v); err != nil || r.code != 0 || !v.OK ||
			v.Model != "tiny" ||
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
	if r := infillRun("", "model", "verify", "tiny"); r.code != exitTrouble ||
		!strings.Contains(r.out, "DIFFERS") ||
		!strings.Contains(r.out, "the catalogue") ||
		!strings.Contains(r.err, "pull") {
		t.Errorf("verify after damage: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", "model", "verify", "--all"); r.code != exitTrouble ||
		!strings.HasPrefix(r.out, "default\n  ok") {
		t.Errorf("verify --all after damage: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", "model", "info", "tiny"); r.code != exitTrouble ||
		!strings.Contains(r.err, "infill model pull tiny") {
		t.Errorf("a damaged model is used: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", "model", "pull", "tiny"); r.code != 0 || len(*requests) != 5 {
		t.Errorf("healing: exit %d: %s, %d requests", r.code, r.err, len(*requests))
	}
	if r := infillRun("", "model", "verify", "--all"); r.code != 0 ||
		!strings.Contains(r.out, "whole, as the catalogue says") {
		t.Errorf("verify --all: exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestModelPullFirstUse(t *testing.T) {
	tinyHub(t)
	if r := infillRun("", "model", "pull", "--quiet", "trusted"); r.code != 0 ||
		!strings.Contains(r.err, "warning") ||
		!strings.Contains(r.err, "model.onnx") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", "model", "verify", "trusted"); r.code != 0 ||
		!strings.Contains(r.out, "the record of the first download") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	r := infillRun("", "model", "list")
	if r.code != 0 || !strings.Contains(r.out, "first use") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestModelList(t *testing.T) {
	tinyHub(t)
	if r := infillRun("", "model", "pull", "tiny"); r.code != 0 {
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
	if names[0] != "default" || byName["default"].Cached != "embedded" ||
		byName["tiny"].Cached != "yes" ||
		byName["tiny"].Folder == "" ||
		byName["trusted"].Hash != "first use" ||
		byName["tiny"].Hash != "pinned" ||
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
	requests := tinyHub(t)
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"pull"}, exitUsage, "model list"},
		{[]string{"pull", "default"}, exitUsage, "part of the command"},
		{[]string{"pull", "tyni"}, exitUsage, "did you mean tiny?"},
		{[]string{"pull", "bert-base"}, exitUsage, "bert-base-uncased, bert-base-uncased-int8, bert-base-cased"},
		{[]string{"pull", "--hub", "http://example.com", "tiny"}, exitUsage, "https"},
		{[]string{"pull", "--catalogue", "missing.json", "tiny"}, exitTrouble, "missing.json"},
		{[]string{"list", "--catalogue", "missing.json"}, exitTrouble, "missing.json"},
		{[]string{"list", "--catalogue", "model_hub_test.go"}, exitUsage, "it is not JSON"},
		{[]string{"pull", "--offline", "tiny"}, exitTrouble, "vocab.txt from"},
		{[]string{"verify", "tiny"}, exitTrouble, "infill model pull tiny"},
		{[]string{"verify", "nothing-of-that-name"}, exitUsage, "model list"},
		{[]string{"verify", "nothing-of-that-name"}, exitUsage, "default and small; infill model list"},
		{[]string{"verify", "--all", "tiny"}, exitUsage, "--all"},
		{[]string{"verify", tinyModel}, exitTrouble, "SHA256SUMS"},
		{[]string{"verify", tinyModel + "/nowhere"}, exitTrouble, "nowhere"},
		{[]string{"list", "x"}, exitUsage, "no argument"},
	} {
		if r := infillRun("", append([]string{"model"}, c.args...)...); r.code != c.code ||
			!strings.Contains(r.err, c.text) {
			t.Errorf("%q: exit %d: %s%s", c.args, r.code, r.out, r.err)
		}
	}
	t.Setenv("INFILL_OFFLINE", "1")
	if r := infillRun("", "model", "pull", "tiny"); r.code != exitTrouble ||
		!strings.Contains(r.err, "offline") {
		t.Errorf("INFILL_OFFLINE: exit %d: %s", r.code, r.err)
	}
	if len(*requests) != 0 {
		t.Errorf("requests: %q", *requests)
	}
	// A broken catalogue is no reason that a model with a path does not open.
	put(t, os.Getenv("INFILL_CATALOGUE"), "{")
	if r := infillRun("", "model", "info", tinyModel); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", "model", "info", "tiny"); r.code != exitUsage ||
		!strings.Contains(r.err, "own.json:1") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// Ctrl-C in the middle of a download: exit 130, and the next pull goes on.
func TestModelPullInterrupted(t *testing.T) {
	tinyHub(t)
	good := os.Getenv("INFILL_HUB")
	ctx, cancel := context.WithCancel(context.Background())
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(mustSize(t, "model.onnx")))
		_, _ = w.Write([]byte{8})
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	defer slow.Close()
	var out, errs strings.Builder
	if code := run(ctx, stdio{strings.NewReader(""), &out, &errs}, []string{"model", "pull", "--hub", slow.URL, "tiny"}); code != exitInterrupted ||
		!strings.Contains(errs.String(), "goes on there") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	if r := infillRun("", "model", "pull", "--hub", good, "tiny"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func mustSize(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(tinyModel, name))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
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
		"tiny",
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

// The commands of docs/guide/models.md run, with the tiny model under the names that they use.
func TestDocumentedModelCommands(t *testing.T) {
	tinyHub(t)
	own := os.Getenv("INFILL_CATALOGUE")
	put(t, own, strings.Replace(get(t, own), `"trusted"`, `"bert-base-uncased"`, 1))
	doc := get(t, filepath.Join("..", "..", "docs", "guide", "models.md"))
	tiny, err := filepath.Abs(tinyModel)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS("my-bert", os.DirFS(tiny)); err != nil {
		t.Fatal(err)
	}
	h := sha256.Sum256([]byte(get(t, "my-bert/vocab.txt")))
	put(t, "my-bert/SHA256SUMS", hex.EncodeToString(h[:])+"  vocab.txt\n")
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

func TestVerifyOwnFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "model.onnx"), "a")
	h := sha256.Sum256([]byte("a"))
	put(t, filepath.Join(dir, "SHA256SUMS"), hex.EncodeToString(h[:])+"  model.onnx\n")
	if r := infillRun("", "model", "verify", dir); r.code != 0 ||
		!strings.Contains(r.out, "whole, as SHA256SUMS says") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	put(t, filepath.Join(dir, "model.onnx"), "b")
	if r := infillRun("", "model", "verify", dir); r.code != exitTrouble ||
		!strings.Contains(r.out, "1 file is missing, differs or does not belong") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	r := infillRun("", "model", "verify", "--json")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(lines) != len(models.All()) {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	for i, m := range models.All() {
		var v verification
		if err := json.Unmarshal([]byte(lines[i]), &v); err != nil || !v.OK || v.Model != m.Name ||
			!slices.ContainsFunc(
				v.Files, func(c hub.Check) bool { return c.Path == "model.safetensors" },
			) {
			t.Errorf("exit %d, %v: %s", r.code, err, lines[i])
		}
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
	command := exec.Command(os.Args[0], "model", "pull", "tiny", "--progress", "none")
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
