package recall

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"infill/internal/gate"
)

// A Memo remembers what the model said, in a bounded number of bytes. What was used longest ago
// goes first. It is safe for concurrent use: what one caller is having evaluated, others wait for.
// A value depends on its key alone, so nothing that a memo forgets changes a result.
type Memo struct {
	limit int64 // bytes

	mu      sync.Mutex
	used    int64
	entries map[string]*entry
	ring    entry // its next is the entry used last, its prev the one used longest ago
}

// An entry is one remembered value.
type entry struct {
	key        string
	next, prev *entry        // both nil while the value is being made
	made       chan struct{} // closed when the value is there, or will not come
	err        error         // why it did not come
	// The value: a row in wide, of the tokens that are kept, or of a gradient both. Nobody changes it
	// once it is made.
	logProb, wide []float32
	number        float64 // in place of them, see Numbers
	kept          any     // or this, of keptBytes, see Keep
	keptBytes     int64
	sum           atomic.Pointer[rowSum] // of the row, once somebody has asked
}

// entryBytes is about what an entry takes besides its key and values: itself, its channel, its
// place in the map and the sum of a row.
const entryBytes = 360

func (e *entry) bytes() int64 {
	return entryBytes + int64(len(e.key)) + 4*int64(cap(e.logProb)+cap(e.wide)) + e.keptBytes
}

// NewMemo makes a memo that holds at most limit bytes.
func NewMemo(limit int64) *Memo {
	m := &Memo{limit: limit, entries: map[string]*entry{}}
	m.ring.next, m.ring.prev = &m.ring, &m.ring
	return m
}

// peek returns the entry of a key if its value is there, else nil.
func (m *Memo) peek(key []byte) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[string(key)]
	if e == nil || e.next == nil {
		return nil
	}
	m.touch(e)
	return e
}

// Numbers are the values of different keys that are numbers. It calls evaluate with the numbers of
// those that nobody has or makes.
func (m *Memo) Numbers(ctx context.Context, keys []string,
	evaluate func(ctx context.Context, which []int) ([]float64, error)) ([]float64, error) {
	entries, err := m.get(ctx, keys, func(ctx context.Context, which []int, made []*entry) error {
		values, err := evaluate(ctx, which)
		for j, v := range values {
			made[j].number = v
		}
		return err
	})
	out := make([]float64, len(entries))
	for i, e := range entries {
		out[i] = e.number
	}
	return out, err
}

// Kept is what was kept under a key, nil if it is not there. A nil memo keeps nothing.
func (m *Memo) Kept(key string) any {
	if m == nil {
		return nil
	}
	if e := m.peek([]byte(key)); e != nil {
		return e.kept
	}
	return nil
}

// Keep keeps a value of some bytes, which nobody changes any more. No other value has its key.
func (m *Memo) Keep(key string, v any, bytes int64) {
	if m == nil {
		return
	}
	e := make([]*entry, 1)
	if mine := m.claim([]string{key}, []int{0}, e); len(mine) == 1 {
		e[0].kept, e[0].keptBytes = v, bytes
		m.settle(e, nil)
	}
}

// get returns the entries of different keys. It calls evaluate with the entries that nobody has or
// makes, with their numbers, to fill in their values. Those that others make it waits for, while
// the place that ctx has is free. An error is evaluate's or the cause of ctx's end.
func (m *Memo) get(ctx context.Context, keys []string,
	evaluate func(ctx context.Context, which []int, made []*entry) error) ([]*entry, error) {
	out := make([]*entry, len(keys))
	open := make([]int, len(keys)) // numbers of the keys whose values are not there yet
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		mine := m.claim(keys, open, out)
		if len(mine) > 0 {
			if err := m.make(ctx, mine, out, evaluate); err != nil {
				return nil, err
			}
		}
		var err error
		if open, err = await(ctx, open, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// claim fills out with the entries there are, and makes those that are missing, whose numbers it
// returns.
func (m *Memo) claim(keys []string, open []int, out []*entry) (mine []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range open {
		e := m.entries[keys[i]]
		switch {
		case e == nil:
			e = &entry{key: keys[i], made: make(chan struct{})}
			m.entries[keys[i]] = e
			mine = append(mine, i)
		case e.next != nil:
			m.touch(e)
		}
		out[i] = e
	}
	return mine
}

// make has the values of entries evaluated. Whatever happens, nobody is left waiting for them.
func (m *Memo) make(ctx context.Context, mine []int, out []*entry,
	evaluate func(context.Context, []int, []*entry) error) (err error) {
	made := make([]*entry, len(mine))
	for j, i := range mine {
		made[j] = out[i]
	}
	err = errors.New("the evaluation ended early") // of a panic that passes by
	defer func() { m.settle(made, err) }()
	err = evaluate(ctx, mine, made)
	return err
}

// settle ends the making of entries.
func (m *Memo) settle(made []*entry, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range made {
		n := e.bytes()
		switch e.err = err; {
		case err != nil || n > m.limit:
			delete(m.entries, e.key)
		default:
			m.used += n
			m.front(e)
		}
		close(e.made)
	}
	for m.used > m.limit {
		old := m.ring.prev
		m.out(old)
		old.next, old.prev = nil, nil // a Row may hold it, and must not hold its neighbours
		m.used -= old.bytes()
		delete(m.entries, old.key)
	}
}

// await waits for the values of the open entries and returns those whose maker failed: it may have
// been cancelled, which is not the business of others.
func await(ctx context.Context, open []int, out []*entry) (failed []int, err error) {
	for _, i := range open {
		e := out[i]
		select {
		case <-e.made:
		default:
			err := gate.Outside(ctx, func() error {
				select {
				case <-e.made:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
			if err != nil {
				return nil, err
			}
		}
		if e.err != nil {
			failed = append(failed, i)
		}
	}
	return failed, nil
}

func (m *Memo) touch(e *entry) {
	m.out(e)
	m.front(e)
}

func (m *Memo) front(e *entry) {
	e.next, e.prev = m.ring.next, &m.ring
	e.next.prev, e.prev.next = e, e
}

func (m *Memo) out(e *entry) { e.prev.next, e.next.prev = e.next, e.prev }

// Forget drops every value that is there.
func (m *Memo) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for e := m.ring.next; e != &m.ring; {
		delete(m.entries, e.key)
		gone := e
		e = e.next
		gone.next, gone.prev = nil, nil
	}
	m.ring.next, m.ring.prev, m.used = &m.ring, &m.ring, 0
}
