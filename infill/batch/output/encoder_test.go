package output

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
	"infill/internal/unpack"
)

// An output in another encoding is the one in UTF-8, with escapes of what the encoding lacks. Long
// texts are written in parts that cut characters.
func TestOutputEncoding(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), "É → 😀\n"+strings.Repeat("日é→", 2000)+"\nbad\n")
	for encoding, lacks := range map[string][]string{
		"windows-1252": {"→", `\u2192`, "日", `\u65e5`, "😀", `\ud83d\ude00`},
		"iso-2022-jp":  {"é", `\u00e9`, "É", `\u00c9`, "😀", `\ud83d\ude00`}, "utf-16le": nil, "utf-8": nil,
	} {
		e, err := htmlindex.Get(encoding)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a.jsonl", "a.json", "a.csv", "a.tsv", "a.txt", "a.jsonl.gz", "a.csv.zst"} {
			var got [2]string
			for i, l := range []Layout{{}, {Encoding: encoding}} {
				path := filepath.Join(dir, encoding+l.Encoding+name)
				_, out, err := process(t, in, path, config{do: filled, layout: l})
				if err != nil {
					t.Fatal(err)
				}
				if n, _, _ := out.Escaped(); (n > 0) != (i == 1 && lacks != nil) {
					t.Errorf("%s: %d escapes", path, n)
				}
				r, err := unpack.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := io.ReadAll(r)
				if l.Encoding != "" && err == nil {
					raw, err = e.NewDecoder().Bytes(raw)
				}
				if got[i] = string(raw); errors.Join(err, r.Close()) != nil {
					t.Fatal(err)
				}
			}
			if want := strings.NewReplacer(lacks...).Replace(got[0]); got[1] != want || len(want) < 10_000 {
				t.Errorf("%s in %s: %.200q, want %.200q", name, encoding, got[1], want)
			}
		}
	}
	text, err := input.Open(in, nil, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close() //nolint:errcheck // only read from
	var b bytes.Buffer
	out, err := Layout{Format: settings.FormatText, Encoding: "latin1"}.Stream(&b, text)
	if err == nil {
		err = errors.Join(each(text, out, config{do: filled, ctx: t.Context()}, &Progress{}), out.Close(true))
	}
	if !strings.HasPrefix(b.String(), "\xc9 \\u2192 ") || err != nil {
		t.Errorf("a stream: %.40q, %v", b.String(), err)
	}
	for name, l := range map[string]Layout{"a.parquet": {Encoding: "latin1"}, "a.csv": {Encoding: "klingon"},
		"b.csv": {Encoding: "hz-gb-2312"}} { // which browsers do not read
		if _, err := l.Found(name); err == nil {
			t.Errorf("%s in %s", name, l.Encoding)
		}
	}
	if _, _, err := process(t, in, filepath.Join(dir, "s.jsonl"), config{do: filled,
		layout: Layout{Encoding: "latin1"}, shard: settings.Shard{Of: 2}}); !errors.Is(err, ErrLayout) {
		t.Errorf("a shard: %v", err)
	}
}
