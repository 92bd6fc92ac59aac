package mlm

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"infill/internal/ort/orttest"
	"infill/models"
)

// What makes a model's results doubtful is named, by Open and by Inspect alike.
func TestWarnings(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	edit := func(name, old, now string) func(*testing.T, fstest.MapFS) {
		return func(t *testing.T, files fstest.MapFS) {
			b := bytes.Replace(files[name].Data, []byte(old), []byte(now), 1)
			if bytes.Equal(b, files[name].Data) {
				t.Fatalf("%s has no %q", name, old)
			}
			files[name] = &fstest.MapFile{Data: b}
		}
	}
	vocab := strings.Split(string(tinyFiles(t)["vocab.txt"].Data), "\n")
	last := vocab[len(vocab)-2] // a line end comes last
	for _, c := range []struct {
		name   string
		change func(*testing.T, fstest.MapFS)
		want   []string // of one warning; nil: none
	}{
		{"as it is", func(*testing.T, fstest.MapFS) {}, nil},
		{"vocab_size", edit("config.json", `"vocab_size": 70`, `"vocab_size": 7`), []string{"vocab_size 7", "70 logits"}},
		{"hidden_size", edit("config.json", `"hidden_size": 32`, `"hidden_size": 768`), []string{"hidden_size 768", "width 32"}},
		{"a factorised table", edit("config.json", `"hidden_size": 32`, `"hidden_size": 64, "embedding_size": 32`), nil},
		{"a piece twice", edit("vocab.txt", "\n"+last+"\n", "\n"+vocab[len(vocab)-3]+"\n"),
			[]string{"1 of its pieces", fmt.Sprintf("%q", vocab[len(vocab)-3])}},
	} {
		files := tinyFiles(t)
		c.change(t, files)
		m, err := Open(t.Context(), files, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := m.Info().Warnings
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		info, problems := Inspect(files, "")
		if len(problems) > 0 || !slices.Equal(info.Warnings, got) {
			t.Errorf("%s: Inspect warns of %q, Open of %q; %v", c.name, info.Warnings, got, problems)
		}
		if c.want == nil && len(got) == 0 {
			continue
		}
		if len(got) != 1 || c.want == nil {
			t.Errorf("%s: %q", c.name, got)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(got[0], w) {
				t.Errorf("%s: no %q in %q", c.name, w, got[0])
			}
		}
	}
	if info, _ := Inspect(models.Small(), ""); len(info.Warnings) > 0 {
		t.Errorf("the model small: %q", info.Warnings)
	}
}
