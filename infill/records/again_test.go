package records

import (
	"bytes"
	"infill/infill/jsonl"
	"strings"
	"testing"
)

// bytesAgain is a record as it is written, with the given part, and read and written again to the
// same bytes.
func bytesAgain(t *testing.T, rec jsonl.Record, part string) string {
	t.Helper()
	b, err := jsonl.Append(nil, rec)
	if err != nil || !strings.Contains(string(b), part) {
		t.Fatalf("%v\n%s\nwant\n%s", err, b, part)
	}
	again, err := jsonl.Decoder{}.Record(1, b)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := jsonl.Append(nil, again); err != nil || !bytes.Equal(b, second) {
		t.Errorf("%v\n%s\n%s", err, b, second)
	}
	return string(b)
}

// A spoilt line has something else in the place of a part of it, which the error has to name.
type spoilt struct{ old, bad, field string }

// refused reads spoilt lines.
func refused(t *testing.T, line string, all ...spoilt) {
	t.Helper()
	for _, c := range all {
		bad := strings.Replace(line, c.old, c.bad, 1)
		if bad == line {
			t.Errorf("%s is not in the line", c.old)
		}
		_, err := jsonl.Decoder{}.Record(1, []byte(bad))
		if err == nil || !strings.Contains(err.Error(), `"`+c.field+`"`) {
			t.Errorf("%s: %v, want %s", c.bad, err, c.field)
		}
	}
}
