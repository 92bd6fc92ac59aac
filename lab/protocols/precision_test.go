package protocols

import (
	"slices"
	"testing"
)

// Precisions are joined where no seed has two of them. Whatever seeds a group then has runs enough
// of, it says which of them are in bf16.
func TestJoined(t *testing.T) {
	for name, c := range map[string]struct {
		seeds  map[string][]uint64 // by precision
		part   uint64              // the seed that has filled one sentence of four
		abouts []string
	}{
		"one precision":    {map[string][]uint64{"bf16": {1, 2}}, 0, []string{", chains in bf16"}},
		"seeds of its own": {map[string][]uint64{"bf16": {1}, "": {2}}, 0, []string{", chains of seed 1 in bf16"}},
		"two and one": {map[string][]uint64{"bf16": {1, 2}, "": {3}}, 0,
			[]string{", chains of seeds 1 to 2 in bf16"}},
		"the other has just begun": {map[string][]uint64{"bf16": {1}, "": {2}}, 2,
			[]string{", chains of seed 1 in bf16"}},
		"fp32 first, and bf16 has just begun": {map[string][]uint64{"": {1}, "bf16": {2}}, 2, []string{""}},
		"a seed in both":                      {map[string][]uint64{"": {1, 2}, "bf16": {2}}, 0, []string{"", ", chains in bf16"}},
	} {
		var all []record
		for precision, seeds := range c.seeds {
			for _, seed := range seeds {
				for _, r := range runs() {
					if r.Seed != 1 || seed == c.part && r.Sentence != runs()[0].Sentence {
						continue
					}
					r.Seed, r.Precision = seed, precision
					all = append(all, r)
				}
			}
		}
		groups, group := map[key][]record{}, joined(all)
		for _, r := range all {
			groups[group[r.group()]] = append(groups[group[r.group()]], r)
		}
		var got []string
		for g, rs := range groups {
			m, err := (&pager{top: 5}).measure(g, rs, []string{"a", "b"})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m.about())
		}
		slices.Sort(got)
		if !slices.Equal(got, c.abouts) {
			t.Errorf("%s: %q, want %q", name, got, c.abouts)
		}
	}
}
