package mlm

import (
	"context"
	"fmt"
	"sync"
)

// A beside is another form of a model, opened when somebody asks for it.
type beside struct {
	mu     sync.Mutex
	model  *Model // nil until then
	closed bool
}

// Float32 is the model in float32: m itself, or if that is rounded, as with [Float16], a second
// model without a backward pass, on the same card. The first call opens it, and it is closed with
// m. Errors come from [Open], or are errClosed.
func (m *Model) Float32(ctx context.Context) (*Model, error) {
	if !m.options.Precision.Rounds() {
		return m, nil
	}
	o := m.options
	o.Precision, o.Forward = Float32, true
	return m.exact.open(ctx, m, o)
}

// Gradients says in which precision the model of WithGradients is, and whether it has gradients, as
// far as that is known before it is opened.
func (m *Model) Gradients() (p Precision, ok bool) {
	p = m.Precision()
	auto := m.asked.Precision == Auto && (p == Int8 || p == Float16)
	if auto {
		p = Float32
	}
	return p, auto || m.info.Gradients || m.info.NoGradients == notWanted
}

// WithGradients is the model with its backward pass: m itself, or if that was left out with
// [Options].Forward a second model, see Gradients. A model without gradients in the precision that
// was named for it stays what it is. The first call opens the second model, which is closed with
// m. Errors come from [Open], or are errClosed.
func (m *Model) WithGradients(ctx context.Context) (*Model, error) {
	if _, ok := m.Gradients(); !ok || m.info.Gradients {
		return m, nil
	}
	o := m.asked
	o.Device, o.Forward, o.Few = m.Device(), false, false
	return m.withGradient.open(ctx, m, o)
}

// open is the form of m with these options.
func (b *beside) open(ctx context.Context, m *Model, o options) (_ *Model, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosed
	}
	if b.model != nil {
		return b.model, nil
	}
	from, done, err := m.from.Again()
	if err != nil {
		return nil, err
	}
	defer done()
	o.File = m.info.File
	if b.model, err = open(ctx, from, o); err != nil {
		return nil, fmt.Errorf("the model in %s: %w", o.Precision, err)
	}
	return b.model, nil
}

// opened has the form if it is open.
func (b *beside) opened() (list []*Model) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.model != nil {
		list = []*Model{b.model}
	}
	return list
}

func (b *beside) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.model == nil {
		return nil
	}
	err := b.model.Close()
	b.model = nil
	return err
}
