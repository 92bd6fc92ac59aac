package infill

import (
	"reflect"
	"testing"

	"infill/infill/text"
)

// Of options that are alike a template is searched once: the second result is the first, without a
// row evaluated, and a change of a result is none of what is remembered. Draws, and options that
// nothing names, are computed each time.
func TestAlike(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	fill := func(opt Options) *Result {
		t.Helper()
		r, err := e.FillText(t.Context(), "The [MASK] sat by the [MASK].", opt)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := fill(Options{Alike: "a", Seed: 1, ID: "1"})
	want := *first
	want.Fillings = append([]Filling(nil), first.Fillings...)
	first.Fillings[0].Text = "changed"
	again := fill(Options{Alike: "a", Seed: 2, ID: "2"})
	if again.Evaluated != 0 || again.Fresh != 0 {
		t.Errorf("%d rows were evaluated again", again.Evaluated)
	}
	again.Evaluated, again.Fresh = want.Evaluated, want.Fresh
	for _, r := range []*Result{again, &want} { // of a search both are NaN
		r.MoveShare, r.Acceptance = 0, 0
	}
	if !reflect.DeepEqual(*again, want) {
		t.Errorf("%+v\nwant %+v", *again, want)
	}
	var told []Method
	watch := WatchOptions{Chosen: func(m Method) error { told = append(told, m); return nil }}
	fill(Options{Alike: "a", Watch: watch})
	if !reflect.DeepEqual(told, []Method{MethodSearch}) {
		t.Errorf("told of %v", told)
	}
	// Other options, other words that stood there, no name, draws: the memo of rows is empty then.
	for name, opt := range map[string]Options{
		"other":    {Alike: "b"},
		"original": {Alike: "a", Words: WordOptions{Original: []string{"dog", "house"}}},
		"none":     {},
		"draws": {Alike: "a", Method: MethodSample,
			Sampling: SamplingOptions{Chains: 2, Steps: 2}},
	} {
		for range 2 {
			e.memo.Forget()
			fill(Options{Alike: "a"})
			if r := fill(opt); r.Rows == 0 {
				t.Errorf("%s: %d rows", name, r.Rows)
			} else if key, _ := text.Parse(e.Tokenizer(), "The [MASK] sat by the [MASK]."); filledKey(key,
				&opt) == filledKey(key, &Options{Alike: "a"}) {
				t.Errorf("%s: has the key of others", name)
			}
		}
	}
	// Without a memo, and with one that has no room, it is computed.
	for _, bytes := range []int64{0, 10} {
		e := New(tiny(t)).WithMemo(bytes)
		for range 2 {
			r, err := e.FillText(t.Context(), "The [MASK] sat by the [MASK].", Options{Alike: "a"})
			if err != nil || r.Evaluated == 0 || !reflect.DeepEqual(r.Fillings, want.Fillings) {
				t.Errorf("a memo of %d bytes: %v, %d rows", bytes, err, r.Evaluated)
			}
		}
	}
}
