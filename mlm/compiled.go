package mlm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"infill/internal/disk"
	"infill/internal/ort"
)

// compilation is what a device made of a derived graph, in the cache: a folder with files that the
// device wrote, and a note. OpenVINO 2026.4 leaves something out of them at times: it has rotary
// positions compute with tables of half the width, and does not write that they are. What is
// opened then reads beside its tables. So another process than the one that compiled opens the
// files first, evaluates some rows, and compares the bits. From then on they are used.
type compilation struct {
	*cache
	path, key string
	g         *graph
	o         Options
}

// maxChecks is how many processes may begin to check an entry. One that ended, or failed, while it
// did so may have done it because of the entry.
const maxChecks = 3

// compilation finds the entry of a graph of a model with the given hash.
func (c *cache) compilation(g *graph, model string, o Options) *compilation {
	graph := sha256.Sum256(g.onnx)
	runtime, _ := ort.Loaded()
	key := fmt.Sprintf("%s; graph %x; runtime %s %s; threads %d; processor %s", c.key(model), graph,
		runtime.Version, runtime.SHA256, o.Threads, ort.Processor())
	return &compilation{c, c.path(key, compiledSuffix), key, g, o}
}

// open opens a graph of the model with the given hash. On a device that compiles, what it once made
// of the graph is opened in its place.
func (c *cache) open(ctx context.Context, g *graph, model string, info *facts, o Options) (
	*derived, error) {
	info.Recompiled = ""
	if !o.device.Compiles || o.Profile != "" {
		return g.open(c.from, info, o)
	}
	e := c.compilation(g, model, o)
	n := e.read()
	if n != nil && n.Refused == "" {
		switch d, err := e.reopen(ctx, n, info); {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil:
			return d, nil
		case errors.Is(err, errRefused):
			n = e.refuse(err)
		case errors.Is(err, errUnsettled):
			n.Refused = err.Error() // this time
		default:
			n = nil
		}
	}
	if n != nil {
		used(e.notePath())
		info.Recompiled = n.Refused
		return g.open(c.from, info, o)
	}
	_ = os.RemoveAll(e.path)
	return e.compile(ctx, info)
}

var (
	errRefused   = errors.New("what it made of the model is not kept")
	errUnsettled = errors.New("what it made of the model cannot be checked")
)

// reopen opens the entry. Errors wrap errRefused, of one that is of no use, or errUnsettled, of one
// that may be. All others are of an entry that is damaged.
func (e *compilation) reopen(ctx context.Context, n *compiledNote, info *facts) (*derived, error) {
	if err := e.whole(ctx, n); err != nil {
		return nil, err
	}
	if !n.Checked {
		if n.Checks >= maxChecks {
			return nil, fmt.Errorf("%w: reading it back failed %d times", errRefused, n.Checks)
		}
		n.Checks++
		if err := e.writeNote(e.path, n); err != nil {
			return nil, fmt.Errorf("%w: %w", errUnsettled, err)
		}
	}
	a := &e.g.about
	d, err := e.g.opened(info, e.o, func(o Options) (*ort.Session, error) {
		return ort.Open(filepath.Join(e.path, n.Graph), a.Inputs, a.outputs(), sessionConfig(e.from, o))
	})
	if n.Checked {
		if err == nil {
			used(e.notePath())
		}
		return d, err
	}
	got := ""
	if err == nil {
		if got, err = d.answers(ctx); err != nil || got != n.Answers || ctx.Err() != nil {
			err = errors.Join(err, d.close())
		}
	}
	switch {
	case ctx.Err() != nil:
		n.Checks--
		return nil, errors.Join(context.Cause(ctx), e.writeNote(e.path, n))
	case err != nil: // for want of memory, or because another process has removed it
		return nil, fmt.Errorf("%w: %w", errUnsettled, err)
	case got != n.Answers:
		return nil, fmt.Errorf("%w: read back, it gives other numbers", errRefused)
	}
	n.Checks, n.Checked = 0, true
	_ = e.writeNote(e.path, n) // it is checked once more otherwise
	return d, nil
}

// refuse leaves a note in the place of an entry.
func (e *compilation) refuse(why error) *compiledNote {
	n := &compiledNote{Key: e.key, Refused: why.Error()}
	_ = os.RemoveAll(e.path)
	if os.Mkdir(e.path, 0o755) == nil {
		_ = e.writeNote(e.path, n)
	}
	return n
}

// compile has the device compile the graph and write what it made.
func (e *compilation) compile(ctx context.Context, info *facts) (*derived, error) {
	temp, err := e.makeTemp()
	if err != nil {
		info.Recompiled = err.Error()
		return e.g.open(e.from, info, e.o)
	}
	// In one process OpenVINO takes two files of one name for the same.
	p := &pending{e: e, temp: temp, graph: fmt.Sprintf("%016x.onnx", rand.Uint64())}
	o := e.o
	o.compileTo = filepath.Join(temp, p.graph)
	d, err := e.g.open(e.from, info, o)
	if err != nil { // of the graph, or of the files
		p.drop()
		why := err
		if d, err = e.g.open(e.from, info, e.o); err == nil {
			info.Recompiled = why.Error()
		}
		return d, err
	}
	if p.answers, err = d.answers(ctx); err != nil {
		p.drop()
		if ctx.Err() != nil {
			return nil, errors.Join(err, d.close())
		}
		return d, nil // whoever asks for rows gets the error
	}
	d.pending = p
	return d, nil
}

// makeTemp makes the folder that the files are written to.
func (e *compilation) makeTemp() (string, error) {
	size := e.g.about.compiledBytes()
	if size > e.max.compiled/2 {
		return "", fmt.Errorf("%w: it may take %d MB, and the cache has at most %d MB for one",
			errRefused, size>>20, e.max.compiled>>21)
	}
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return "", err
	}
	if err := disk.Room(e.dir, size); err != nil {
		return "", err
	}
	return disk.MkdirTemp(e.dir)
}

// compiledBytes is how much a device may write of a graph, in bytes. A backward pass has weights
// written twice.
func (a *about) compiledBytes() int64 {
	size := a.Weights
	if a.Gradient {
		size *= 2
	}
	return size + size/4 + 64<<20
}

// pending are files that were written and are not in the cache yet: it may turn out that the
// model was another one. Its methods may be called on nil.
type pending struct {
	e       *compilation
	temp    string // "" once it is dropped or published
	graph   string // the file to be opened
	answers string
}

// publish gives the files their name. What another process published meanwhile stays.
func (p *pending) publish() {
	if p == nil || p.temp == "" {
		return
	}
	defer p.drop()
	e := p.e
	n := &compiledNote{Key: e.key, Graph: p.graph, Answers: p.answers}
	var err error
	if n.Files, err = hashFolder(context.Background(), p.temp); err != nil {
		return
	}
	if n.Files[p.graph] == "" {
		why := fmt.Sprintf("%v: the device does not write it", errRefused)
		n = &compiledNote{Key: e.key, Refused: why}
	}
	// The device may not notice that the disk is full.
	if disk.Room(e.dir, 1<<20) != nil || e.writeNote(p.temp, n) != nil || e.read() != nil {
		return
	}
	if disk.Rename(p.temp, e.path) == nil {
		p.temp = ""
		e.pruneCompiled()
	}
}

// drop removes the files unless they have their name.
func (p *pending) drop() {
	if p != nil && p.temp != "" {
		_ = os.RemoveAll(p.temp)
		p.temp = ""
	}
}

// answers is a hash of all that the model computes of some rows: of each kind, few and several,
// short and longer.
func (d *derived) answers(ctx context.Context) (string, error) {
	sum := sha256.New()
	kinds := []kind{energyRow, conditionalRow}
	if d.about.Gradient {
		kinds = append(kinds, gradientGroup)
	}
	for _, k := range kinds {
		for _, size := range [][3]int{{1, 2, 7}, {2, 3, 16}} { // states, blanks, length
			b := d.probe(k, size[0], size[1], size[2])
			if err := d.run(ctx, b); err != nil {
				return "", err
			}
			if err := errors.Join(binary.Write(sum, binary.LittleEndian, b.logProb),
				binary.Write(sum, binary.LittleEndian, b.wide)); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// probe is a batch of that many states with that many blanks, of words that were drawn.
func (d *derived) probe(k kind, states, blanks, length int) *batch {
	f := d.facts
	if f.MaxLength > 0 {
		length = max(min(length, f.MaxLength), blanks)
	}
	b := &batch{key: key{kind: k, length: length, group: 1}, rows: states * blanks}
	if k == gradientGroup {
		b.group = blanks
	}
	n := b.rows * length
	b.ids, b.mask, b.types = make([]int64, n), make([]int64, n), make([]int64, n)
	words := max(1, min(f.Tokens, f.Vocab))
	word := func(state, i int) int64 {
		return int64(((state+1)*7919 + (i+1)*104729) % words)
	}
	b.logProb = make([]float32, b.rows)
	if k != energyRow {
		b.wide = make([]float32, b.rows*f.Vocab)
	}
	for r := range b.rows {
		state, blank := r/blanks, r%blanks
		at := blank * length / blanks
		for i := range length {
			b.ids[r*length+i], b.mask[r*length+i] = word(state, i), 1
		}
		b.targets = append(b.targets, word(state, at))
		b.positions, b.blanks = append(b.positions, int64(at)), append(b.blanks, int64(at))
		b.ids[r*length+at] = int64(f.MaskID)
	}
	return b
}
