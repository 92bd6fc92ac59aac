package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// installed runs an installer into a folder of the cache, once, and skips the test if it fails.
func installed(t *testing.T, name, probe string, command ...string) string {
	t.Helper()
	testmode.Long(t)
	cache, err := os.UserCacheDir()
	if err != nil {
		testmode.Missing(t, "a cache folder: "+err.Error())
	}
	dir := filepath.Join(cache, "infill-tests", name)
	if _, err := os.Stat(filepath.Join(dir, probe)); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		testmode.Missing(t, name+", which "+command[0]+" installs: "+err.Error())
	}
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		testmode.Missing(t, name+", which could not be installed: "+err.Error()+"\n"+
			string(out[max(0, len(out)-500):]))
	}
	return dir
}

// printed is what a client prints.
func printed(t *testing.T, v any, env string, command ...string) {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		testmode.Missing(t, command[0]+": "+err.Error())
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	if err := json.Unmarshal(out, v); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
}

// wanted is what the server itself answers.
func wanted(t *testing.T, url string, bodies ...string) []any {
	t.Helper()
	out := make([]any, len(bodies))
	for i, b := range bodies {
		if err := json.Unmarshal(ask(t, "POST", url+"/", b).body, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

const (
	askTwo  = `{"inputs": "the [MASK] sleeps in the house .", "parameters": {"top_k": 2}}`
	askFor  = `{"inputs": "the [MASK] sleeps in the house .", "parameters": {"targets": ["dog", "cat"]}}`
	askMany = `{"inputs": "the [MASK] sleeps in the [MASK] .", "parameters": {"top_k": 2}}`
	askAll  = `{"inputs": "the [MASK] sleeps in the [MASK] .", "parameters": {"top_k": 2, "joint": true, "seed": 1}}`
)

// Hugging Face's client for Python takes all answers, lists of lists too.
func TestPythonClient(t *testing.T) {
	t.Parallel()
	dir := installed(t, "huggingface_hub-2.4.0", "huggingface_hub", "python3", "-m", "pip", "install", "-q",
		"huggingface_hub==2.4.0", "--target")
	_, h := start(t, Options{})
	t.Run("guide", func(t *testing.T) { pythonGuide(t, dir) })
	var got []any
	printed(t, &got, "PYTHONPATH="+dir, "python3", "testdata/client.py", h.URL)
	want := wanted(t, h.URL, askTwo, askFor, askMany, askTwo, askFor, askMany)
	if !same(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// pythonGuide tests that the program in Python that the guide shows runs as it stands there but for
// the address, and prints what the server answers.
func pythonGuide(t *testing.T, dir string) {
	guide, err := os.ReadFile(filepath.Join(testmode.Root(t), "docs", "guide", "serve.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(guide)
	if found == nil {
		t.Fatal("the guide shows no program")
	}
	_, h := start(t, Options{})
	program := strings.ReplaceAll(string(found[1]), "http://127.0.0.1:8017", h.URL)
	cmd := exec.CommandContext(t.Context(), "python3", "-c", program)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	body := `{"inputs": "The [MASK] sat.", "parameters": {"top_k": 3}}`
	want := ""
	for _, a := range wanted(t, h.URL, body)[0].([]any) {
		answer := a.(map[string]any)
		want += fmt.Sprintf("%.3f  %v\n", answer["score"], answer["sequence"])
	}
	if want == "" || string(out) != want {
		t.Errorf("it prints\n%swant\n%s", out, want)
	}
}

// Hugging Face's client for JavaScript takes flat lists and refuses lists of lists, so that several
// blanks need the joint form.
func TestJavaScriptClient(t *testing.T) {
	t.Parallel()
	dir := installed(t, "huggingface-inference-4.13.30", "node_modules", "npm", "install", "--silent",
		"@huggingface/inference@4.13.30", "--prefix")
	_, h := start(t, Options{})
	var got struct {
		Out     []any
		Refused string
	}
	printed(t, &got, "", "node", "testdata/client.mjs", h.URL, dir)
	want := wanted(t, h.URL, askTwo, askTwo, askFor, askFor, askAll, askAll)
	if !same(got.Out, want) {
		t.Errorf("%v\nwant %v", got.Out, want)
	}
	if got.Refused == "" {
		t.Error("the client takes lists of lists now: say so in the guide")
	}
}
