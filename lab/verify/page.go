package verify

import (
	"fmt"
	"strings"
)

// cut returns the sections of a page that a run with this seed wrote, each with its heading. The
// error says what the page lacks.
func cut(page string, sections []section, seed uint64) ([]string, error) {
	const remedy = "write the whole page, without -only"
	rest, ok := strings.CutPrefix(page, text("preamble", seed))
	if !ok {
		return nil, fmt.Errorf("the page does not begin as one of seed %d does; give the seed that it "+
			"names, or %s", seed, remedy)
	}
	out := make([]string, len(sections))
	for i, s := range sections {
		before, after, ok := strings.Cut(rest, s.heading())
		if !ok {
			return nil, fmt.Errorf("the page has no section %q in its place; %s", s.id+". "+s.title, remedy)
		}
		if i > 0 {
			out[i-1] += before
		} else if before != "" {
			return nil, fmt.Errorf("the page has %q before its first section; %s",
				strings.TrimSpace(before), remedy)
		}
		out[i], rest = s.heading(), after
	}
	out[len(out)-1] += rest
	return out, nil
}
