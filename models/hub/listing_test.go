package hub

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The export of the usual name is taken, or the only one. Others are not guessed at.
func TestChoose(t *testing.T) {
	t.Parallel()
	for files, want := range map[string]string{
		"model.onnx onnx/model.onnx onnx/model_fp16.onnx":   "model.onnx",
		"model_O3.onnx onnx/model.onnx":                     "onnx/model.onnx",
		"bert.onnx":                                         "bert.onnx",
		"deep/down/model.onnx":                              "deep/down/model.onnx",
		"deep/model.onnx onnx/model_q4.onnx":                "",
		"encoder_model.onnx decoder_model.onnx":             "",
		"onnx/model_bnb4.onnx onnx/model_qint8_avx512.onnx": "",
	} {
		got, err := choose(listed(files+" vocab.txt"), "", "o/n")
		if (err == nil) != (want != "") || err == nil && (&Model{Files: got}).Export() != want {
			t.Errorf("%s: %v, %v", files, got, err)
		}
	}
}

// listed are files of a byte each.
func listed(paths string) (all []*File) {
	for _, p := range strings.Fields(paths) {
		all = append(all, &File{Path: p, Bytes: 1})
	}
	return all
}

// The tokenizer beside the export goes before one a folder above. Weights belong to this export.
func TestChooseFiles(t *testing.T) {
	t.Parallel()
	for files, want := range map[string]string{
		"a/model.onnx a/vocab.json a/merges.txt a/config.json vocab.txt config.json": "a/model.onnx " +
			"a/vocab.json a/merges.txt a/config.json",
		"onnx/model.onnx onnx/config.json tokenizer.json vocab.txt config.json": "onnx/model.onnx " +
			"tokenizer.json config.json",
		"model.onnx model.onnx_data model.onnx_data_1 model.onnx.data other.onnx_data vocab.txt": "model.onnx " +
			"model.onnx_data model.onnx_data_1 model.onnx.data vocab.txt",
		"model.onnx vocab.txt model.stored.safetensors model.safetensors": "model.onnx vocab.txt " +
			"model.stored.safetensors",
	} {
		got, err := choose(listed(files), "", "o/n")
		var paths []string
		for _, f := range got {
			paths = append(paths, f.Path)
		}
		if err != nil || strings.Join(paths, " ") != want {
			t.Errorf("%s: %q, %v", files, paths, err)
		}
	}
}

// What infill model save writes, pushed to the hub: a graph, and its weights where torch has others.
func TestListedWeights(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]bool{1000: false, 15_000: false, 100_000: true} {
		m, err := readListing(fmt.Appendf(nil, `{"sha":"%s","siblings":[{"rfilename":"model.onnx","size":1000},`+
			`{"rfilename":"model.safetensors","size":%d},{"rfilename":"vocab.txt","size":9}]}`, testCommit, bytes),
			repo{"o/n", "main"}, "")
		if err != nil || (len(m.Files) == 3) != want {
			t.Errorf("%d bytes: %+v, %v", bytes, m, err)
		}
	}
}

// Empty files are left out.
func TestOddListings(t *testing.T) {
	t.Parallel()
	model := func(files string) (*Model, error) {
		return readListing(fmt.Appendf(nil, `{"sha":"%s","siblings":[%s]}`, testCommit, files),
			repo{"o/n", "main"}, "")
	}
	const needed = `{"rfilename":"model.onnx","size":1000},{"rfilename":"vocab.txt","size":9}`
	m, err := model(needed + `,{"rfilename":"tokenizer.json","size":0},{"rfilename":"added_tokens.json","size":0}`)
	if err != nil || len(m.Files) != 2 || m.Files[0].Path != "model.onnx" || m.Files[1].Path != "vocab.txt" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, files := range []string{`{"rfilename":"model.onnx","size":0},{"rfilename":"vocab.txt","size":9}`,
		`{"rfilename":"model.onnx","size":9},{"rfilename":"vocab.txt"}`} {
		if m, err := model(files); !errors.Is(err, errAnswer) {
			t.Errorf("%s: %+v, %v", files, m, err)
		}
	}
}

// No answer of a hub makes a model with a path out of its folder, or an address out of its
// repository, and an error is of a known kind.
func FuzzListing(f *testing.F) {
	const commit = `"sha":"` + testCommit + `"`
	file := func(path string) string {
		return fmt.Sprintf(`{"rfilename":%q,"size":7,"blobId":"%s"}`, path, testCommit)
	}
	f.Add("{"+commit+`,"pipeline_tag":"fill-mask","tags":["license:mit"],"config":{"model_type":"bert",`+
		`"architectures":["BertForMaskedLM"]},"siblings":[`+file("onnx/model.onnx")+","+file("vocab.txt")+
		`,{"rfilename":"onnx/model.onnx_data","size":9,"lfs":{"sha256":"`+strings.Repeat("a", 64)+
		`","size":9}}]}`, "", "main")
	f.Add("{"+commit+`,"siblings":[`+file("a/../../model.onnx")+","+file("vocab.txt")+"]}", "", "v1")
	f.Add("{"+commit+`,"siblings":[`+file("x y.onnx")+","+file("vocab.txt")+"]}", "x y.onnx", "main")
	f.Add(`{"siblings":[null]}`, "m.onnx", "main")
	f.Fuzz(func(t *testing.T, text, file, revision string) {
		r := repo{"o/n", revision}
		m, err := readListing([]byte(text), r, file)
		if err != nil {
			if !errors.Is(err, errAnswer) && !errors.Is(err, errNoExport) && !errors.Is(err, ErrFile) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		c := Cache{"/cache"}
		if filepath.Dir(c.Folder(m)) != filepath.FromSlash("/cache/o--n") || file != "" && m.Export() != file {
			t.Fatalf("%+v in %s", m, c.Folder(m))
		}
		for _, f := range m.Files {
			if !filepath.IsLocal(f.Path) || f.limit() <= 0 ||
				f.address(defaultHub) != defaultHub+"/o/n/resolve/"+m.Commit+"/"+f.Path {
				t.Fatalf("%+v", f)
			}
		}
	})
}
