package energies

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill"
	"infill/mlm"
)

// expected is what transformers says of some texts, see testdata/make_networks.py.
type expected struct {
	Texts            []string
	Softmax, Sigmoid [][]float64
	Cosine           [][]float64
}

func readExpected(t *testing.T) (e expected) {
	t.Helper()
	b, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &e); err != nil || len(e.Texts) == 0 {
		t.Fatalf("%d texts, %v", len(e.Texts), err)
	}
	return e
}

// changed is a copy of a folder of testdata in which files are replaced; "" removes one.
func changed(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		var err error
		if text == "" {
			err = os.Remove(path)
		} else {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openClassifier(t *testing.T, dir string) *classifier {
	t.Helper()
	c, err := newClassifier(t.Context(), dir, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func finished(texts ...string) []infill.Finished {
	var out []infill.Finished
	for _, text := range texts {
		out = append(out, infill.Finished{Text: text})
	}
	return out
}

// A classifier says of every text what transformers says, alone or among others.
func TestClassifier(t *testing.T) {
	t.Parallel()
	e := readExpected(t)
	multi := changed(t, "classifier", map[string]string{"config.json": `{"max_position_embeddings": 24,
		"id2label": {"0": "dull", "1": "neither", "2": "lively"},
		"problem_type": "multi_label_classification"}`})
	for dir, want := range map[string][][]float64{"testdata/classifier": e.Softmax, multi: e.Sigmoid} {
		c := openClassifier(t, dir)
		if got := strings.Join(c.Labels(), " "); got != "dull neither lively" {
			t.Errorf("labels %q", got)
		}
		for i, label := range []string{"dull", "Neither", "lively"} {
			term, err := c.Label("x", label)
			if err != nil {
				t.Fatal(err)
			}
			got := values(t, term, finished(e.Texts...)...)
			for k, text := range e.Texts {
				if math.Abs(got[k]-want[k][i]) > 1e-5 {
					t.Errorf("%s: log p(%s | %q) is %v, want %v", dir, label, text, got[k], want[k][i])
				}
				if alone := values(t, term, finished(text)...); alone[0] != got[k] {
					t.Errorf("%q: %v alone, %v among others", text, alone[0], got[k])
				}
			}
		}
		if _, err := c.Label("x", "great"); !errors.Is(err, ErrSpec) ||
			!strings.Contains(err.Error(), "dull, neither, lively") {
			t.Error(err)
		}
		long := finished(strings.Repeat("a ", 23))
		term, err := c.Label("x", "dull")
		if err != nil {
			t.Fatal(err)
		}
		if err := term.Values(t.Context(), long, make([]float64, 1)); !errors.Is(err, mlm.ErrTooLong) {
			t.Errorf("a long text: %v", err)
		}
	}
}

// Logits far apart leave finite values. A state that a sure classifier denies is not broken.
func TestLogShares(t *testing.T) {
	t.Parallel()
	for i, want := range []float64{0, -2000} {
		if v := logShares([]float32{1000, -1000}, false)[i]; v != want {
			t.Errorf("softmax of ±1000: %v, want %v", v, want)
		}
	}
	for i, want := range []float64{0, -1000, -math.Ln2} {
		if v := logShares([]float32{1000, -1000, 0}, true)[i]; v != want {
			t.Errorf("logistic function of ±1000 and 0: %v, want %v", v, want)
		}
	}
}

// The cosine of two texts is the cosine of the means that torch computes.
func TestEncoder(t *testing.T) {
	t.Parallel()
	e := readExpected(t)
	enc, err := OpenEncoder(t.Context(), "testdata/encoder", mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = enc.Close() }()
	var texts []infill.Finished
	var want []float64
	for i, now := range e.Texts {
		for j, before := range e.Texts {
			texts = append(texts, infill.Finished{Text: now, Spans: [][2]int{{0, len(now)}},
				Original: []string{before}})
			want = append(want, e.Cosine[i][j])
		}
	}
	for k, v := range values(t, enc, texts...) {
		if math.Abs(v-want[k]) > 1e-5 {
			t.Errorf("%+v: %v, want %v", texts[k], v, want[k])
		}
	}
	err = enc.Values(t.Context(), finished("a film"), make([]float64, 1))
	if !errors.Is(err, infill.ErrNoOriginal) {
		t.Error(err)
	}
}

// Folders that are not what they should be are refused, with a reason.
func TestBadNetworks(t *testing.T) {
	t.Parallel()
	open := map[string]func(context.Context, string, mlm.Options) (interface{ Close() error }, error){
		"classifier": func(ctx context.Context, dir string, o mlm.Options) (interface{ Close() error },
			error) {
			return newClassifier(ctx, dir, o)
		},
		"similar": func(ctx context.Context, dir string, o mlm.Options) (interface{ Close() error }, error) {
			return OpenEncoder(ctx, dir, o)
		},
	}
	type files = map[string]string
	for _, c := range []struct {
		kind, from string
		change     files
		says       string
	}{
		{"classifier", "encoder", nil, "id2label"},
		{"classifier", "classifier", files{"config.json": ""}, "config.json"},
		{"classifier", "classifier", files{"config.json": "{"}, "config.json"},
		{"classifier", "classifier", files{"config.json": `{"id2label": {"0": "a", "1": "b"}}`},
			"logits of shape [1 3] for 2 labels"},
		{"classifier", "classifier", files{"config.json": `{"id2label": {"0": "a", "2": "b"}}`}, "none for 1"},
		{"classifier", "classifier",
			files{"config.json": `{"id2label": {"0": "a", "1": "b"}, "problem_type": "regression"}`}, "id2label"},
		{"classifier", "classifier", files{"vocab.txt": ""}, "vocab"},
		{"classifier", "classifier", files{"model.onnx": ""}, "model.onnx"},
		{"classifier", "classifier", files{"model.onnx": "onnx"}, "model.onnx"},
		{"classifier", "../../../mlm/testdata/tiny-bert", nil, "id2label"},
		{"similar", "classifier", nil, "a vector for each"},
		{"similar", "encoder", files{"1_Pooling/config.json": `{"pooling_mode_mean_tokens": false}`},
			"another pooling"},
		{"similar", "encoder", files{"1_Pooling/config.json": `[]`}, "1_Pooling/config.json"},
	} {
		net, err := open[c.kind](t.Context(), changed(t, c.from, c.change), mlm.Options{})
		if err == nil {
			_ = net.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %s with %v: %v", c.kind, c.from, c.change, err)
		}
	}
	if _, err := newClassifier(t.Context(), "testdata/none", mlm.Options{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Error(err)
	}
	// A label that a classifier has not is found out at once.
	_, err := Open(t.Context(), []string{"classifier:testdata/classifier:great=1"}, Options{})
	if !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), "lively") {
		t.Error(err)
	}
}

// The hash of a part is another when its labels or its words are.
func TestNetworkHash(t *testing.T) {
	t.Parallel()
	sums := map[string]bool{}
	for _, files := range []map[string]string{
		nil,
		{"config.json": `{"id2label": {"0": "a", "1": "b", "2": "c"}}`},
		{"tokenizer_config.json": `{"do_lower_case": false}`},
	} {
		dir := changed(t, "classifier", files)
		texts := []string{"classifier:" + dir + ":"}
		texts[0] += openClassifier(t, dir).Labels()[0] + "=1"
		p, err := Open(t.Context(), texts, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = p.Close() }()
		sum, err := p.Recorded(texts)
		if err != nil || strings.Contains(sum, dir) {
			t.Fatal(sum, err)
		}
		sums[strings.Split(sum, ":")[2]] = true
	}
	if len(sums) != 3 {
		t.Errorf("hashes %v", sums)
	}
}
