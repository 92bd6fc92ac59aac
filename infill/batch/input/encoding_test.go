package input

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
)

// Files in other encodings have the records of the file in UTF-8, whole and by shards.
func TestEncoding(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const csv, lines = "id,text\n1,“Café” [MASK].\n2,€ 5 [MASK].\n", "Ein [MASK] für 5 €.\nZwei [MASK].\n"
	wide := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()
	for _, c := range []struct {
		name, encoding, text string
		encode               func(string) (string, error)
	}{
		{"a.csv", "windows-1252", csv, charmap.Windows1252.NewEncoder().String},
		{"b.txt", "windows-1252", lines, charmap.Windows1252.NewEncoder().String},
		{"c.txt", "utf-16le", lines, wide.String},
		{"d.csv", "utf-16le", csv, wide.String},
	} {
		raw, err := c.encode(c.text)
		if err != nil {
			t.Fatal(err)
		}
		path := inputtest.Write(t, filepath.Join(dir, c.name), raw)
		want := texts(t, inputtest.Write(t, filepath.Join(dir, "utf8"+c.name), c.text), Options{})
		got := texts(t, path, Options{Encoding: c.encoding})
		for n := range 2 {
			got = append(got, texts(t, path, Options{Encoding: c.encoding,
				Shard: settings.Shard{Index: n, Of: 2}})...)
		}
		if len(want) != 2 || len(got) != 4 {
			t.Fatalf("%s: %q, want %q twice", c.name, got, want)
		}
		for i := range got {
			if got[i] != want[i%2] {
				t.Errorf("%s: %q, want %q", c.name, got[i], want[i%2])
			}
		}
	}
	var bad *settings.Error
	if _, err := Open(filepath.Join(dir, "a.csv"), nil, Options{Encoding: "klingon"}); !errors.As(err, &bad) {
		t.Error(err)
	}
}

// texts are the texts of a file.
func texts(t *testing.T, path string, o Options) (out []string) {
	t.Helper()
	in, err := Open(path, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // only read from
	for {
		it, err := in.Next()
		if err == io.EOF {
			return out
		}
		if err != nil || it.Err != nil {
			t.Fatal(err, it.Err)
		}
		out = append(out, it.Text)
	}
}
