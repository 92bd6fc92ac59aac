package batch

import (
	"bytes"
	"errors"
	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestCompressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := inputtest.Sentences(200)
	plain := inputtest.Write(t, filepath.Join(dir, "in.txt"), text)
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, err := zstd.NewWriter(&zs)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := filepath.Join(dir, "want.jsonl")
	if _, _, err := process(t, plain, want, config{}); err != nil {
		t.Fatal(err)
	}
	for suffix, data := range map[string]string{".gz": gz.String(), ".zst": zs.String()} {
		in := inputtest.Write(t, filepath.Join(dir, "in.txt"+suffix), data)
		out := filepath.Join(dir, "out.jsonl"+suffix)
		if _, _, err := process(t, in, out, config{}); err != nil {
			t.Fatal(err)
		}
		r, err := input.Open(out, nil, input.Options{Format: settings.FormatText})
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for {
			it, err := r.Next()
			if err == io.EOF {
				break
			}
			if err = errors.Join(err, it.Err); err != nil {
				t.Fatal(err)
			}
			got = append(got, it.Text+"\n"...)
		}
		if !bytes.Equal(got, inputtest.Read(t, want)) {
			t.Errorf("%s: other records", suffix)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		// A file that breaks off is trouble, not the end of the input.
		torn := inputtest.Write(t, filepath.Join(dir, "torn.txt"+suffix), data[:len(data)-len(data)/3])
		if _, _, err := process(t, torn, filepath.Join(dir, "torn.jsonl"+suffix), config{}); err == nil ||
			!strings.Contains(err.Error(), "torn.txt") {
			t.Errorf("%s: torn input: %v", suffix, err)
		}
	}
}
