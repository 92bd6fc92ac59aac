package measure

import (
	"encoding/json"
	"math"
	"testing"
)

// JSON has no numbers that are not finite.
func TestSeriesJSON(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(Series{1, math.NaN(), math.Inf(-1)})
	if err != nil || string(b) != "[1,null,null]" {
		t.Errorf("%s, %v", b, err)
	}
}

// The ends are printed where half the width would say something false.
func TestHalf(t *testing.T) {
	for want, m := range map[string]Metric{
		"±2.0":       {Value: 10, Low: 8.1, High: 12.1, Decimals: 1},
		"(2.0–50.0)": {Value: 10, Low: 2, High: 50, Decimals: 1},
		"±24.0":      {Value: 10, Low: 2, High: 50, Decimals: 1, Less: true},
	} {
		if m.Half() != want {
			t.Errorf("got %s, want %s", m.Half(), want)
		}
	}
}
