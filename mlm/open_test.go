package mlm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"infill/internal/ort/orttest"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
)

// tinyFiles is the tiny model as a file system that a test can spoil.
func tinyFiles(t testing.TB) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for _, n := range []string{"model.onnx", "config.json", "tokenizer_config.json", "vocab.txt"} {
		data, err := os.ReadFile(filepath.Join(tinyDir, n))
		if err != nil {
			t.Fatal(err)
		}
		out[n] = &fstest.MapFile{Data: data}
	}
	return out
}

// edit parses the model, lets f change it and writes it back.
func edit(t testing.TB, files fstest.MapFS, f func(*onnx.Model)) {
	t.Helper()
	m, err := onnx.Parse(files["model.onnx"].Data, "model.onnx", files)
	if err != nil {
		t.Fatal(err)
	}
	f(m)
	data, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	files["model.onnx"] = &fstest.MapFile{Data: data}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	for _, c := range []struct {
		name  string
		spoil func(fstest.MapFS)
		want  error
		text  string
	}{
		{"no model", func(f fstest.MapFS) { delete(f, "model.onnx") }, ErrNoModel, "model.onnx"},
		{"empty", func(f fstest.MapFS) { f["model.onnx"].Data = nil }, onnx.ErrFormat, "model.onnx"},
		{"not onnx", func(f fstest.MapFS) { f["model.onnx"].Data = []byte("PK\x03\x04 a zip file") },
			onnx.ErrFormat, "model.onnx"},
		{"truncated",
			func(f fstest.MapFS) { d := f["model.onnx"].Data; f["model.onnx"].Data = d[:len(d)/2] },
			onnx.ErrFormat, "model.onnx"},
		{"last byte missing",
			func(f fstest.MapFS) { d := f["model.onnx"].Data; f["model.onnx"].Data = d[:len(d)-1] },
			onnx.ErrFormat, "model.onnx"},
		{"no logits", func(f fstest.MapFS) {
			edit(t, f, func(m *onnx.Model) {
				g := m.Graph
				last := g.Nodes[len(g.Nodes)-1]
				g.Outputs[0].Name = last.Inputs[0]
				g.Outputs = append(g.Outputs, &onnx.ValueInfo{Name: last.Inputs[1], Type: onnx.Float})
			})
		}, ErrNotMasked, "no output named logits"},
		{"logits of another rank", func(f fstest.MapFS) {
			edit(t, f, func(m *onnx.Model) { m.Graph.Outputs[0].Shape = m.Graph.Outputs[0].Shape[:2] })
		}, ErrNotMasked, "2 dimensions"},
		{"another input", func(f fstest.MapFS) {
			edit(t, f, func(m *onnx.Model) {
				m.Graph.Inputs = append(m.Graph.Inputs, &onnx.ValueInfo{Name: "pixel_values", Type: onnx.Float})
			})
		}, ErrNotMasked, "pixel_values"},
		{"no input_ids", func(f fstest.MapFS) {
			edit(t, f, func(m *onnx.Model) {
				for _, n := range m.Graph.Nodes {
					for i, in := range n.Inputs {
						if in == "input_ids" {
							n.Inputs[i] = "tokens"
						}
					}
				}
				m.Graph.Inputs[0].Name = "tokens"
			})
		}, ErrNotMasked, "input_ids"},
		{"custom operator", func(f fstest.MapFS) {
			edit(t, f, func(m *onnx.Model) { m.Graph.Nodes[len(m.Graph.Nodes)-1].Domain = "evil.ops" })
		}, nil, `custom operator of domain "evil.ops"`},
		{"smaller vocabulary", func(f fstest.MapFS) {
			d := f["vocab.txt"].Data
			f["vocab.txt"].Data = d[:bytes.LastIndexByte(d[:len(d)-1], '\n')+1]
			f["config.json"].Data = []byte(`{"vocab_size": 69}`)
		}, errVocabulary, "69 tokens"},
		{"larger vocabulary", func(f fstest.MapFS) {
			f["vocab.txt"].Data = append(f["vocab.txt"].Data,
				"one\nmore\n"...)
		}, errVocabulary, "72 tokens"},
		{"no vocabulary", func(f fstest.MapFS) { delete(f, "vocab.txt") }, nil,
			"vocab.txt: no vocabulary"},
		{"broken configuration", func(f fstest.MapFS) { f["config.json"].Data = []byte("{") }, ErrNoModel,
			"config.json"},
		{"negative sizes", func(f fstest.MapFS) { f["config.json"].Data = []byte(`{"vocab_size": -1}`) },
			ErrNoModel, "config.json"},
		{"huge configuration", func(f fstest.MapFS) {
			f["config.json"].Data = bytes.Repeat([]byte(" "),
				1<<20+1)
		}, ErrNoModel, "config.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := tinyFiles(t)
			c.spoil(files)
			says := func(err error) bool {
				return err != nil && (c.want == nil || errors.Is(err, c.want)) &&
					strings.Contains(err.Error(), c.text)
			}
			m, err := Open(context.Background(), files, Options{})
			if err == nil {
				_ = m.Close()
			}
			if !says(err) {
				t.Errorf("got %v", err)
			}
			// The same from a folder on disk.
			dir := t.TempDir()
			for n, f := range files {
				if err := os.WriteFile(filepath.Join(dir, n), f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m, err = OpenDir(context.Background(), dir, Options{})
			if err == nil {
				_ = m.Close()
			}
			if !says(err) {
				t.Errorf("from a folder: %v", err)
			}
		})
	}
}

func TestOpenOptions(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	files := tinyFiles(t)
	ctx := context.Background()
	for _, o := range []Options{{Threads: -1}, {Threads: MaxThreads + 1}, {BatchTokens: -1},
		{BatchTokens: MaxBatchTokens + 1}} {
		if _, err := Open(ctx, files, o); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	// What was named is not a model, so its folder is not blamed for lacking a model's other files.
	named := fstest.MapFS{"README.md": {Data: []byte("# A page\n")}}
	_, err := Open(ctx, named, Options{File: "README.md"})
	if !errors.Is(err, onnx.ErrFormat) || strings.Contains(err.Error(), "vocabulary") {
		t.Errorf("a page as a model: %v", err)
	}
	for _, name := range []string{"../model.onnx", "/etc/passwd", "nowhere.onnx"} {
		if _, err := Open(ctx, files, Options{File: name}); !errors.Is(err, ErrNoModel) {
			t.Errorf("file %q: %v", name, err)
		}
	}
	if _, err := OpenDir(ctx, filepath.Join(t.TempDir(), "nowhere"), Options{}); !errors.Is(err,
		ErrNoModel) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Open(cancelled, files, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// The layout of optimum: the model in a folder of its own, files above or beside it.
	files["onnx/model.onnx"] = files["model.onnx"]
	delete(files, "model.onnx")
	m, err := Open(ctx, files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if i := m.Info(); i.File != "onnx/model.onnx" {
		t.Errorf("file %q", i.File)
	}
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	files["weights/other.onnx"] = files["onnx/model.onnx"]
	if m, err = Open(ctx, files, Options{File: "weights/other.onnx"}); err != nil {
		t.Fatal(err)
	}
	_ = m.Close()
}

// A vocab.txt that lost its last line is not taken for a padded table.
func TestCutVocabulary(t *testing.T) {
	t.Parallel()
	files := tinyFiles(t)
	d := files["vocab.txt"].Data
	files["vocab.txt"].Data = d[:bytes.LastIndexByte(d[:len(d)-1], '\n')+1] // without ##ing
	if m, err := Open(context.Background(), files, Options{}); !errors.Is(err, errVocabulary) {
		t.Errorf("opened %v, %v", m, err)
	}
}

func TestExternalDataStaysInside(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	// A model whose weights are an external file, beside it and by a link out of the folder.
	outside, dir := t.TempDir(), t.TempDir()
	files := tinyFiles(t)
	m, err := onnx.Parse(files["model.onnx"].Data, "weights.bin", files)
	if err != nil {
		t.Fatal(err)
	}
	// With the file called weights.bin, every weight's origin lies in it.
	thin, err := m.MarshalExternal(1024, nil)
	if err != nil {
		t.Fatal(err)
	}
	weights := files["model.onnx"].Data
	files["model.onnx"] = &fstest.MapFile{Data: thin}
	for n, f := range files {
		if err := os.WriteFile(filepath.Join(dir, n), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func() (*Model, error) { return OpenDir(context.Background(), dir, Options{}) }
	if _, err := open(); !errors.Is(err, onnx.ErrExternal) ||
		!strings.Contains(err.Error(), "weights.bin") {
		t.Errorf("missing weights: %v", err)
	}
	inside := filepath.Join(dir, "weights.bin")
	if err := os.WriteFile(inside, weights[:len(weights)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); !errors.Is(err, onnx.ErrExternal) {
		t.Errorf("truncated weights: %v", err)
	}
	if err := os.WriteFile(inside, weights, 0o600); err != nil {
		t.Fatal(err)
	}
	ext, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ext.Close() }()
	plain := openTiny(t, options{})
	s, states := randomStates(plain, 3, 9, 2, 3)
	a, b := everything(t, plain, s, states), everything(t, ext, s, states)
	if len(a) == 0 || len(a) != len(b) || !equalBits(a, b) {
		t.Error("external weights give other results")
	}
	sum, both := sha256.Sum256(thin), sha256.Sum256(slices.Concat(thin, weights))
	found, problems := InspectDir(dir, "")
	for _, i := range []Info{ext.Info(), found} {
		if i.FileSHA256 != hex.EncodeToString(sum[:]) || i.SHA256 != hex.EncodeToString(both[:]) {
			t.Errorf("hashes %s and %s, %v", i.FileSHA256, i.SHA256, problems)
		}
	}
	if i := plain.Info(); i.FileSHA256 != i.SHA256 {
		t.Errorf("a file without external data has the hashes %s and %s", i.FileSHA256, i.SHA256)
	}
	if plain.Info().SHA256 == ext.Info().SHA256 {
		t.Error("the hash does not cover the external file")
	}
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(outside, "weights.bin")
	if err := os.WriteFile(target, weights, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, inside); err != nil {
		t.Skip(err)
	}
	if _, err := open(); !errors.Is(err, onnx.ErrExternal) {
		t.Errorf("weights behind a link out of the folder: %v", err)
	}
}

func equalBits(a, b []uint32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestInfo(t *testing.T) {
	t.Parallel()
	i := openTiny(t, options{}).Info()
	if i.Architecture != "BertForMaskedLM" || i.Opset != 14 || i.Vocab != 70 || i.Hidden != 32 ||
		i.MaxLength != 40 || i.Mask != "[MASK]" ||
		i.Head != "onnx::MatMul_419" || !i.Tied || i.Parameters != 21926 || // as torch counts
		!i.Gradients || i.Embedding != "bert.embeddings.word_embeddings.weight" || i.Ops["MatMul"] == 0 ||
		len(i.SHA256) != 64 {
		t.Errorf("%+v", i)
	}
	var c source.Config
	for _, x := range []struct {
		kind string
		max  int
		want int
	}{{"bert", 512, 512}, {"roberta", 514, 512}, {"", 0, 0}, {"roberta", 0, 0}} {
		c.ModelType, c.MaxPositions = x.kind, x.max
		if got := c.Positions(); got != x.want {
			t.Errorf("%q with %d positions takes %d, want %d", x.kind, x.max, got, x.want)
		}
	}
	if c.Longest(0, 0) != 0 || c.Longest(0, 512, 40) != 40 {
		t.Error("the smallest stated limit")
	}
}
