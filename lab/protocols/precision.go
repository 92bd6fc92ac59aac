package protocols

import (
	"fmt"
	"maps"
)

// A stretch is seeds that follow one another and whose chains have one precision.
type stretch struct {
	first, last uint64
	precision   string // as in the records
}

// joined gives the groups of all records. Where no seed has two precisions, their runs are of one
// group, which names none. So a machine without bf16 can go on where another has stopped.
func joined(all []record) map[key]key {
	seeds := map[key]map[key]map[uint64]bool{} // by group without precision, and by group
	for _, r := range all {
		own := r.group()
		bare := own
		bare.Precision = ""
		if seeds[bare] == nil {
			seeds[bare] = map[key]map[uint64]bool{}
		}
		if seeds[bare][own] == nil {
			seeds[bare][own] = map[uint64]bool{}
		}
		seeds[bare][own][r.Seed] = true
	}
	out := map[key]key{}
	for bare, groups := range seeds {
		apart, n := map[uint64]bool{}, 0
		for _, some := range groups {
			maps.Copy(apart, some)
			n += len(some)
		}
		for own := range groups {
			out[own] = own
			if len(groups) > 1 && len(apart) == n {
				out[own] = bare
			}
		}
	}
	return out
}

// stretches are the seeds of the group, by their precision.
func (m *measured) stretches() []stretch {
	var out []stretch
	for _, seed := range m.seeds {
		r := m.runs[key{Sampler: m.samplers[0], Sentence: m.sentences[0], Seed: seed}]
		if n := len(out) - 1; n >= 0 && out[n].last+1 == seed && out[n].precision == r.Precision {
			out[n].last = seed
			continue
		}
		out = append(out, stretch{seed, seed, r.Precision})
	}
	return out
}

// flags ask for the runs of the seeds.
func (s stretch) flags() string {
	out := ""
	if s.precision != "" {
		out = " -precision " + s.precision
	}
	if s.first > 1 {
		return out + fmt.Sprintf(" -seeds %d-%d", s.first, s.last)
	}
	return out + fmt.Sprintf(" -seeds %d", s.last)
}

// about is [key.about] of the group. Where precisions are joined, it names the seeds of those that
// are not fp32.
func (m *measured) about() string {
	about := m.key.about()
	if m.Precision != "" { // of all seeds
		return about
	}
	for _, s := range m.stretches() {
		switch {
		case s.precision == "":
		case s.first == s.last:
			about += fmt.Sprintf(", chains of seed %d in %s", s.first, s.precision)
		default:
			about += fmt.Sprintf(", chains of seeds %d to %d in %s", s.first, s.last, s.precision)
		}
	}
	return about
}
