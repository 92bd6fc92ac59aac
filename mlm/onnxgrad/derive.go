package onnxgrad

import (
	"fmt"

	"infill/mlm/onnx"
)

// Derived is the graph that the samplers need, and what was recognised on the way.
type Derived struct {
	// Model has the inputs and outputs that the package comment describes. It shares the weights of
	// the model it was derived from.
	Model *onnx.Model
	Facts
	Forward  int // operations of the forward pass
	Backward int // operations of the backward pass

	// Watched are the matrices that Int8 rounds. Of a graph with Options.Whole in float32, output 1+k
	// has the largest sizes of what the matrices Watched[k] are multiplied with, [1, …, 1, depth].
	Watched [][]int

	kept, keptPerPosition int64 // see KeptPerToken
}

// Facts are what has to be known of a derived graph, and of its model.
type Facts struct {
	Inputs     []string // names of the graph's inputs, in order: see Call
	Outputs    []string // of its outputs: log f, conditionals, and where they are gradient and state
	Vocabulary int      // V, columns of the logits
	Dimension  int      // width of the word embeddings
	Embedding  string   // name of the word embedding table
	Tied       bool     // the head uses the embedding table: one copy of it remains
	Gradient   bool     // whether the backward pass is there
	State      int      // H, width of what the head reads; 0 if it has an unusual form
	// Counted are tokens by which the model tells positions apart (see Call). None if nothing is
	// shared.
	Counted []int64
}

// Options of Derive.
type Options struct {
	// ForwardOnly leaves the backward pass out: for models with operations that cannot be
	// differentiated.
	ForwardOnly bool
	// Int8 has the products with weights computed in 8 bits, see integers. It has no backward pass.
	Int8 bool
	// Exact are, for each matrix that Int8 rounds, columns of what it is multiplied with that stay in
	// float32. nil is for none. The matrices are numbered as Derived.Watched numbers them.
	Exact [][]int
	// Whole makes the graph of the file again, of ONNX's own operators: its inputs, and the logits at
	// all positions. Without Int8 it has the outputs that Derived.Watched describes, too.
	Whole bool
	// Half computes all up to the logits in half precision (float16), for devices that have kernels
	// for it: those of layer norms and softmaxes are to add up in float32. It has no backward pass.
	Half bool
	// Unpadded, with Half, has attention look at all places: no row is filled up. The mask must be
	// ones.
	Unpadded bool
	// Prompt makes the other graph of the package comment: some positions of a row hold vectors
	// that are an input, and the gradient is with respect to these. It excludes the
	// others.
	Prompt bool
	// Unshared computes what depends on a position alone for every row again, to compare with.
	Unshared bool
}

// Names of the inputs and outputs that the derived graph has beside those of the model.
const (
	inPositions   = "positions"
	inTargets     = "targets"
	inBlanks      = "blanks"
	inConditional = "with_conditional"
	inGradient    = "with_gradient"
	inFirst       = "first_alike"
	inNumbers     = "alike"
	inPrompt      = "prompt"
	outLogProb    = "log_prob"
	outCondition  = "conditional"
	outGradient   = "gradient"
	outState      = "state"
	outLogits     = "logits"
	outLargest    = "largest"
)

// pass is a step of the derivation.
type pass struct {
	name string
	when func(o Options) bool // nil for always
	run  func(d *derivation) error
}

// passes are the steps of the derivation in their order. load comes before them: it reads the file
// into nodes whose shapes are known, folds what follows from constants and sizes, and writes
// composite operators out. The package comment says what each does.
func passes() []pass {
	withGradient := func(o Options) bool { return !o.ForwardOnly }
	atBlanks := func(o Options) bool { return !o.Whole }
	whole := func(o Options) bool { return o.Whole }
	return []pass{
		// The graph of the file, simplified.
		{"fuse", nil, (*derivation).fuse},
		{"tidy products", nil, (*derivation).tidyProducts},
		{"find embedding", nil, (*derivation).findEmbedding},
		{"prompt", func(o Options) bool { return o.Prompt }, (*derivation).softPrompt},
		{"tie", nil, (*derivation).tie},
		{"number", nil, (*derivation).number},

		// The forward pass.
		{"gather logits", atBlanks, (*derivation).gatherLogits},
		{"one query", func(o Options) bool { return !o.Int8 && !o.Whole }, (*derivation).oneQuery},
		{"tape", func(o Options) bool { return !o.Half }, (*derivation).tape},
		{"halves", func(o Options) bool { return o.Half }, (*derivation).halves},
		{"score", atBlanks, (*derivation).score},

		// The backward pass.
		{"head", withGradient, (*derivation).headBackward},
		{"reverse", withGradient, (*derivation).reverse},
		{"gather gradient", withGradient, (*derivation).gatherGradient},
		{"second term", withGradient, (*derivation).secondTerm},

		// Both.
		{"share", func(o Options) bool { return !o.Unshared && !o.Prompt && !o.Whole },
			(*derivation).share},
		{"watch", func(o Options) bool { return o.Whole && !o.Int8 }, (*derivation).watch},
		{"integers", func(o Options) bool { return o.Int8 }, (*derivation).integers},
		{"plain", whole, (*derivation).plain},
		{"emit", atBlanks, (*derivation).emit},
		{"emit whole", whole, (*derivation).emitWhole},
	}
}

// Derive makes the derived graph of a model that [onnx.Model.Check] has passed. Errors about
// the model are *Error.
func Derive(m *onnx.Model, opt Options) (out *Derived, err error) {
	now := "load"
	// Graphs come from strangers: should one get past every check above a rule, it is refused, not
	// fatal.
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("%w: %s: %v", errInternal, now, r)
		}
	}()
	l, err := load(m, opt.Unpadded && opt.Half)
	if err != nil {
		return nil, err
	}
	d := &derivation{loaded: l, opt: opt, irVersion: m.IRVersion}
	switch {
	case opt.Prompt:
		d.opt.ForwardOnly, d.opt.Int8, d.opt.Half, d.opt.Whole = false, false, false, false
	case opt.Half:
		d.opt.ForwardOnly, d.opt.Int8, d.opt.Whole = true, false, false
	case opt.Int8 || opt.Whole:
		d.opt.ForwardOnly = true
	}
	for _, p := range passes() {
		if p.when != nil && !p.when(d.opt) {
			continue
		}
		now = p.name
		if err := p.run(d); err != nil {
			return nil, err
		}
	}
	return d.out, nil
}

// derivation is what the passes hand on to each other.
type derivation struct {
	*loaded   // the graph as it is so far; logits are [R, L, V], [R, 1, V] from "gather logits" on
	opt       Options
	irVersion int64
	embedding *node // the lookup of input_ids in the table
	tied      bool
	matrices  map[*onnx.Tensor]int // those that Int8 rounds, with their numbers
	watched   [][]int              // see Derived.Watched
	largest   []*value             // the outputs for it

	positions, targets, blanks *value
	prompt                     *value   // [R, m, D], nil without Options.Prompt
	words                      *value   // [R, L, D], what the model reads
	forward                    *builder // the forward pass
	steps                      []*entry // its steps as the backward pass sees them
	embedded                   *value   // [R, L, D], the variable of differentiation
	table                      *value   // [V, D], the word embeddings; V may be padded
	logits2                    *value   // [R, V], logits at the blanks
	hidden                     *value   // [R, 1, H], what the head's product reads
	state                      *value   // [R, H], the same in float32
	head                       *node    // that product, nil if the head has another form
	logp                       *value   // [R, V]
	picked                     *value   // [R]

	grads    map[*value]*value // gradients so far
	full     *value            // [R, L, D], that at the embeddings
	atBlanks *value            // [R, m, D], that at the chain's blanks
	then     *builder          // the backward pass, nil if there is none
	gradient *value            // [C, m, V]

	numbers, first *value // [R, L] and [U], nil if nothing is shared
	counted        []int64
	out            *Derived
}

// next makes the builder of another part of the graph. Constants are made once for all parts.
func (d *derivation) next(context string) *builder {
	b := newBuilder(d.opset)
	b.consts, b.context = d.consts, context
	return b
}
