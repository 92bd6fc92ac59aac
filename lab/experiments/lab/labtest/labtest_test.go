package labtest

import (
	"context"
	"fmt"
	"testing"

	"infill/lab/experiments/lab"
)

// TestQuick accepts a page that is the same for all numbers of threads, and none that differs.
func TestQuick(t *testing.T) {
	t.Parallel()
	made := func(text, chart func(threads int) string) lab.Experiment {
		return lab.Experiment{Name: "made", Run: func(_ context.Context, o lab.Options,
		) (*lab.Page, error) {
			return &lab.Page{Text: "![a](made/a.svg)" + text(o.Threads),
				Charts: map[string]string{"a.svg": chart(o.Threads)}}, nil
		}}
	}
	still := func(int) string { return "{0,1}" }
	moves := func(threads int) string { return fmt.Sprint(threads) }
	Quick(t, made(still, still), 1, 2)
	for _, e := range []lab.Experiment{made(moves, still), made(still, moves)} {
		if _, err := same(e, []int{1, 2}); err == nil {
			t.Error("a page that depends on the threads was accepted")
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	e := lab.Experiment{Name: "made"}
	for _, p := range []lab.Page{
		{Text: "a {table}"}, {Text: "| NaN |"}, {Text: "+Inf"},
		{Text: "(other/a.svg)", Charts: map[string]string{"a.svg": ""}},
	} {
		if Complete(e, &p) == nil {
			t.Errorf("accepted %q", p.Text)
		}
	}
}
