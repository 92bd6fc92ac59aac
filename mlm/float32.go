package mlm

import (
	"context"
	"fmt"
	"sync"

	"infill/mlm/device"
)

// exact is the model without rounding, opened when somebody asks for it.
type exact struct {
	mu     sync.Mutex
	model  *Model // nil until then
	closed bool
}

// Float32 is the model in float32: m itself, or if that is rounded, as with [BFloat16],
// a second model without a backward pass, on the processor or on the same card. The first call
// opens it, and it is closed with m. Errors come from [Open], or are errClosed.
func (m *Model) Float32(ctx context.Context) (*Model, error) {
	if !m.options.numbers().Rounded {
		return m, nil
	}
	e := &m.exact
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	if e.model != nil {
		return e.model, nil
	}
	o := m.options
	o.Precision, o.Forward, o.File = Float32, true, m.info.File
	if o.about.Apart == 0 {
		o.Device = device.CPU
	}
	from, done, err := m.from.Again()
	if err != nil {
		return nil, err
	}
	defer done()
	if e.model, err = open(ctx, from, o); err != nil {
		return nil, fmt.Errorf("the model in %s: %w", Float32, err)
	}
	return e.model, nil
}

func (e *exact) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.model == nil {
		return nil
	}
	err := e.model.Close()
	e.model = nil
	return err
}
