package mlm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"infill/internal/disk"
	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/models/weights"
	"infill/tokenize"
)

// OpenDir opens the model in a folder of the disk. Weights are mapped from where they
// are, not copied. Nothing outside the folder is read: a link out of it is refused, be it
// to the model file or to its external data. Only a snapshot in Hugging Face's cache,
// whose files are links, has them followed within its repository. Errors are those of [Open]. What
// is wrong with the folder's files begins with the folder.
func OpenDir(ctx context.Context, dir string, o Options) (*Model, error) {
	from, done, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return open(ctx, from, o)
}

// Open opens the model in fsys: model.onnx with its external data, the
// tokenizer's files and config.json. Every file is checked before the runtime
// sees any of it. See [OpenDir] for folders on disk.
//
// Errors wrap ErrNoModel, ErrNotMasked, errVocabulary, ErrOption, a sentinel
// of mlm/onnx (a file that is truncated, not ONNX, or hostile), of tokenize
// (*tokenize.FileError), or of internal/ort (the runtime is missing or
// refuses the model).
func Open(ctx context.Context, fsys fs.FS, o Options) (*Model, error) {
	return open(ctx, folder{fs: fsys}, o)
}

func open(ctx context.Context, from folder, o Options) (*Model, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	if o.Threads < 1 || o.Threads > MaxThreads {
		return nil, fmt.Errorf("%w: %d threads, want 1 to %d, or 0 for 1", ErrOption, o.Threads,
			MaxThreads)
	}
	if o.Precision < Float32 || o.Precision > Auto {
		return nil, fmt.Errorf("%w: %s, want Float32, Int8, BFloat16 or Auto", ErrOption, o.Precision)
	}
	if o.BatchTokens < 0 || o.BatchTokens > MaxBatchTokens {
		return nil, fmt.Errorf("%w: %d tokens a batch, want 0 to %d", ErrOption, o.BatchTokens,
			MaxBatchTokens)
	}
	library := sync.OnceValue(func() error {
		_, err := ort.Load(ort.FindOptions{Path: o.Runtime, CacheDir: o.CacheDir})
		return err
	})
	if !o.automatic() { // what is named can be refused before anything is read
		if err := o.refused(library); err != nil {
			return nil, err
		}
	}
	// The library is checked and mapped while the model is being read.
	go func() { _ = library() }()
	return openStored(ctx, from, o, func(from folder) (*Model, error) {
		return openFrom(ctx, from, o, library)
	})
}

// openFrom opens a model once the library is there.
func openFrom(ctx context.Context, from folder, o Options, library func() error) (*Model, error) {
	// The hash is only needed at the end, or to look into the cache.
	hashing, cancel := context.WithCancel(ctx)
	defer cancel()
	m, parsed, sums, err := read(hashing, from, o)
	if err == nil {
		// Nothing reads the caller's files after Open has returned.
		defer func() { cancel(); _, _ = sums() }()
	}
	sum := func() (string, error) {
		h, err := sums()
		return h.all, err
	}
	if lerr := library(); err == nil && lerr != nil {
		err = lerr
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	// With the runtime it turns out whether the device works.
	size := weightBytes(parsed)
	if integerProducts(&m.info.Info) != "" {
		size = 0 // they gain nothing
	}
	_, _, o.stored = weights.Source(from.fs)
	o.stored = o.stored || from.kept != nil
	if o.Few && size >= LargeWeights {
		o.LowMemory, o.Forward = true, true
	}
	if err := o.onDevice(ctx, size, func(o Options) error {
		if err := m.start(ctx, from, parsed, o, sum); err != nil {
			return from.named(fmt.Errorf("%s: %w", m.info.File, err))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	h, err := sums()
	if err != nil {
		return nil, errors.Join(from.named(fmt.Errorf("%s: %w", m.info.File, err)), m.Close())
	}
	m.info.SHA256, m.info.FileSHA256 = h.all, h.file
	return m, nil
}

// start hands the model to the runtime and begins work. The derived graph is
// tried first; what has no rules there runs as it is, without gradients.
func (m *Model) start(
	ctx context.Context, from folder, parsed *onnx.Model, o Options, sum func() (string, error),
) error {
	be, err := m.backend(ctx, from, parsed, o, sum)
	if err != nil {
		return err
	}
	if _, ok := be.(*plain); ok && o.Precision == Int8 {
		o.Precision = Float32 // it runs as it is
	}
	m.info.precision = o.Precision
	m.info.addHead(parsed)
	if err := m.info.check(); err != nil {
		return errors.Join(err, be.close())
	}
	m.info.addWarnings()
	m.be, m.options = be, o
	m.sched = newScheduler(be, o.Threads, be.bounds(), &m.info)
	return nil
}

func (m *Model) backend(
	ctx context.Context, from folder, parsed *onnx.Model, o Options, sum func() (string, error),
) (backend, error) {
	m.info.NoGradients = integerProducts(&m.info.Info)
	if o.about.NoIntegers && (m.info.NoGradients != "" || o.Precision == Int8) {
		return nil, fmt.Errorf("%w: products of 8-bit integers were not checked on the device %s; use %s",
			ErrOption, o.about.Name, device.CPU)
	}
	if m.info.NoGradients != "" {
		return newPlain(ctx, from, parsed, &m.info, o)
	}
	d, err := newDerived(from, freed(parsed), &m.info, o, sum)
	if err == nil {
		return d, nil
	}
	if f := m.info.fixed; f != (fixed{}) {
		m.info.NoGradients = f.noGradients()
		return newPlain(ctx, from, parsed, &m.info, o)
	}
	if !runsAsIs(err) {
		return nil, err
	}
	m.info.NoGradients = err.Error()
	return newPlain(ctx, from, parsed, &m.info, o)
}

// read reads and checks the files. The model's hashes are still being computed when
// it returns: sums waits for them. The end of ctx stops that.
func read(ctx context.Context, from folder, o Options) (
	_ *Model, _ *onnx.Model, sums func() (hashes, error), _ error,
) {
	name, err := findModelFile(from.fs, o.File)
	if err != nil {
		return nil, nil, nil, from.named(err)
	}
	// Tokenizer and configuration lie beside the model, or above its onnx folder.
	files := beside(from.fs, name)
	type parsedModel struct {
		m   *onnx.Model
		err error
	}
	ch := make(chan parsedModel, 1)
	go func() {
		p, err := onnx.Load(from.fs, name)
		ch <- parsedModel{p, err}
	}()
	tok, terr := tokenize.Load(files)
	cfg, cerr := readConfig(files)
	p := <-ch
	if o.File != "" && errors.Is(p.err, onnx.ErrFormat) {
		return nil, nil, nil, from.named(p.err) // the folder of another file need not hold a model
	}
	if err := errors.Join(from.named(p.err), from.named(terr), from.named(cerr)); err != nil {
		return nil, nil, nil, err
	}
	p.m = onnxgrad.Widen(p.m) // the processor computes in float32 whatever the file asks for
	model := &Model{tok: tok, from: from, info: facts{}}
	if p.m, err = model.info.addFile(name, p.m); err != nil {
		return nil, nil, nil, from.named(fmt.Errorf("%s: %w", name, err))
	}
	model.info.addConfig(cfg)
	model.info.addTokenizer(tok, files)
	external := externalFiles(name, p.m)
	sums = sync.OnceValues(func() (hashes, error) {
		if k := from.kept; k != nil && k.checked {
			h, err := hashModel(ctx, from.fs, name, nil)
			return hashes{h.file, k.model}, err
		}
		return hashModel(ctx, from.fs, name, external)
	})
	go func() { _, _ = sums() }()
	return model, p.m, sums, nil
}

func exists(fsys fs.FS, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		_, err := fs.Stat(fsys, n)
		return err == nil
	})
}

// hashes are SHA-256 of a model: of its file alone, and of the file followed by its external files
// in the order of their names. Without external data they are the same.
type hashes struct{ file, all string }

// hashModel reads every file once.
func hashModel(ctx context.Context, fsys fs.FS, name string, external []string) (hashes, error) {
	h := sha256.New()
	if err := hashInto(ctx, h, fsys, name); err != nil {
		return hashes{}, err
	}
	file := hex.EncodeToString(h.Sum(nil)) // h goes on as it was
	if err := hashInto(ctx, h, fsys, external...); err != nil {
		return hashes{}, err
	}
	return hashes{file, hex.EncodeToString(h.Sum(nil))}, nil
}

func hashFiles(ctx context.Context, fsys fs.FS, files []string) (string, error) {
	h := sha256.New()
	if err := hashInto(ctx, h, fsys, files...); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hashInto(ctx context.Context, h hash.Hash, fsys fs.FS, files ...string) error {
	buf := make([]byte, 1<<20)
	for _, f := range files {
		r, err := disk.OpenFS(fsys, f)
		if err != nil {
			return fmt.Errorf("%w: %w", onnx.ErrExternal, err)
		}
		_, err = io.CopyBuffer(h, stoppable{ctx, r}, buf)
		_ = r.Close()
		if err != nil {
			return fmt.Errorf("%w: %s: %w", onnx.ErrExternal, f, err)
		}
	}
	return nil
}

// stoppable ends with its context.
type stoppable struct {
	ctx context.Context
	io.Reader
}

func (s stoppable) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.Reader.Read(b)
}

// externalFiles lists, sorted, the files beside the model that hold weights.
func externalFiles(name string, m *onnx.Model) []string {
	var out []string
	add := func(t *onnx.Tensor) {
		if t != nil && t.IsExternal() && t.Origin.File != name && !slices.Contains(out, t.Origin.File) {
			out = append(out, t.Origin.File)
		}
	}
	each(m.Graph, func(g *onnx.Graph) {
		for _, t := range g.Initializers {
			add(t)
		}
		for _, n := range g.Nodes {
			for _, a := range n.Attrs {
				add(a.T) // of a Constant
			}
		}
	})
	slices.Sort(out)
	return out
}

// each visits a graph and its subgraphs; onnx.Parse has bounded their depth.
func each(g *onnx.Graph, f func(*onnx.Graph)) {
	f(g)
	for _, n := range g.Nodes {
		for _, a := range n.Attrs {
			if a.G != nil {
				each(a.G, f)
			}
		}
	}
}

// qualified is the name of a node's operator with its domain, unless that is ONNX's own.
func qualified(n *onnx.Node) string {
	if n.Domain == "" {
		return n.Op
	}
	return n.Domain + "." + n.Op
}

// describe collects what the file says of itself.
func describe(name string, m *onnx.Model) Info {
	info := Info{File: name, Opset: m.Opset(""), Ops: map[string]int{}}
	info.Producer = m.ProducerName
	if m.ProducerVersion != "" {
		info.Producer += " " + m.ProducerVersion
	}
	stored := map[string]bool{}
	each(m.Graph, func(g *onnx.Graph) {
		for _, n := range g.Nodes {
			info.Ops[qualified(n)]++
		}
		for _, t := range g.Initializers {
			stored[t.Name] = true
			info.Bytes += t.ByteLen()
			if len(t.Dims) > 0 {
				info.Parameters += t.Len()
			}
		}
	})
	for _, v := range m.Graph.Inputs {
		if !stored[v.Name] {
			info.Inputs = append(info.Inputs, v.Name)
		}
	}
	return info
}

// noHead is the remedy for a model whose outputs are those of its layers.
const noHead = "it has no head for masked words; export it for the task fill-mask"

// inspect checks inputs and output and finds V.
func inspect(info *Info, m *onnx.Model) error {
	if !slices.Contains(info.Inputs, "input_ids") {
		return fmt.Errorf("%w: no input named input_ids (inputs: %v); "+
			"export the model for masked language modelling", ErrNotMasked, info.Inputs)
	}
	for _, n := range info.Inputs {
		if known := onnxgrad.Inputs(); !slices.Contains(known, n) {
			return fmt.Errorf("%w: cannot feed the input %q (known: %v)", ErrNotMasked, n, known)
		}
	}
	for _, v := range m.Graph.Inputs {
		if slices.Contains(info.Inputs, v.Name) && v.Type != onnx.Int64 {
			return fmt.Errorf("%w: input %s is %v, expected int64", ErrNotMasked, v.Name, v.Type)
		}
	}
	out := logits(m)
	var names []string
	for _, v := range m.Graph.Outputs {
		names = append(names, v.Name)
	}
	bare := !slices.ContainsFunc(names,
		func(name string) bool { return !slices.Contains(headless, name) })
	switch {
	case bare:
		return fmt.Errorf("%w: its output is %s; %s", ErrNotMasked, strings.Join(names, " and "), noHead)
	case out == nil:
		return fmt.Errorf("%w: no output named logits (outputs: %v); "+
			"export the model with its language-modelling head", ErrNotMasked, names)
	}
	if out.Type != onnx.Float {
		return fmt.Errorf("%w: output %s is %v, expected float32", ErrNotMasked, out.Name, out.Type)
	}
	if out.HasShape {
		if len(out.Shape) != 3 {
			return fmt.Errorf("%w: output %s has %d dimensions, expected [batch, length, vocabulary]",
				ErrNotMasked, out.Name, len(out.Shape))
		}
		if d := out.Shape[2]; d.Param == "" && d.Value > 0 {
			if d.Value > 1<<24 {
				return fmt.Errorf("%w: %d logits", ErrNotMasked, d.Value)
			}
			info.Vocab = int(d.Value)
		}
	}
	return nil
}

// logits is the output called so, or the only one there is.
func logits(m *onnx.Model) *onnx.ValueInfo {
	for _, v := range m.Graph.Outputs {
		if v.Name == "logits" {
			return v
		}
	}
	if len(m.Graph.Outputs) == 1 {
		return m.Graph.Outputs[0]
	}
	return nil
}
