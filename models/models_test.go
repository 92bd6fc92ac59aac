package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sum is one row of the card's table of files.
type sum struct {
	bytes  int
	sha256 string
}

var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\d+) \\| `([0-9a-f]{64})` \\|$")

// cardSums reads the table of files of a card.
func cardSums(card string) map[string]sum {
	sums := map[string]sum{}
	for _, m := range row.FindAllStringSubmatch(card, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		sums[m[1]] = sum{n, m[3]}
	}
	return sums
}

// verify returns what differs between the folder's files and the sums of the card.
func verify(files map[string][]byte, sums map[string]sum) []string {
	var wrong []string
	for name, data := range files {
		want, ok := sums[name]
		if !ok {
			wrong = append(wrong, name+": not on the card")
			continue
		}
		h := sha256.Sum256(data)
		if got := hex.EncodeToString(h[:]); len(data) != want.bytes || got != want.sha256 {
			wrong = append(
				wrong,
				fmt.Sprintf(
					"%s: %d bytes, SHA-256 %s; the card says %d, %s", name, len(data), got, want.bytes,
					want.sha256,
				),
			)
		}
	}
	for name := range sums {
		if _, ok := files[name]; !ok {
			wrong = append(wrong, name+": on the card, but not in the folder")
		}
	}
	return wrong
}

// folders are the models of the program.
var folders = map[string]fs.FS{"default": Default(), "small": Small()}

func readAll(t *testing.T, model fs.FS) (files map[string][]byte, card string) {
	t.Helper()
	files = map[string][]byte{}
	err := fs.WalkDir(model, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(model, path)
		switch path {
		case "README.md":
			card = string(data)
			return err
		}
		files[path] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, card
}

func TestFilesMatchTheCard(t *testing.T) {
	for folder, model := range folders {
		files, card := readAll(t, model)
		for _, w := range verify(files, cardSums(card)) {
			t.Errorf("%s: %s", folder, w)
		}
		for _, name := range []string{"model.onnx", "model.safetensors", "config.json", "vocab.txt", "tokenizer_config.json"} {
			if _, ok := files[name]; !ok {
				t.Errorf("%s: %s is missing", folder, name)
			}
		}
	}
}

// TestSize holds what the models add to the program and to every clone.
func TestSize(t *testing.T) {
	total := int64(0)
	for _, m := range All() {
		total += m.Bytes()
	}
	if total < 60e6 || total > 70e6 {
		t.Errorf("the models have %d bytes, want at most 70 million", total)
	}
}

// TestOneVocabulary checks that one model's ids mean the same pieces to the other.
func TestOneVocabulary(t *testing.T) {
	var all [2][]byte
	for i, m := range []fs.FS{Default(), Small()} {
		var err error
		if all[i], err = fs.ReadFile(m, "vocab.txt"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("vocab.txt of small is not that of default")
	}
}

func TestVerifyNoticesChanges(t *testing.T) {
	good := "| `a` | 1 | `" + hex.EncodeToString(
		func() []byte { h := sha256.Sum256([]byte("x")); return h[:] }(),
	) + "` |\n"
	sums := cardSums(good)
	for _, c := range []struct {
		files map[string][]byte
		wrong int
	}{
		{map[string][]byte{"a": []byte("x")}, 0},
		{map[string][]byte{"a": []byte("y")}, 1},
		{map[string][]byte{"a": []byte("x"), "b": nil}, 1},
		{map[string][]byte{}, 1},
	} {
		if w := verify(c.files, sums); len(w) != c.wrong {
			t.Errorf("verify(%q) = %q, want %d differences", c.files, w, c.wrong)
		}
	}
}

// TestWeights checks that the parts fit one another: tensors of the shapes that config.json
// gives, one vocabulary entry for each row of the table.
func TestWeights(t *testing.T) {
	for folder, model := range folders {
		t.Run(folder, func(t *testing.T) { testWeights(t, model) })
	}
}

func testWeights(t *testing.T, model fs.FS) {
	files, _ := readAll(t, model)
	var config struct {
		Hidden int `json:"hidden_size"`
		Layers int `json:"num_hidden_layers"`
		Vocab  int `json:"vocab_size"`
	}
	if err := json.Unmarshal(files["config.json"], &config); err != nil {
		t.Fatal(err)
	}
	weights := files["model.safetensors"]
	if len(weights) < 8 {
		t.Fatalf("model.safetensors has %d bytes", len(weights))
	}
	n := binary.LittleEndian.Uint64(weights)
	if n > uint64(len(weights)-8) {
		t.Fatalf("model.safetensors: header of %d bytes in a file of %d", n, len(weights))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(weights[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	var table struct {
		Type  string `json:"dtype"`
		Shape [2]int `json:"shape"`
	}
	if err := json.Unmarshal(header["bert.embeddings.word_embeddings.weight"], &table); err != nil {
		t.Fatal(err)
	}
	if table.Type != "F16" || table.Shape != [2]int{config.Vocab, config.Hidden} {
		t.Errorf(
			"table is %s %v, config.json says %d x %d", table.Type, table.Shape, config.Vocab, config.Hidden,
		)
	}
	last := fmt.Sprintf("bert.encoder.layer.%d.output.dense.weight", config.Layers-1)
	if _, ok := header[last]; !ok {
		t.Errorf("%s is missing", last)
	}
	pieces := strings.Split(strings.TrimSuffix(string(files["vocab.txt"]), "\n"), "\n")
	if len(pieces) != config.Vocab {
		t.Errorf("vocab.txt has %d pieces, config.json says %d", len(pieces), config.Vocab)
	}
	seen := map[string]bool{}
	for _, p := range pieces {
		if p == "" || seen[p] {
			t.Errorf("vocab.txt: piece %q is empty or there twice", p)
		}
		seen[p] = true
	}
	if len(files["model.onnx"]) > 600_000 {
		t.Errorf(
			"model.onnx has %d bytes; the weights belong into model.safetensors", len(files["model.onnx"]),
		)
	}
}
