package testmode_test

import (
	"testing"

	"infill/internal/testmode"
)

func TestModes(t *testing.T) {
	skipped := func(all string, f func(testing.TB)) bool {
		t.Setenv("INFILL_TEST_ALL", all)
		skips := false
		t.Run("inner", func(t *testing.T) {
			defer func() { skips = t.Skipped() }()
			f(t)
		})
		return skips
	}
	for _, c := range []struct {
		all  string
		want bool
	}{{"", true}, {"0", true}, {"1", false}} {
		if got := skipped(c.all, testmode.Long); got != c.want {
			t.Errorf("INFILL_TEST_ALL=%q: Long skips %v, want %v", c.all, got, c.want)
		}
	}
	if !skipped("1", func(t testing.TB) { testmode.Missing(t, "a folder") }) {
		t.Error("Missing does not skip")
	}
}
