package mlm

import (
	"cmp"
)

// Memory of a model that has been loaded, beside the program and the runtime:
//
//   - Every weight of a product lies in memory as the processor wants it, once for
//     the forward pass and once, transposed, for the backward pass. The runtime lets
//     go of the original in its file as soon as both are made.
//   - The table of word embeddings is read by three products, which would have a
//     copy each, and by the lookup of words, for which the original stays as well.
//     These products have few rows (one for each blank), so that how
//     their weights lie hardly matters: in a large model they read the original.
//   - Every stream of batches has what its forward pass keeps for the backward pass,
//     and about a third of that for what comes and goes.

// largeModel is the size of the weights, in bytes, from which on memory goes
// before the last percent of speed. A BERT-base in 8 bits has 180 MB.
const largeModel = 128 << 20

// What one stream of batches may keep of its forward passes, in bytes: enough
// that the products of a batch are large, little beside the weights.
const (
	keptBytes    = 96 << 20
	keptLittle   = 32 << 20  // with LowMemory; and the least when streams share
	keptTogether = 160 << 20 // with LowMemory, of all streams
	fewestTokens = 64
	usualLength  = 64 // tokens of a sentence
)

// All streams of a large model may keep 5/8 of the size of its weights. With two
// streams of a BERT-base that is 260 tokens a batch, with which its products run at
// the speed that they have with any more; and with twice the weights of the layers,
// the table, the program and a third on top of what is kept, all is below three
// times the weights.
const (
	keptOf  = 8
	keptFor = 5
)

// bounds are how many tokens are evaluated together.
type bounds struct {
	batch    int // rows × length of one batch
	together int // of all batches under way, 0: no bound
	// apart is how many batches a device beside the processor evaluates at the same time. 0: a batch
	// takes one of the model's places. Every call of such a device has batch tokens, or the next
	// number of whole rows below: it multiplies matrices of other sizes in another order.
	apart int
}

// mostApart is the most rows of a fixed batch: short rows are copied, with all of the vocabulary.
// fewestApart is the least, of long ones.
const (
	mostApart   = 256
	fewestApart = 8
)

// rows is how many rows a call has at least.
func (b bounds) rows(k key) int {
	if b.apart == 0 {
		return minRows
	}
	rows := min(max(b.batch/k.length, fewestApart), mostApart)
	return max(1, rows/k.group) * k.group // whole units
}

// sized settles what depends on the size of the model: weights in bytes as the runtime
// holds them, and the bytes that a token keeps for the backward pass, 0 if there is none.
func (o options) sized(weights, kept int64) (options, bounds) {
	large := weights >= largeModel
	// Where weights are not repacked no table is, and a card cannot have it loose.
	o.looseTable = o.looseTable || large && o.about.Apart == 0 && !o.LowMemory
	if o.about.Apart > 0 { // where results would depend on BatchTokens
		return o, bounds{batch: cmp.Or(o.about.Tokens, DefaultBatchTokens), apart: o.about.Apart}
	}
	if o.BatchTokens != 0 {
		return o, bounds{batch: o.BatchTokens}
	}
	b := bounds{batch: DefaultBatchTokens}
	room := int64(keptBytes)
	switch {
	case o.LowMemory:
		room = keptLittle
	case large:
		room = max(weights/keptOf*keptFor/int64(o.Threads), keptLittle)
	}
	if kept > 0 && o.LowMemory {
		b.together = int(min(keptTogether/kept, 1<<24))
	}
	if kept > 0 {
		b.batch = int(min(max(room/kept, fewestTokens), DefaultBatchTokens))
	}
	return o, b
}
