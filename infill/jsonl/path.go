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

// A Place is a value of JSON in another one, with its path and the innermost object around it, or
// the outermost value where there is none.
type Place struct {
	Path               string
	Root, Within, Node *Node
}

// Find are the values at the path, in order.
func (p Path) Find(root *Node) []Place {
	if root == nil {
		return nil
	}
	found := []Place{{"", root, root, root}}
	for _, st := range p {
		var next []Place
		for _, at := range found {
			if kid := at.Node.Member(st.name); !st.list && kid != nil {
				path := strings.TrimPrefix(at.Path+"."+st.name, ".")
				next = append(next, Place{path, root, at.Node, kid})
			}
			if !st.list || at.Node.Kind != '[' {
				continue
			}
			for k, kid := range at.Node.Kids {
				w := kid.Member(st.where)
				if (st.index < 0 || k == st.index) && (st.where == "" || w != nil && w.Text == st.like) {
					next = append(next, Place{fmt.Sprintf("%s[%d]", at.Path, k), root, at.Within, kid})
				}
			}
		}
		found = next
	}
	return found
}
