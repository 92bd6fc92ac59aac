package mlm

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"infill/mlm/onnx"
)

// What is recognised without the runtime is what Open recognises.
func TestInspectAgreesWithOpen(t *testing.T) {
	t.Parallel()
	m := openTiny(t, options{})
	info, problems := InspectDir(tinyDir, "")
	if len(problems) > 0 || !reflect.DeepEqual(info, m.Info()) {
		t.Errorf("%+v, %v\nwant %+v", info, problems, m.Info())
	}
}

// Every fixture: the graph is recognised although the folder has no tokenizer.
func TestInspectFixtures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("onnxgrad/testdata/*.onnx")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, f := range files {
		info, problems := InspectDir(filepath.Dir(f), filepath.Base(f))
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), "tokenizer") {
			t.Errorf("%s: %v", f, problems)
		}
		if strings.Contains(f, "int8") { // runs as it is
			if info.Gradients || !strings.Contains(info.NoGradients, "8-bit") {
				t.Errorf("%s: %+v", f, info)
			}
			continue
		}
		if info.Vocab == 0 || info.Hidden == 0 || info.Embedding == "" || len(info.Inputs) < 2 ||
			len(info.SHA256) != 64 ||
			len(info.Ops) == 0 || info.Parameters == 0 || info.Opset == 0 ||
			info.Gradients == (info.NoGradients != "") {
			t.Errorf("%s: %+v", f, info)
		}
	}
}

func TestInspectBroken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		want   error
		text   string
		check  func(Info) bool // of what is still recognised
	}{
		"no model": {func(f fstest.MapFS) { delete(f, "model.onnx") }, ErrNoModel, "model.onnx",
			func(i Info) bool { return i.Tokens > 0 && i.Mask == "[MASK]" && i.Architecture != "" }},
		"truncated model": {func(f fstest.MapFS) { f["model.onnx"].Data = f["model.onnx"].Data[:5000] },
			onnx.ErrFormat, "model.onnx",
			func(i Info) bool { return i.Tokens > 0 }},
		"no tokenizer": {func(f fstest.MapFS) { delete(f, "vocab.txt") }, nil, "tokenizer",
			func(i Info) bool {
				return i.Vocab > 0 && i.Embedding != "" && len(i.SHA256) == 64 &&
					i.Gradients
			}},
		"broken config": {func(f fstest.MapFS) { f["config.json"].Data = []byte("{") }, ErrNoModel,
			"config.json",
			func(i Info) bool { return i.Tokens > 0 && i.Vocab > 0 && i.Architecture == "" }},
		"vocabulary of another model": {func(f fstest.MapFS) {
			f["vocab.txt"].Data = append(f["vocab.txt"].Data,
				"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"...)
		}, errVocabulary, "logits", func(i Info) bool { return i.Tokens > i.Vocab }},
	} {
		files := tinyFiles(t)
		for k, v := range files { // a copy: the bytes are shared
			files[k] = &fstest.MapFile{Data: append([]byte(nil), v.Data...)}
		}
		c.change(files)
		info, problems := Inspect(files, "")
		err := errors.Join(problems...)
		if err == nil || c.want != nil && !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.text) || !c.check(info) {
			t.Errorf("%s: %v, %+v", name, err, info)
		}
	}
	if _, problems := InspectDir(filepath.Join(tinyDir, "nowhere"), ""); len(problems) != 1 ||
		!errors.Is(problems[0], os.ErrNotExist) {
		t.Errorf("no folder: %v", problems)
	}
}

// Spoilt files give problems of known kinds, never a panic.
func TestInspectHostile(t *testing.T) {
	t.Parallel()
	files := tinyFiles(t)
	good := files["model.onnx"].Data
	for i := range 100 {
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		files["model.onnx"] = &fstest.MapFile{Data: mutate(good, rng)}
		if _, problems := Inspect(files, ""); len(problems) > 0 && kindOf(problems[0]) == nil {
			t.Errorf("mutant %d: %v", i, problems)
		}
	}
}
