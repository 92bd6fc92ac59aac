package mlm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"infill/internal/ort"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/tokenize"
)

// ErrNetwork is returned for a folder whose model is not of the wanted kind.
var ErrNetwork = errors.New("not such a network")

// A Network is an ONNX export of a text model that predicts no words, such as a classifier or an
// encoder, with its own tokenizer. It is safe for concurrent use.
type Network struct {
	tok     *tokenize.Tokenizer
	session *ort.Session
	inputs  []string
	first   int64 // position_ids of the first token
	longest int   // tokens of a text at most, special ones included; 0: any number
	config  []byte
	sum     string
	done    func() // ends access to the files
}

// networkFiles are the files beside a model that decide what it says of a text.
var networkFiles = []string{"config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt",
	"vocab.json", "merges.txt", "special_tokens_map.json", "added_tokens.json"}

// OpenNetwork opens the network in a folder: model.onnx or onnx/model.onnx with its external data,
// the tokenizer's files and config.json. output is the name of the value that it computes. A graph
// with one output may have another name for it. The folder's files are read as [OpenDir] reads
// them. Of the options Runtime, CacheDir, Device and LowMemory count. It is evaluated in float32.
//
// Errors wrap ErrNetwork, source.ErrNoModel, or what [Open] has of files and of the runtime.
func OpenNetwork(ctx context.Context, dir, output string, o Options) (*Network, error) {
	return openFolder(ctx, dir, output, tokenize.Load, o)
}

func openFolder(ctx context.Context, dir, output string,
	tokenizer func(fs.FS) (*tokenize.Tokenizer, error), o Options) (*Network, error) {
	from, done, err := source.Open(dir)
	if err != nil {
		return nil, err
	}
	n, err := openNetwork(ctx, from, output, tokenizer, options{Options: o})
	if err != nil {
		done()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	n.done = done
	return n, nil
}

func openNetwork(ctx context.Context, from source.Folder, output string,
	tokenizer func(fs.FS) (*tokenize.Tokenizer, error), o options) (*Network, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	o.Precision, o.Profile = Float32, "" // those of a model that the options may have been given for
	if _, err := ort.Load(ort.FindOptions{Path: o.library(), CacheDir: o.CacheDir}); err != nil {
		return nil, err
	}
	if err := o.findDevice(0); err != nil {
		return nil, err
	}
	files, err := source.Find(from.FS, "")
	if err != nil {
		return nil, err
	}
	n := &Network{}
	cfg, cerr := files.Config()
	var terr error
	n.tok, terr = tokenizer(files.Beside)
	m, merr := onnx.Load(from.FS, files.Name)
	if err := errors.Join(merr, terr, cerr); err != nil {
		return nil, err
	}
	if n.config = cfg.Raw; n.config == nil {
		return nil, fmt.Errorf("%w: it needs its config.json: %w", ErrNetwork, fs.ErrNotExist)
	}
	n.first, n.longest = int64(cfg.FirstPosition()), cfg.Longest(n.tok.MaxLength())
	if n.sum, err = hashNetwork(ctx, files, m); err != nil {
		return nil, err
	}
	m = export.Of(onnxgrad.Widen(m)).WithUsualInputs()
	if output, err = n.interfaceOf(m, output); err != nil {
		return nil, fmt.Errorf("%s: %w", files.Name, err)
	}
	n.session, err = openSession(from, m, n.inputs, []string{output}, o)
	return n, err
}

// interfaceOf checks the inputs of a graph and finds its output.
func (n *Network) interfaceOf(m *onnx.Model, output string) (string, error) {
	for _, in := range m.Graph.Inputs {
		if slices.ContainsFunc(m.Graph.Initializers,
			func(t *onnx.Tensor) bool { return t.Name == in.Name }) {
			continue // old files list weights, too
		}
		switch in.Name {
		case "input_ids", "attention_mask", "token_type_ids", "position_ids":
		default:
			return "", fmt.Errorf("%w: the input %q is not one of text; export the model with input_ids, "+
				"attention_mask and token_type_ids alone", ErrNetwork, in.Name)
		}
		if in.Type != onnx.Int64 {
			return "", fmt.Errorf("%w: the input %s has type %v; export it with int64", ErrNetwork, in.Name,
				in.Type)
		}
		n.inputs = append(n.inputs, in.Name)
	}
	if !slices.Contains(n.inputs, "input_ids") {
		return "", fmt.Errorf("%w: it has no input input_ids", ErrNetwork)
	}
	var names []string
	for _, out := range m.Graph.Outputs {
		if out.Name == output {
			return output, nil
		}
		names = append(names, out.Name)
	}
	if len(names) != 1 {
		return "", fmt.Errorf("%w: no output is called %s; there are %s", ErrNetwork, output,
			strings.Join(names, ", "))
	}
	return names[0], nil
}

// hashNetwork is the hash of all that decides what a network says.
func hashNetwork(ctx context.Context, files source.Files, m *onnx.Model) (string, error) {
	first, err := files.Hash(ctx, m.External(files.Name)...)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, first.All)
	for _, f := range networkFiles {
		if !files.Has(f) {
			continue
		}
		next, err := source.Hash(ctx, files.Beside, f)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, f, next)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Config is config.json, which the caller must not change.
func (n *Network) Config() []byte { return n.config }

// SHA256 is a hash of the model, its weights, its configuration and its tokenizer.
func (n *Network) SHA256() string { return n.sum }

// Run computes the output of one text: its values, row by row, its shape, whose first number is 1,
// and the number of tokens with the special ones. Every text is a run of its own, so that its
// numbers do not depend on the texts beside it. Errors: ErrTooLong, those of the tokenizer and of
// the runtime.
func (n *Network) Run(ctx context.Context, text string) (values []float32, shape []int64,
	tokens int, err error) {
	if err := given(ctx); err != nil {
		return nil, nil, 0, err
	}
	if n.session == nil {
		return nil, nil, 0, errClosed
	}
	enc, err := n.tok.Encode(text)
	if err != nil {
		return nil, nil, 0, err
	}
	values, shape, err = n.of(ctx, enc.IDs)
	return values, shape, enc.Len(), err
}

// of computes the output of one row of tokens.
func (n *Network) of(ctx context.Context, ids []int32) ([]float32, []int64, error) {
	tokens := len(ids)
	if n.longest > 0 && tokens > n.longest {
		return nil, nil, fmt.Errorf("%w: %d pieces, the network takes %d", ErrTooLong, tokens,
			n.longest)
	}
	b := batch{key: key{length: tokens, group: 1}, rows: 1}
	b.ids, b.mask, b.types = make([]int64, tokens), make([]int64, tokens), make([]int64, tokens)
	for i, id := range ids {
		b.ids[i], b.mask[i] = int64(id), 1
	}
	var f feeds
	defer f.close()
	out := []*ort.Tensor{nil}
	if err := f.run(ctx, n.session, b.sequences(&f, n.inputs, n.first), out); err != nil {
		return nil, nil, closed(err)
	}
	defer out[0].Close()
	data, ok := out[0].Floats()
	shape := slices.Clone(out[0].Shape())
	if !ok || len(shape) == 0 || shape[0] != 1 {
		return nil, nil, fmt.Errorf("%w: an output of shape %v, want float32 with one row a text",
			ErrNetwork, shape)
	}
	return slices.Clone(data), shape, nil
}

// Close frees the network once nothing runs.
func (n *Network) Close() error {
	if n.session == nil {
		return nil
	}
	err := n.session.Close()
	n.done()
	return err
}
