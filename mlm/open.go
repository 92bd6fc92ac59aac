package mlm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/internal/cache"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
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
	from, done, err := source.Open(dir)
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
	return open(ctx, source.Folder{FS: fsys}, o)
}

func open(ctx context.Context, from source.Folder, o Options) (*Model, error) {
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
		return nil, fmt.Errorf("%w: %s, want Float32, Int8, BFloat16, Float16 or Auto", ErrOption,
			o.Precision)
	}
	if o.BatchTokens < 0 || o.BatchTokens > MaxBatchTokens {
		return nil, fmt.Errorf("%w: %d tokens a batch, want 0 to %d", ErrOption, o.BatchTokens,
			MaxBatchTokens)
	}
	library := sync.OnceValue(func() error {
		_, err := ort.Load(ort.FindOptions{Path: o.library(), CacheDir: o.CacheDir})
		return err
	})
	if !o.automatic() { // what is named can be refused before anything is read
		if err := o.refused(library); err != nil {
			return nil, err
		}
	}
	// The library is checked and mapped while the model is being read.
	go func() { _ = library() }()
	return openStored(ctx, from, o, func(from source.Folder) (*Model, error) {
		return openFrom(ctx, from, o, library)
	})
}

// openStored opens a folder. Weights that are stored in few bits are taken from the cache, into
// which they are written first if need be, or from memory if that fails.
func openStored(ctx context.Context, from source.Folder, o Options,
	open func(source.Folder) (*Model, error)) (*Model, error) {
	given := func(from source.Folder) (*Model, string, error) {
		m, err := open(from)
		if err != nil {
			return nil, "", err
		}
		m.info.Unkept = from.Unkept
		return m, m.info.SHA256, nil
	}
	m, err := cache.WithWeights(ctx, o.shelf(), from, o.File, given)
	if err == nil {
		m.from = from // the entry may be gone by the time that something is read again
	}
	return m, err
}

// openFrom opens a model once the library is there.
func openFrom(ctx context.Context, from source.Folder, o Options, library func() error) (*Model,
	error) {
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
		return h.All, err
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
	size := export.WeightBytes(parsed)
	if export.NoDerivative(m.info.Ops) != "" {
		size = 0 // they gain nothing
	}
	_, _, o.stored = weights.Source(from.FS)
	o.stored = o.stored || from.Kept != nil
	onCPU := o.Device == "" || o.Device == AutoDevice || o.Device == CPUDevice
	if o.Few && size >= LargeWeights && onCPU {
		o.LowMemory, o.Forward = true, true
	}
	if err := o.onDevice(ctx, size, func(o Options) error {
		if err := m.start(ctx, from, parsed, o, sum); err != nil {
			return from.Named(fmt.Errorf("%s: %w", m.info.File, err))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	h, err := sums()
	if err != nil {
		return nil, errors.Join(from.Named(fmt.Errorf("%s: %w", m.info.File, err)), m.Close())
	}
	m.info.SHA256, m.info.FileSHA256 = h.All, h.File
	return m, nil
}

// start hands the model to the runtime and begins work. The derived graph is
// tried first; what has no rules there runs as it is, without gradients.
func (m *Model) start(
	ctx context.Context, from source.Folder, parsed *onnx.Model, o Options, sum func() (string, error),
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
	if o.about.Apart > 0 {
		be = &halving{backend: be}
	}
	m.be, m.options = be, o
	m.sched = newScheduler(be, o.Threads, be.bounds(), &m.info)
	return nil
}

func (m *Model) backend(
	ctx context.Context, from source.Folder, parsed *onnx.Model, o Options, sum func() (string, error),
) (backend, error) {
	m.info.NoGradients = export.NoDerivative(m.info.Ops)
	if o.about.NoIntegers && (m.info.NoGradients != "" || o.Precision == Int8) {
		return nil, fmt.Errorf("%w: products of 8-bit integers were not checked on the device %s; use %s",
			ErrOption, o.about.Name, device.CPU)
	}
	if m.info.NoGradients != "" {
		return newPlain(ctx, from, parsed, &m.info, o)
	}
	d, err := newDerived(from, export.Freed(parsed), &m.info, o, sum)
	if err == nil {
		return d, nil
	}
	if f := m.info.fixed; f != (export.Sizes{}) {
		m.info.NoGradients = f.NoGradients()
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
func read(ctx context.Context, from source.Folder, o Options) (
	_ *Model, _ *onnx.Model, sums func() (source.Hashes, error), _ error,
) {
	name, err := source.Find(from.FS, o.File)
	if err != nil {
		return nil, nil, nil, from.Named(err)
	}
	// Tokenizer and configuration lie beside the model, or above its onnx folder.
	files := source.Beside(from.FS, name)
	type parsedModel struct {
		m   *onnx.Model
		err error
	}
	ch := make(chan parsedModel, 1)
	go func() {
		p, err := onnx.Load(from.FS, name)
		ch <- parsedModel{p, err}
	}()
	tok, terr := tokenize.Load(files)
	cfg, cerr := source.ReadConfig(files)
	p := <-ch
	if o.File != "" && errors.Is(p.err, onnx.ErrFormat) {
		return nil, nil, nil, from.Named(p.err) // the folder of another file need not hold a model
	}
	if err := errors.Join(from.Named(p.err), from.Named(terr), from.Named(cerr)); err != nil {
		return nil, nil, nil, err
	}
	p.m = onnxgrad.Widen(p.m) // the processor computes in float32 whatever the file asks for
	model := &Model{tok: tok, from: from, info: facts{}}
	if p.m, err = model.info.addFile(name, p.m); err != nil {
		return nil, nil, nil, from.Named(fmt.Errorf("%s: %w", name, err))
	}
	model.info.addConfig(cfg)
	model.info.addTokenizer(tok, files)
	external := source.External(name, p.m)
	sums = sync.OnceValues(func() (source.Hashes, error) {
		if k := from.Kept; k != nil && k.Checked {
			h, err := source.HashModel(ctx, from.FS, name, nil)
			return source.Hashes{File: h.File, All: k.Model}, err
		}
		return source.HashModel(ctx, from.FS, name, external)
	})
	go func() { _, _ = sums() }()
	return model, p.m, sums, nil
}

// describe collects what the file says of itself.
func describe(name string, m *onnx.Model) Info {
	info := Info{File: name, Opset: m.Opset(""), Ops: map[string]int{}}
	info.Producer = m.ProducerName
	if m.ProducerVersion != "" {
		info.Producer += " " + m.ProducerVersion
	}
	stored := map[string]bool{}
	export.Each(m.Graph, func(g *onnx.Graph) {
		for _, n := range g.Nodes {
			info.Ops[export.Qualified(n)]++
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
	out := export.Logits(m)
	var names []string
	for _, v := range m.Graph.Outputs {
		names = append(names, v.Name)
	}
	bare := !slices.ContainsFunc(names,
		func(name string) bool { return !slices.Contains(export.Headless, name) })
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

// Locate is the folder of a model and the name of its file in it, for [OpenDir] and [Options]. path
// is a folder, for which file is "", or an ONNX file. That of a file in a folder called onnx is the
// folder above if only that one has a tokenizer, as repositories of the hub are. An error is one of
// the file system.
func Locate(path string) (dir, file string, err error) { return source.Locate(path) }

// Unkept says what [Info] of a model in fsys would say in its field Unkept, without opening it.
func Unkept(ctx context.Context, fsys fs.FS, o Options) string {
	return o.shelf().Unkept(ctx, fsys, o.File)
}
