package chains

import "strings"

// keptStates bounds the states that chains together keep for Marginals, to some MB.
const keptStates = 1 << 16

// A record has states of the chains of a part. A full one drops every second state, and keeps only
// every second of those to come: the states of a long chain are then evenly thinned, and what they
// say of π stays right.
type record struct {
	x      [][]int32   // by chain: states one after the other
	u      [][]float64 // by chain: U of each
	dim    int         // coordinates of a state
	most   int         // states of a chain, even
	stride int         // every stride-th state is kept
	seen   int         // states offered
}

// newRecord is the record of some of several chains.
func newRecord(some, all, dim int) *record {
	return &record{
		x: make([][]int32, some), u: make([][]float64, some), dim: dim, stride: 1,
		most: max(16, keptStates/all&^1),
	}
}

// add offers the present states of the chains and their energies.
func (r *record) add(x [][]int32, u []float64) {
	r.seen++
	if (r.seen-1)%r.stride != 0 {
		return
	}
	if r.len() == r.most {
		r.thin(2 * r.stride)
		if (r.seen-1)%r.stride != 0 {
			return
		}
	}
	for k := range x {
		r.x[k], r.u[k] = append(r.x[k], x[k]...), append(r.u[k], u[k])
	}
}

// thin keeps every stride-th state, for a stride that is a multiple of the present one.
func (r *record) thin(stride int) {
	step := stride / r.stride
	r.stride = stride
	if step == 1 {
		return
	}
	for k := range r.x {
		n := 0
		for i := 0; i < len(r.u[k]); i += step {
			copy(r.x[k][n*r.dim:(n+1)*r.dim], r.state(k, i))
			r.u[k][n] = r.u[k][i]
			n++
		}
		r.x[k], r.u[k] = r.x[k][:n*r.dim], r.u[k][:n]
	}
}

// len is the number of states of each chain.
func (r *record) len() int { return len(r.u[0]) }

// state is state i of chain k.
func (r *record) state(k, i int) []int32 { return r.x[k][i*r.dim : (i+1)*r.dim] }

// A history is what all chains of the same lengths went through.
type history struct {
	blanks [][][]int32 // by blank, chain and state: a number of a text
	whole  [][]int32   // by chain and state: a number of a text
	u      [][]float64
}

// A lexicon numbers texts in the order in which they come.
type lexicon struct {
	number map[string]int32
	texts  []string
}

func (l *lexicon) of(text string) int32 {
	n, ok := l.number[text]
	if !ok {
		if l.number == nil {
			l.number = map[string]int32{}
		}
		n = int32(len(l.texts))
		l.number[text], l.texts = n, append(l.texts, text)
	}
	return n
}

// word is of for a word of a blank. To an uncased model a word with capitals, which the words
// beside it may give it, is the word without. It is listed as it was written first.
func (l *lexicon) word(text string, uncased bool) int32 {
	lower := strings.ToLower(text)
	if !uncased {
		return l.of(text)
	}
	if n, ok := l.number[lower]; ok {
		return n
	}
	n := l.of(text)
	l.number[lower] = n
	return n
}
