package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Node is a value of JSON with its place.
type Node struct {
	From, To int    // bytes of the JSON
	Kind     byte   // '{', '[', '"' for texts, '0' for numbers, 'n' for null, true and false
	Text     string // of a text, or the digits of a number
	Names    []string
	Kids     []*Node // of Names, or the elements of a list
}

// errDeep is the error of JSON that is nested too deep.
var errDeep = fmt.Errorf("it is nested more than %d deep", defaultDepth)

// Tree is a value of JSON with the places of all values in it.
func Tree(raw []byte) (*Node, error) {
	switch {
	case !utf8.Valid(raw):
		return nil, errors.New("it is not UTF-8")
	case deeper(raw, defaultDepth):
		return nil, errDeep
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	root, err := node(d, raw)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the value")
	}
	return root, nil
}

// First is the first value of JSON that may be cut, or the first element of a list of it; nil if
// there is none.
func First(head []byte, list bool) *Node {
	d := json.NewDecoder(bytes.NewReader(head))
	d.UseNumber()
	if list {
		if _, err := d.Token(); err != nil || !d.More() {
			return nil
		}
	}
	n, err := node(d, head)
	if err != nil || deeper(head[:n.To], defaultDepth) {
		return nil
	}
	return n
}

// node is the next value.
func node(d *json.Decoder, raw []byte) (*Node, error) {
	from := int(d.InputOffset())
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	from += len(raw[from:]) - len(bytes.TrimLeft(raw[from:], " \t\r\n,:"))
	n := &Node{From: from, Kind: 'n'}
	switch v := t.(type) {
	case string:
		n.Kind, n.Text = '"', v
	case json.Number:
		n.Kind, n.Text = '0', v.String()
	case json.Delim:
		n.Kind = byte(v)
		for d.More() {
			if n.Kind == '{' {
				name, err := d.Token()
				if err != nil {
					return nil, err
				}
				n.Names = append(n.Names, name.(string)) // the decoder allows nothing else
			}
			kid, err := node(d, raw)
			if err != nil {
				return nil, err
			}
			n.Kids = append(n.Kids, kid)
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
	}
	n.To = int(d.InputOffset())
	return n, nil
}

// Member is the member of an object, nil if there is none of this name.
func (n *Node) Member(name string) *Node {
	if n == nil || n.Kind != '{' {
		return nil
	}
	if i := slices.Index(n.Names, name); i >= 0 {
		return n.Kids[i]
	}
	return nil
}

// Whole is a number from 0 without a fraction, which may stand in quotes.
func (n *Node) Whole() (int, bool) {
	if n == nil || n.Kind != '0' && n.Kind != '"' {
		return 0, false
	}
	v, err := strconv.Atoi(n.Text)
	return v, err == nil && v >= 0 && strconv.Itoa(v) == n.Text
}

// Texts are the elements of a list of texts.
func (n *Node) Texts() (out []string, ok bool) {
	if n == nil || n.Kind != '[' || len(n.Kids) == 0 {
		return nil, false
	}
	for _, k := range n.Kids {
		if k.Kind != '"' {
			return nil, false
		}
		out = append(out, k.Text)
	}
	return out, true
}

// A Splice puts a text in place of some bytes.
type Splice struct {
	Span
	Put string
}

// Spliced is a text with parts replaced. A splice that lies within another one is left out.
func Spliced(of string, splices []Splice) string {
	list := slices.Clone(splices)
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i].Span, list[j].Span
		return a[0] < b[0] || a[0] == b[0] && a[1] > b[1]
	})
	var out []byte
	at := 0
	for _, s := range list {
		if s.Span[0] >= at {
			out = append(append(out, of[at:s.Span[0]]...), s.Put...)
			at = s.Span[1]
		}
	}
	return string(append(out, of[at:]...))
}

// Scalars reports whether no element of a list is a list or an object.
func (n *Node) Scalars() bool {
	return !slices.ContainsFunc(n.Kids, func(k *Node) bool { return k.Kind == '[' || k.Kind == '{' })
}

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
