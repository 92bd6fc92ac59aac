package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"infill/models"
)

var testContext = context.Background()

func encode(t testing.TB, models ...*Model) string {
	t.Helper()
	data, err := json.MarshalIndent(map[string]any{"version": 1, "models": models}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// firstUse are the built-in models that have files without a public hash.
var firstUse = []string{"albert-base-v2", "bert-base-multilingual-cased", "distilroberta-base"}

// What is part of the program: every file has a hash, but for those of models that are known here.
func TestBuiltin(t *testing.T) {
	c := builtinCatalogue()
	if len(c.Models) < 12 {
		t.Fatalf("%d models", len(c.Models))
	}
	keys, weights := map[string]bool{}, map[string]bool{}
	for _, m := range c.Models {
		if m.Pinned() == slices.Contains(firstUse, m.Name) {
			t.Errorf("%s: pinned is %v", m.Name, m.Pinned())
		}
		if keys[m.Key()] || m.Licence == "" || m.Architecture == "" ||
			!strings.HasPrefix(m.Home, DefaultHub+"/") || m.Size() < 1e6 {
			t.Errorf("%+v", m)
		}
		keys[m.Key()] = true
		tokenizer := false
		for _, f := range m.Files {
			if !hubURL.MatchString(f.URL) {
				t.Errorf("%s: %s", m.Name, f.URL)
			}
			tokenizer = tokenizer || f.Path == "vocab.txt" || f.Path == "tokenizer.json"
			if strings.HasSuffix(f.Path, ".onnx") {
				if f.SHA256 != "" && weights[f.SHA256] {
					t.Errorf("%s: the model of another entry", m.Name)
				}
				weights[f.SHA256] = true
			}
		}
		if !tokenizer {
			t.Errorf("%s has no tokenizer", m.Name)
		}
	}
	if _, err := c.Find("bert-base"); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
}

// The small files of the catalogue whose text is known: their sizes and hashes are those of that
// text.
func TestBuiltinKnownTexts(t *testing.T) {
	texts := map[string]bool{}
	known := []string{`{"do_lower_case": true, "model_max_length": 512}`,
		`{"do_lower_case": false, "model_max_length": 512}`, `{"model_max_length": 512}`}
	roberta := func(name, kind string, hidden, inner, heads, layers, vocabulary int, more ...string) string {
		lines := []string{`"architectures": [` + "\n    " + `"` + kind + `ForMaskedLM"` + "\n  ]",
			`"attention_probs_dropout_prob": 0.1`, `"bos_token_id": 0`, `"eos_token_id": 2`,
			`"hidden_act": "gelu"`, `"hidden_dropout_prob": 0.1`, fmt.Sprintf(`"hidden_size": %d`, hidden),
			`"initializer_range": 0.02`, fmt.Sprintf(`"intermediate_size": %d`, inner),
			`"layer_norm_eps": 1e-05`, `"max_position_embeddings": 514`, `"model_type": "` + name + `"`,
			fmt.Sprintf(`"num_attention_heads": %d`, heads), fmt.Sprintf(`"num_hidden_layers": %d`, layers),
			`"pad_token_id": 1`, `"type_vocab_size": 1`, fmt.Sprintf(`"vocab_size": %d`, vocabulary)}
		lines = append(lines, more...)
		slices.Sort(lines)
		return "{\n  " + strings.Join(lines, ",\n  ") + "\n}\n"
	}
	known = append(known, roberta("roberta", "Roberta", 768, 3072, 12, 12, 50265),
		roberta("roberta", "Roberta", 1024, 4096, 16, 24, 50265),
		roberta("xlm-roberta", "XLMRoberta", 768, 3072, 12, 12, 250002, `"output_past": true`,
			`"position_embedding_type": "absolute"`, `"transformers_version": "4.17.0.dev0"`,
			`"use_cache": true`))
	sizes := map[string]int{}
	for _, text := range known {
		texts[sumOf([]byte(text))] = true
		sizes[sumOf([]byte(text))] = len(text)
	}
	n := 0
	for _, m := range builtinCatalogue().Models {
		for _, f := range m.Files {
			config := f.Path == "config.json" && strings.Contains(m.Name, "roberta")
			if (f.Path == "tokenizer_config.json" || config) && f.Pinned() {
				n++
				if !texts[f.SHA256] || f.Bytes != int64(sizes[f.SHA256]) {
					t.Errorf("%s: %s: %s, %d bytes", m.Name, f.Path, f.SHA256, f.Bytes)
				}
			}
		}
	}
	if n != 12 {
		t.Errorf("%d of them", n)
	}
}

func TestParseRefuses(t *testing.T) {
	s := newServer(t, 10)
	change := func(f func(*Model)) string {
		m := s.model()
		f(m)
		return encode(t, m)
	}
	path := func(p string) string { return change(func(m *Model) { m.Files[1].Path = p }) }
	url := func(u string) string { return change(func(m *Model) { m.Files[1].URL = u }) }
	cases := map[string]string{
		"not JSON":           "{",
		"nothing":            "",
		"another version":    `{"version": 2, "models": []}`,
		"an unknown field":   `{"version": 1, "models": [], "extra": 1}`,
		"text behind":        `{"version": 1, "models": []} {}`,
		"a null model":       `{"version": 1, "models": [null]}`,
		"a null file":        `{"version": 1, "models": [{"name":"a","files":[null]}]}`,
		"no files":           `{"version": 1, "models": [{"name":"a","files":[]}]}`,
		"too large":          `{"version": 1, "models": [` + strings.Repeat(" ", maxCatalogue) + `]}`,
		"twice":              encode(t, s.model(), s.model()),
		"name with a slash":  change(func(m *Model) { m.Name = "a/b" }),
		"name of dots":       change(func(m *Model) { m.Name = ".." }),
		"name with dots":     change(func(m *Model) { m.Name = "a..b" }),
		"upper case":         change(func(m *Model) { m.Name = "Bert" }),
		"long name":          change(func(m *Model) { m.Name = strings.Repeat("a", 65) }),
		"the default's name": change(func(m *Model) { m.Name = "default" }),
		"device name":        change(func(m *Model) { m.Name = "con" }),
		"terminal codes":     change(func(m *Model) { m.Note = "a\x1b[2J" }),
		"no model file":      change(func(m *Model) { m.Files[0].Path = "weights.onnx" }),
		"up":                 path("../vocab.txt"),
		"up inside":          path("a/../../vocab.txt"),
		"absolute":           path("/etc/passwd"),
		"drive":              path(`C:\x`),
		"backslash":          path(`a\..\b`),
		"hidden":             path(".bashrc"),
		"hidden inside":      path("a/.git/config"),
		"empty":              path(""),
		"dot":                path("."),
		"twice, other case":  path("ONNX/model.onnx"),
		"file and folder":    path("onnx/model.onnx/x"),
		"folder and file":    path("onnx"),
		"device":             path("a/NUL.txt"),
		"long path":          path(strings.Repeat("a", 201)),
		"control character":  path("a\nb"),
		"http":               url("http://example.com/x"),
		"a file":             url("file:///etc/passwd"),
		"user name":          url("https://a:b@example.com/x"),
		"no host":            url("https:///x"),
		"a branch":           url("{hub}/o/n/resolve/main/vocab.txt"),
		"a short commit":     url("{hub}/o/n/resolve/0123456/vocab.txt"),
		"hub elsewhere":      url("{hub}.example.com/o/n/resolve/" + testCommit + "/x"),
		"up in the address":  url("{hub}/o/n/resolve/" + testCommit + "/../../x"),
		"short hash":         change(func(m *Model) { m.Files[0].SHA256 = "abc" }),
		"upper-case hash": change(
			func(m *Model) { m.Files[0].SHA256 = strings.ToUpper(m.Files[0].SHA256) },
		),
		"no size":       change(func(m *Model) { m.Files[0].Bytes = 0 }),
		"two sizes":     change(func(m *Model) { m.Files[0].About = 5 }),
		"negative size": change(func(m *Model) { m.Files[0].Bytes = -1 }),
		"huge":          change(func(m *Model) { m.Files[0].Bytes = 1 << 60 }),
		"no hash, a proposed change": change(func(m *Model) {
			m.Files[1].SHA256, m.Files[1].URL = "", "{hub}/o/n/resolve/refs%2Fpr%2F18/vocab.txt"
		}),
		"no hash, no commit": change(func(m *Model) {
			m.Files[1].SHA256, m.Files[1].URL = "",
				"https://example.com/vocab.txt"
		}),
	}
	for name, text := range cases {
		_, err := parse(strings.NewReader(text), "own.json")
		var e *CatalogueError
		if !errors.Is(err, ErrCatalogue) || !errors.As(err, &e) ||
			!strings.Contains(err.Error(), "own.json") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := parse(strings.NewReader("{\n\"version\": 1,\n\"models\": 5}"),
		"own.json"); err == nil || !strings.Contains(err.Error(), "own.json:3") {
		t.Errorf("the line: %v", err)
	}
	good := change(
		func(m *Model) { m.Files[1].URL = "https://example.com/vocab.txt"; m.Files[0].SHA256 = "" },
	)
	if _, err := parse(strings.NewReader(good), "own.json"); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

func TestLoad(t *testing.T) {
	s := newServer(t, 10)
	own, replaced := s.model(), s.model()
	replaced.Name = "bert-base-uncased"
	file := filepath.Join(t.TempDir(), "own.json")
	if err := os.WriteFile(file, []byte(encode(t, own, replaced)), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := c.Find("bert-base-uncased"); err != nil || m.Key() != replaced.Key() ||
		len(c.Models) != len(builtinCatalogue().Models)+1 {
		t.Errorf("%+v, %v, %d models", m, err, len(c.Models))
	}
	if _, err := Load(file + "x"); !errors.Is(err, ErrCatalogue) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestVerifyFolder(t *testing.T) {
	// A model of the program by its card.
	checks, err := VerifyFolder(t.Context(), models.Small())
	if err != nil || Faults(checks) != 0 || len(checks) != 5 {
		t.Errorf("%+v, %v", checks, err)
	}
	for _, c := range checks {
		if c.Result != Same || c.By != "README.md" {
			t.Errorf("%+v", c)
		}
	}
	a, b := sumOf([]byte("a")), sumOf([]byte("b"))
	dir := fstest.MapFS{
		"SHA256SUMS": {Data: []byte(a + "  model.onnx\r\n" + b + " *onnx/data\n" + a + "  ./gone\n\n" +
			b + "  SHA256SUMS\n")},
		"model.onnx": {Data: []byte("a")}, "onnx/data": {Data: []byte("x")}, "more": {},
	}
	checks, err = VerifyFolder(t.Context(), dir)
	var got []string
	for _, c := range checks {
		got = append(got, c.Path+" "+c.Result)
	}
	if want := "gone MISSING, model.onnx ok, more not stated, onnx/data DIFFERS"; err != nil ||
		strings.Join(got, ", ") != want || Faults(checks) != 2 {
		t.Errorf("%q, %v", got, err)
	}
	for name, bad := range map[string]fstest.MapFS{
		"nothing":       {"model.onnx": {}},
		"plain card":    {"README.md": {Data: []byte("# A model\n")}},
		"other lines":   {"SHA256SUMS": {Data: []byte("hello\n")}},
		"outside":       {"SHA256SUMS": {Data: []byte(a + "  ../x\n")}},
		"outside, card": {"README.md": {Data: []byte("| `../x` | 1 | `" + a + "` |\n")}},
		"huge":          {"README.md": {Data: make([]byte, maxCatalogue+1)}},
	} {
		if _, err := VerifyFolder(t.Context(), bad); !errors.Is(err, errUnverified) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No catalogue is accepted that leads out of the cache or to a place that is not https.
func FuzzParse(f *testing.F) {
	f.Add(string(builtin))
	f.Add(
		`{"version":1,"models":[{"name":"a","files":[{"path":"model.onnx","bytes":1,"url":"{hub}/o/n/resolve/` + testCommit + `/m"}]}]}`,
	)
	f.Add(`{"version":1,"models":[{"name":"..","files":[{"path":"../x"}]}]}`)
	hash := regexp.MustCompile(`^[0-9a-f]{64}$`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parse(strings.NewReader(text), "fuzz")
		if err != nil {
			if !errors.Is(err, ErrCatalogue) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		cache := Cache{"/cache"}
		for _, m := range c.Models {
			if !filepath.IsLocal(m.Name) || strings.ContainsAny(m.Name, "/\\") ||
				filepath.Dir(filepath.Dir(cache.Folder(m))) != filepath.Clean("/cache") {
				t.Fatalf("name %q", m.Name)
			}
			for _, file := range m.Files {
				u := file.Address("")
				if !filepath.IsLocal(file.Path) || !strings.HasPrefix(u, "https://") ||
					strings.Contains(u, "@") && strings.HasPrefix(file.URL, "{hub}") ||
					file.limit() <= 0 || file.SHA256 != "" && !hash.MatchString(file.SHA256) ||
					file.SHA256 == "" && !strings.Contains(u, "/resolve/") {
					t.Fatalf("%+v", file)
				}
			}
		}
	})
}

// Cards and lists of sums come with the model, from wherever it is from.
func FuzzVerifyFolder(f *testing.F) {
	f.Add("| `a` | 1 | `"+sumOf(nil)+"` |\n", sumOf(nil)+"  a\n")
	f.Add("", "\n")
	f.Fuzz(func(t *testing.T, card, sums string) {
		dir := fstest.MapFS{"a": {}, "b/c": {Data: []byte("x")}}
		if card != "" {
			dir["README.md"] = &fstest.MapFile{Data: []byte(card)}
		}
		if sums != "" {
			dir["SHA256SUMS"] = &fstest.MapFile{Data: []byte(sums)}
		}
		if _, err := VerifyFolder(t.Context(), dir); err != nil && !errors.Is(err, errUnverified) {
			t.Fatalf("an error of another kind: %v", err)
		}
	})
}

// The example of docs/guide/models.md is a catalogue, and one of its files is trusted on first use.
func TestDocumentedCatalogue(t *testing.T) {
	doc, err := os.ReadFile("../../docs/guide/models.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(doc)
	if block == nil {
		t.Fatal("no example")
	}
	c, err := parse(strings.NewReader(string(block[1])), "docs/guide/models.md")
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Models[0]; m.Pinned() || !m.Files[0].Pinned() {
		t.Errorf("%+v", m)
	}
}

// For every script of the world's larger languages a model is named.
func TestForScript(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"Latin": "bert-base-multilingual-cased",
		"Hiragana": "bert-base-multilingual-cased", "Thai": "xlm-roberta-base", "Cuneiform": "", "": ""} {
		got := ""
		if m := ForScript(script); m != nil {
			got = m.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	for _, m := range builtinCatalogue().Models {
		for _, script := range m.Scripts {
			if unicode.Scripts[script] == nil {
				t.Errorf("%s: no script is called %s", m.Name, script)
			}
		}
	}
}
