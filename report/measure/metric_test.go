package measure

import (
	"encoding/json"
	"math"
	"testing"
)

// JSON has no numbers that are not finite.
func TestSeriesJSON(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(series{1, math.NaN(), math.Inf(-1)})
	if err != nil || string(b) != "[1,null,null]" {
		t.Errorf("%s, %v", b, err)
	}
}
