package mlm

import (
	"context"
	"errors"
	"fmt"

	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/internal/cache"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
)

// encoded is a graph, original or derived, as the runtime gets it. Weights of a folder on disk are
// referred to by file, offset and length, so that the runtime maps them; all others travel inside
// the graph. keep moves them to the cache if it is not nil, and data is their file there.
func encoded(from source.Folder, m *onnx.Model, o options, keep keeper) (graph []byte, data string,
	err error) {
	if o.looseTable {
		m = export.Of(m).Loosened()
	}
	if keep != nil {
		if m, data, err = keep(m); err != nil {
			return nil, "", err
		}
	}
	switch {
	case data != "":
		graph, err = m.MarshalExternal(cache.ExternalMin, nil)
	case from.Dir != "":
		graph, err = m.MarshalExternal(cache.ExternalMin, from.Locate)
	default:
		graph, err = m.Marshal()
	}
	return graph, data, err
}

// A keeper is the function KeepWeights of a model's cache.
type keeper func(*onnx.Model) (*onnx.Model, string, error)

// fusions are the steps of the runtime's optimiser that compute a layer norm or a Gelu by another
// formula. A backward pass reads what lies between their operations and so keeps them from being
// applied. They are switched off where there is none, so that the last bits are the same.
const fusions = "GeluFusionL1;GeluFusionL2;FastGeluFusion;BiasGeluFusion;QuickGeluFusion;" +
	"LayerNormFusionL1;LayerNormFusionL2;SimplifiedLayerNormFusion;SkipLayerNormFusion;DivMulFusion"

// session gives an encoded graph to the runtime, which maps weights from the folder dir.
func session(dir string, data []byte, inputs, outputs []string, o options) (*ort.Session, error) {
	p, err := o.on().Provider(o.CacheDir)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", device.ErrDevice, o.on().Name(), err)
	}
	c := ort.Config{Provider: p, NoPrepack: o.LowMemory,
		NoArena: o.late && o.Few, Profile: o.Profile, Entries: map[string]string{}}
	if dir != "" {
		c.Entries["session.model_external_initializers_file_folder_path"] = dir
	}
	if o.unfused {
		off := fusions
		if o.late {
			off += ";ConstantFolding"
		}
		c.Entries["optimization.disable_specified_optimizers"] = off
	}
	return ort.OpenBytes("model", data, inputs, outputs, c)
}

// openSession gives a graph to the runtime as it is.
func openSession(from source.Folder, m *onnx.Model, inputs, outputs []string, o options) (
	*ort.Session, error) {
	data, _, err := encoded(from, m, o, nil)
	if err != nil {
		return nil, err
	}
	_, dir := from.Weights()
	return session(dir, data, inputs, outputs, o)
}

// feeds are tensors for one run, closed together.
type feeds struct {
	list []*ort.Tensor
	err  error
}

func feed[T ort.Element](f *feeds, data []T, shape ...int64) *ort.Tensor {
	t, err := ort.NewTensor(shape, data)
	if err != nil {
		f.err = errors.Join(f.err, err)
		return nil
	}
	f.list = append(f.list, t)
	return t
}

func (f *feeds) close() {
	for _, t := range f.list {
		t.Close()
	}
}

// counting is first, first+1, … for every row: the position_ids. BERT's begin
// with 0, RoBERTa's behind the id of the padding token.
func counting(rows, length int, first int64) []int64 {
	ids := make([]int64, rows*length)
	for i := range ids {
		ids[i] = first + int64(i%length)
	}
	return ids
}

// sequences feeds the inputs of the original graph by their names; first is
// the position_ids of the first token.
func (b *batch) sequences(f *feeds, names []string, first int64) []*ort.Tensor {
	shape := []int64{int64(b.rows), int64(b.length)}
	in := make([]*ort.Tensor, len(names))
	for i, n := range names {
		switch n {
		case "input_ids":
			in[i] = feed(f, b.ids, shape...)
		case "attention_mask":
			in[i] = feed(f, b.mask, shape...)
		case "token_type_ids":
			in[i] = feed(f, b.types, shape...)
		case "position_ids":
			in[i] = feed(f, counting(b.rows, b.length, first), shape...)
		default:
			f.err = errors.Join(f.err, fmt.Errorf("%w: cannot feed the input %q", errNotMasked, n))
		}
	}
	return in
}

// run evaluates one batch, stoppable through ctx.
func (f *feeds) run(ctx context.Context, s *ort.Session, in, out []*ort.Tensor) error {
	if f.err != nil {
		return f.err
	}
	return s.Run(ctx, in, out)
}
