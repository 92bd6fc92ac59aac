package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"infill/infill/settings"
)

// elements are the elements of an array, "LONG" for one that is too long, and the error that ends
// them.
func elements(r io.Reader, limit int) (out []string, err error) {
	a, err := NewArray(r, limit)
	if err != nil {
		return nil, err
	}
	for {
		b, err := a.Next()
		var row *RowError
		switch {
		case errors.As(err, &row):
			out = append(out, "LONG")
		case err == io.EOF:
			return out, nil
		case err != nil:
			return out, err
		default:
			out = append(out, string(b))
		}
		if a.Row() != len(out) {
			return out, errors.New("the number of a row is not its place")
		}
	}
}

func TestArray(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, want, says string
	}{
		{"[]", "", ""},
		{"\ufeff [ \n]\n", "", ""},
		{`["a", "b]" , "c\"]"]`, `"a"|"b]"|"c\"]"`, ""},
		{"[{\"text\":\n \"x, [y]\", \"a\": [1, {}]},\n1]", `{"text":"x, [y]","a":[1,{}]}|1`, ""},
		{`[{"a":1}, {"b":}, nonsense, {"c":3}]`, `{"a":1}|{"b":}|nonsense|{"c":3}`, ""},
		{`["` + strings.Repeat("x", 50) + `", "b"]`, `LONG|"b"`, ""},
		{`["a",]`, `"a"|`, ""},
		{`["a"`, ``, "unreadable JSON: element 1: the array ends in the middle"},
		{`["a", {"b": "`, `"a"`, "unreadable JSON: element 2: the array ends in the middle"},
		{`["a"] x`, `"a"`, "something follows"},
		{"[] []", "", "something follows"},
		{"", "", "it is empty"},
		{"[", "", "ends in the middle"},
		{`{"a": []}`, "", "not an array"},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			got, err := elements(r, 40)
			if c.says == "" != (err == nil) || err != nil && (!errors.Is(err, ErrTable) ||
				!strings.Contains(err.Error(), c.says)) {
				t.Errorf("%s: %v, want %q", c.in, err, c.says)
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("%s: %q, want %s", c.in, got, c.want)
			}
		}
	}
	broken := errors.New("the disk")
	if _, err := elements(io.MultiReader(strings.NewReader(`["a", "b`), iotest.ErrReader(broken)),
		99); !errors.Is(err, broken) {
		t.Errorf("the error of the reader became %v", err)
	}
}

// An array that encoding/json reads has the elements that it finds.
func FuzzArray(f *testing.F) {
	for _, s := range []string{`["a\"]", {"b": [1, "]"]}, 2]`, "[", "[]]", `["\\"]`, "[,]", "\ufeff[1]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := elements(strings.NewReader(s), 1<<20)
		if err != nil && !errors.Is(err, ErrTable) {
			t.Fatalf("untyped error %v", err)
		}
		var want []json.RawMessage
		if json.Unmarshal([]byte(s), &want) != nil || want == nil {
			return
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: %d elements, %v; want %d", s, len(got), err, len(want))
		}
		for i := range want {
			var flat bytes.Buffer
			if err := json.Compact(&flat, want[i]); err != nil || flat.String() != got[i] {
				t.Fatalf("%q: element %d is %s, want %s", s, i, got[i], flat.String())
			}
		}
	})
}

func TestArrayWriter(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		var out bytes.Buffer
		w := NewArrayWriter(iotest.TruncateWriter(&out, 1<<20))
		for i := range n {
			for _, part := range []string{`{"i":`, string(rune('0' + i)), "}\n"} {
				if _, err := w.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var got []map[string]int
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got) != n {
			t.Errorf("%d lines: %s, %v", n, out.String(), err)
		}
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, settings.FormatJSON, 0, []Column{{"a", Type{Kind: Whole}}, {"b", Type{Kind: Text}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]any{{int64(1), "x"}, {nil, "y"}} {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := elements(&out, 99)
	if err != nil || !slices.Equal(got, []string{`{"a":1,"b":"x"}`, `{"b":"y"}`}) {
		t.Errorf("%q, %v", got, err)
	}
}
