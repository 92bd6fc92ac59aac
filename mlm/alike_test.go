package mlm

import (
	"context"
	"slices"
	"testing"
)

// TestSharingChangesNothing: what is computed once for all positions that are
// alike has the bits that it has when it is computed for each.
func TestSharingChangesNothing(t *testing.T) {
	for name, o := range map[string]options{"plain": {}, "int8": of(Options{Precision: Int8}),
		"little memory": of(Options{LowMemory: true}), "table as it lies": {looseTable: true}} {
		t.Run(name, func(t *testing.T) {
			shared := openTiny(t, o)
			o.unshared = true
			o.BatchTokens = 1 // one unit a batch
			each := openTiny(t, o)
			for i, n := range []int{1, 2, 3, 4, 9, 20, 38} {
				s, states := randomStates(shared, uint64(i), n, min(n, 1+i%4), 9)
				if !slices.Equal(everything(t, shared, s, states), everything(t, each, s, states)) {
					t.Errorf("%d pieces, %d blanks: other bits", n, len(s.Blanks))
				}
			}
			for _, w := range works(each) {
				if w == (Work{}) && !each.info.Gradients {
					continue
				}
				if w.Distinct != w.Tokens || w.Tokens == 0 {
					t.Errorf("without sharing: %+v", w)
				}
			}
			for _, w := range works(shared) {
				if w == (Work{}) && !shared.info.Gradients {
					continue
				}
				if w.Distinct >= w.Tokens/2 || w.Distinct == 0 {
					t.Errorf("with sharing: %+v", w)
				}
			}
		})
	}
}

func works(m *Model) []Work {
	e, c, g := m.Work()
	return []Work{e, c, g}
}

// TestDistinctPositions: the shared part is computed for every piece that a
// place has in any row of a call, and for nothing else.
func TestDistinctPositions(t *testing.T) {
	t.Parallel()
	for blanks := 2; blanks < 6; blanks++ {
		m := openTiny(t, of(Options{BatchTokens: 1 << 20}))
		s, states := randomStates(m, 5, 20, blanks, 7)
		seen := map[[2]int32]bool{}
		for j := range s.Blanks {
			seen[[2]int32{int32(j), m.info.MaskID}] = true
			for _, st := range states {
				seen[[2]int32{int32(j), st[j]}] = true
			}
		}
		want := int64(len(s.IDs) - blanks + len(seen))
		lp, grad := table(len(states), blanks), table(len(states), blanks*m.VocabSize())
		if err := m.Gradient(context.Background(), s, states, Full, lp, grad); err != nil {
			t.Fatal(err)
		}
		if _, _, g := m.Work(); g.Runs != 1 || g.Distinct != want {
			t.Errorf("%d blanks: %+v, want %d distinct", blanks, g, want)
		}
	}
}
