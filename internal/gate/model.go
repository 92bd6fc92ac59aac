package gate

import "context"

// A Key is what a model asks for before it gives its places. Code outside of this module has none,
// as it cannot import this package.
type Key struct{ _ struct{} }

// A Model is one that has places to compute in, a *mlm.Model.
type Model interface {
	Places(Key) Places
}

// Compute runs f, which computes on its own between calls of a model. At most
// mlm.Options.Threads batches and such f run at the same time, so that Threads bounds the
// processor time of the whole. f must hand its context to the model's methods: while they
// evaluate, its place is free for others. A call with another context gets its answer too,
// from up to Threads batches above the bound if no place is free. Only Compute with
// another context needs a second place inside f, and with one thread it waits until that
// context ends. This is why it is not a method of the model: the packages of this module hand
// on the context that they were given, and callers from outside have no [Key]. Work on
// another model may be nested in f, in any order. The error is f's, or the cause of ctx's end
// if that came before a place was free.
func Compute(ctx context.Context, m Model, f func(context.Context) error) error {
	return inside(ctx, m.Places(Key{}), f)
}
