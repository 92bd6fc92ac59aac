package jsonl

import (
	"fmt"
	"strconv"
	"strings"
)

// A Path says where texts lie in a record of JSON: "text", "review.text", "messages[].content" for
// that of each element, "messages[role=user].content" for the elements with such a member, or
// "[0]" for the first element of a record that is a list.
type Path []step

// A step goes from a value to a member, or to elements of a list.
type step struct {
	name        string // of a member
	list        bool
	index       int    // of the only element, −1 for all
	where, like string // a member of the elements and its text, "" for all
}

// ParsePath reads a path. A name that some record has as it is need not be one: see [Path.Find].
func ParsePath(s string) (Path, error) {
	var out Path
	for rest := s; rest != ""; {
		if inside, ok := strings.CutPrefix(rest, "["); ok {
			inside, after, closed := strings.Cut(inside, "]")
			if !closed {
				return nil, fmt.Errorf("%q has no ] for its [", s)
			}
			st := step{list: true, index: -1}
			if n, err := strconv.Atoi(inside); err == nil && n >= 0 {
				st.index = n
			} else if st.where, st.like, _ = strings.Cut(inside, "="); inside != "" && st.like == "" {
				return nil, fmt.Errorf("%q: want [], a number as in [0], or a member as in [role=user]", s)
			}
			out, rest = append(out, st), strings.TrimPrefix(after, ".")
			continue
		}
		n := strings.IndexAny(rest, ".[")
		if n < 0 {
			n = len(rest)
		}
		if n == 0 {
			return nil, fmt.Errorf("%q has a step without a name", s)
		}
		out, rest = append(out, step{name: rest[:n]}), strings.TrimPrefix(rest[n:], ".")
	}
	return out, nil
}

// Find are the values at the path, in order, with the path of each.
func (p Path) Find(root *Node) (found []*Node, paths []string) {
	if root == nil {
		return nil, nil
	}
	found, paths = []*Node{root}, []string{""}
	for _, st := range p {
		var next []*Node
		var names []string
		for i, n := range found {
			if kid := n.Member(st.name); !st.list && kid != nil {
				next, names = append(next, kid), append(names, strings.TrimPrefix(paths[i]+"."+st.name, "."))
			}
			if !st.list || n.Kind != '[' {
				continue
			}
			for k, kid := range n.Kids {
				if st.index < 0 || k == st.index {
					if w := kid.Member(st.where); st.where == "" || w != nil && w.Text == st.like {
						next, names = append(next, kid), append(names, fmt.Sprintf("%s[%d]", paths[i], k))
					}
				}
			}
		}
		found, paths = next, names
	}
	return found, paths
}
