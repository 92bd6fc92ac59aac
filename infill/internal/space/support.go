package space

import (
	"sync"

	"infill/infill/text"
	"infill/tokenize"
)

// Supports knows, for one tokenizer, the tokens that may fill each blank. It is
// safe for concurrent use.
type Supports struct {
	tok    *tokenize.Tokenizer
	bound  text.Boundary
	sorted text.Lists

	mu        sync.Mutex
	filtered  map[filterKey][]int32
	canonical map[string]bool // whether pieces are how the tokenizer spells their word
}

// filterKey names a support that was worked out once.
type filterKey struct {
	base *int32 // first element of the support it is taken from
	by   any    // the keys of all constraints, see joined
}

// joined is a key that stands for several: equal keys in the same order, equal joined keys.
func joined(keys []any) any {
	type pair struct{ before, last any }
	var all any
	for _, k := range keys {
		all = pair{all, k}
	}
	return all
}

// Bounds of the caches, which are emptied when full: a filtered support may
// be as large as the vocabulary.
const (
	maxFiltered   = 256
	maxRemembered = 1 << 14
)

// NewSupports sorts the vocabulary of a tokenizer.
func NewSupports(tok *tokenize.Tokenizer) *Supports {
	s := &Supports{
		tok: tok, bound: text.BoundaryOf(tok),
		filtered: map[filterKey][]int32{}, canonical: map[string]bool{},
	}
	s.sorted = s.bound.Sort()
	return s
}

// filter keeps the tokens to which no constraint objects.
func (s *Supports) filter(base []int32, asks []func(text.Phrase) bool, keys []any) []int32 {
	if len(asks) == 0 {
		return base
	}
	key := filterKey{base: &base[0], by: joined(keys)}
	s.mu.Lock()
	ids, ok := s.filtered[key]
	s.mu.Unlock()
	if ok {
		return ids
	}
	p := text.Phrase{IDs: make([]int32, 1)}
	for _, id := range base {
		p.IDs[0] = id
		p.Text, _ = s.tok.Surface(id)
		if allow(asks, p) {
			ids = append(ids, id)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.filtered) >= maxFiltered {
		clear(s.filtered)
	}
	s.filtered[key] = ids
	return ids
}
