package infill

import "testing"

// With a full stop that is shown, fillings and scores are the same as for the text with the stop,
// and the stop is not in the text. A title is filled as it is written.
func TestShownEnd(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	fill := func(line string, end bool) *Result {
		t.Helper()
		r, err := e.FillText(t.Context(), line, Options{EndShown: end})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, line := range []string{"My favorite food is [MASK]", "The [MASK] was on the [MASK]",
		"She is a [MASK|doctor|very good doctor]"} {
		shown, full := fill(line, true), fill(line+".", false)
		if shown.Shown != "." || full.Shown != "" || len(shown.Fillings) != len(full.Fillings) {
			t.Errorf("%s: %q and %q are shown", line, shown.Shown, full.Shown)
		}
		for i, f := range shown.Fillings {
			g := full.Fillings[i]
			if f.Text+"." != g.Text || f.Score != g.Score || f.Probability != g.Probability ||
				f.Recut != g.Recut {
				t.Errorf("%s: %+v, want %+v", line, f, g)
			}
		}
		if plain := fill(line, false); plain.Shown != "" ||
			plain.Fillings[0].Score == shown.Fillings[0].Score {
			t.Errorf("%s: %+v", line, plain)
		}
	}
	const title = "The Lord of the [MASK]"
	shown, plain := fill(title, true), fill(title, false)
	if shown.Shown != "" || shown.Fillings[0].Score != plain.Fillings[0].Score {
		t.Errorf("%+v, want %+v", shown, plain)
	}
}
