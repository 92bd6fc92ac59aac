package choosing

import (
	"math"
	"testing"

	"infill/infill/request"
)

func TestDiverse(t *testing.T) {
	t.Parallel()
	f := []request.Filling{
		{Text: "a", Score: -2, IDs: []int32{1, 2}},
		{Text: "b", Score: -2.2, IDs: []int32{1, 2}},
		{Text: "c", Score: -2.4, IDs: []int32{1, 3}},
		{Text: "d", Score: -4.2, IDs: []int32{4, 5}},
		{Text: "e", Score: -18, IDs: []int32{6, 7}},
	}
	// c loses half of λ, b all of it, d nothing: −2.2, −3.1, −2.1.
	got := ""
	for _, x := range diverse(f, 4, false) {
		got += x.Text
	}
	if got != "adcb" {
		t.Errorf("chosen %s", got)
	}
	if s := shared([]int32{1, 1, 2}, []int32{1, 3}); math.Abs(s-1.0/3) > 1e-12 {
		t.Errorf("overlap %v", s)
	}
}
