package mlm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/tokenize"
)

// OpenDir opens the model in a folder of the disk. Weights are mapped from where they are, not
// copied. Nothing outside the folder is read: a link out of it is refused, be it to the model file
// or to its external data. Only a snapshot in Hugging Face's cache, whose files are links, has them
// followed within its repository. Errors come from [Open]. Those about the folder's files begin
// with the folder.
func OpenDir(ctx context.Context, dir string, o Options) (*Model, error) {
	from, done, err := source.Open(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return open(ctx, from, options{Options: o})
}

// Open opens the model in fsys: model.onnx with its external data, the
// tokenizer's files and config.json. Every file is checked before the runtime
// sees any of it. See [OpenDir] for folders on disk.
//
// Errors wrap source.ErrNoModel, errNotMasked, errVocabulary, errOption, a sentinel
// of mlm/onnx (a file that is truncated, not ONNX, or hostile), of tokenize
// (*tokenize.FileError), or of internal/ort (the runtime is missing or
// refuses the model).
func Open(ctx context.Context, fsys fs.FS, o Options) (*Model, error) {
	return open(ctx, source.Folder{FS: fsys}, options{Options: o})
}

func open(ctx context.Context, from source.Folder, o options) (*Model, error) {
	if err := errors.Join(given(ctx), o.check()); err != nil {
		return nil, err
	}
	library := sync.OnceValue(func() error {
		_, err := ort.Load(ort.FindOptions{Path: o.library(), CacheDir: o.CacheDir})
		return err
	})
	if !o.automatic() { // what is named can be refused before anything is read
		chosen := o
		if err := chosen.findDevice(0); err != nil {
			return nil, err
		}
	}
	// The library is checked and mapped while the model is being read.
	go func() { _ = library() }()
	p := &opener{o: o, from: from, library: library}
	return p.open(ctx)
}

// check refuses what is out of range, and puts the default number of threads in its place.
func (o *options) check() error {
	if o.Threads == 0 {
		o.Threads = 1
	}
	switch {
	case o.Threads < 1 || o.Threads > MaxThreads:
		return fmt.Errorf("%w: %d threads, want 1 to %d, or 0 for 1", errOption, o.Threads, MaxThreads)
	case o.Precision < Float32 || o.Precision > Auto:
		return fmt.Errorf("%w: %s, want Float32, Int8, Float16 or Auto", errOption, o.Precision)
	case o.BatchTokens < 0 || o.BatchTokens > MaxBatchTokens:
		return fmt.Errorf("%w: %d tokens a batch, want 0 to %d", errOption, o.BatchTokens, MaxBatchTokens)
	}
	return nil
}

// An opener opens a model in stages: its files are read while the library of the runtime is mapped,
// a device is chosen, the runtime gets the graph, and the hashes, computed meanwhile, are waited
// for.
type opener struct {
	o       options
	from    source.Folder
	library func() error

	model  *Model                        // from read on
	graph  *export.Masked                // as the file has it
	hashes func() (source.Hashes, error) // waits for them
}

func (p *opener) open(ctx context.Context) (*Model, error) {
	// The hash is only needed at the end, or to look into the cache.
	hashing, cancel := context.WithCancel(ctx)
	defer cancel()
	err := p.read(hashing)
	if err == nil {
		// Nothing reads the caller's files after Open has returned.
		defer func() { cancel(); _, _ = p.hashes() }()
	}
	if lerr := p.library(); err == nil {
		err = lerr
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	// With the runtime it turns out whether the device works.
	if err := p.o.onDevice(ctx, p.settle(), func(o options) error {
		return p.named(p.start(ctx, o))
	}); err != nil {
		return nil, err
	}
	h, err := p.hashes()
	if err != nil {
		return nil, errors.Join(p.named(err), p.model.Close())
	}
	p.model.info.SHA256, p.model.info.FileSHA256 = h.All, h.File
	return p.model, nil
}

// named is an error of the model file, with its name.
func (p *opener) named(err error) error {
	if err == nil {
		return nil
	}
	return p.from.Named(fmt.Errorf("%s: %w", p.model.info.File, err))
}

// read reads and checks the files. The model's hashes are still being computed when
// it returns. The end of ctx stops that.
func (p *opener) read(ctx context.Context) error {
	from := p.from
	files, err := source.Find(from.FS, p.o.File)
	if err != nil {
		return from.Named(err)
	}
	name := files.Name
	load := make(chan error, 1)
	var m *onnx.Model
	go func() {
		var err error
		m, err = onnx.Load(from.FS, name)
		load <- err
	}()
	tok, terr := tokenize.LoadAs(files.Beside, p.o.Typography)
	cfg, cerr := files.Config()
	gerr := <-load
	if p.o.File != "" && errors.Is(gerr, onnx.ErrFormat) {
		return from.Named(gerr) // the folder of another file need not hold a model
	}
	if err := errors.Join(from.Named(gerr), from.Named(terr), from.Named(cerr)); err != nil {
		return err
	}
	p.model = &Model{tok: tok, from: from, asked: p.o}
	info := &p.model.info
	// The processor computes in float32 whatever the file asks for.
	if p.graph, err = info.addFile(name, onnxgrad.Widen(m), p.o.Inputs); err != nil {
		return from.Named(fmt.Errorf("%s: %w", name, err))
	}
	info.addConfig(cfg)
	info.addTokenizer(tok, files)
	external := p.graph.External(name)
	p.hashes = sync.OnceValues(func() (source.Hashes, error) {
		return p.o.shelf().Hashes(ctx, files, external...)
	})
	go func() { _, _ = p.hashes() }()
	return nil
}

// settle notes what the choice of a device depends on, and gives the size of the weights for it, 0
// for what gains nothing.
func (p *opener) settle() (size int64) {
	o := &p.o
	if p.graph.NoDerivative() == "" {
		size, o.stated = p.graph.WeightBytes(), p.model.info.config.Exact
	}
	onCPU := o.Device == "" || o.Device == AutoDevice || o.Device == CPUDevice
	if o.Few && size >= LargeWeights && onCPU {
		o.LowMemory, o.Forward = true, true
	}
	return size
}

// start hands the model to the runtime and begins work.
func (p *opener) start(ctx context.Context, o options) error {
	be, err := p.backend(ctx, o)
	if err != nil {
		return err
	}
	if _, ok := be.(*plain); ok && o.Precision == Int8 {
		o.Precision = Float32 // it runs as it is
	}
	m := p.model
	m.info.precision = o.Precision
	m.info.addHead(p.graph)
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

// backend tries the derived graph first. What has no rules there runs as it is, without gradients.
func (p *opener) backend(ctx context.Context, o options) (backend, error) {
	info := &p.model.info
	info.NoGradients = p.graph.NoDerivative()
	if o.about.Apart > 0 && (info.NoGradients != "" || o.Precision == Int8) {
		return nil, fmt.Errorf("%w: products of 8-bit integers were not checked on the device %s; use %s",
			errOption, o.about.Name, device.CPU)
	}
	if info.NoGradients == "" {
		sum := func() (string, error) {
			h, err := p.hashes()
			return h.All, err
		}
		if o.Precision == Int8 {
			c := calibrator{p.from, p.graph.Freed(), p.model.tok, info, o}
			o.columns = sync.OnceValues(func() ([][]int, error) { return c.columns(ctx) })
		}
		d, err := newDerived(ctx, p.from, p.graph, info, o, sum)
		if err == nil {
			return d, nil
		}
		if o.Precision == Int8 || !info.runsAsIs(err) { // not in another precision than is named
			return nil, err
		}
	}
	return newPlain(ctx, p.from, p.graph, info, o)
}

// Locate is the folder of a model and the name of its file in it, for [OpenDir] and [Options]. path
// is a folder, for which file is "", or an ONNX file. That of a file in a folder called onnx is the
// folder above if only that one has a tokenizer, as repositories of the hub are. An error is one of
// the file system.
func Locate(path string) (dir, file string, err error) { return source.Locate(path) }

// Unkept says what [Info] of a model in fsys would say in its field Unkept, without opening it.
func Unkept(ctx context.Context, fsys fs.FS, o Options) string {
	return (&options{Options: o}).shelf().Unkept(ctx, fsys, o.File)
}
