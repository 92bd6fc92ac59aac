package settings

import (
	"errors"
	"strings"
	"testing"
)

func TestParseShard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Shard{"": {}, "0/1": {0, 1}, "0/8": {0, 8}, "7/8": {7, 8},
		"999999/1000000": {999999, 1000000}} {
		if s, err := parseShard(text); err != nil || s != want || s.String() != text {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	for _, text := range []string{"/", "1", "8/8", "0/0", "-1/8", "+1/8", "1/8/2", "1/-8", " 1/8", "1/8 ",
		"a/b", "0/1000001", "4294967296/8", "1.0/8", "/8"} {
		_, err := parseShard(text)
		if !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), "0/8 is the first and 7/8 the last") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What is read is written again as it was.
func FuzzParseShard(f *testing.F) {
	for _, s := range []string{"", "0/8", "8/8", "007/8", "1/8/1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseShard(text)
		switch {
		case err != nil && !errors.Is(err, ErrSetting):
			t.Fatal(err)
		case err != nil:
			return
		case !s.Whole() && (s.Index < 0 || s.Index >= s.Of || s.Of > maxShards):
			t.Fatalf("%q is %+v", text, s)
		}
		if again, err := parseShard(s.String()); err != nil || again != s {
			t.Fatalf("%q is %+v, then %+v, %v", text, s, again, err)
		}
	})
}
