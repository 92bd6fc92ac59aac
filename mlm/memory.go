package mlm

import "infill/mlm/onnxgrad"

// largeModel is the size of the weights, in bytes, from which on they are used
// as they lie in the file. Repacked for the processor they are read somewhat
// faster, but products of the forward and of the backward pass pack the same
// weight in two ways, so that a model takes three times its size before it
// has computed anything. A large model's products are limited by arithmetic,
// not by how its weights lie.
const largeModel = 256 << 20

// What one stream of batches may keep of its forward passes, in bytes: enough
// that the products of a batch are large, little beside the weights.
const (
	keptBytes    = 96 << 20
	keptLittle   = 32 << 20 // with LowMemory
	fewestTokens = 64
	usualLength  = 64 // tokens of a sentence
)

// sized settles the options that depend on the size of the model.
func (o Options) sized(weights int64, g *onnxgrad.Derived) Options {
	o.noPrepack = o.LowMemory || weights >= largeModel
	if o.BatchTokens != 0 {
		return o
	}
	o.BatchTokens = DefaultBatchTokens
	room := int64(keptBytes)
	if o.LowMemory {
		room = keptLittle
	}
	if g == nil { // no backward pass, for which nothing is kept
		return o
	}
	if per := g.KeptPerToken(usualLength); per > 0 {
		o.BatchTokens = int(min(max(room/per, fewestTokens), DefaultBatchTokens))
	}
	return o
}
