package hub

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"infill/models"
)

func TestVerifyFolder(t *testing.T) {
	// A model of the program by its card.
	checks, err := VerifyFolder(t.Context(), models.Small())
	if err != nil || faults(checks) != 0 || len(checks) != 6 { // five and lengths.safetensors
		t.Errorf("%+v, %v", checks, err)
	}
	for _, c := range checks {
		if c.Result != right || c.By != "README.md" {
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
		strings.Join(got, ", ") != want || faults(checks) != 2 {
		t.Errorf("%q, %v", got, err)
	}
	for name, bad := range map[string]fstest.MapFS{
		"nothing":       {"model.onnx": {}},
		"plain card":    {"README.md": {Data: []byte("# A model\n")}},
		"other lines":   {"SHA256SUMS": {Data: []byte("hello\n")}},
		"outside":       {"SHA256SUMS": {Data: []byte(a + "  ../x\n")}},
		"outside, card": {"README.md": {Data: []byte("| `../x` | 1 | `" + a + "` |\n")}},
		"huge":          {"README.md": {Data: make([]byte, maxRecord+1)}},
	} {
		if _, err := VerifyFolder(t.Context(), bad); !errors.Is(err, errUnverified) {
			t.Errorf("%s: %v", name, err)
		}
	}
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
