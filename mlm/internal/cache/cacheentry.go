package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"infill/mlm/onnxgrad"
)

// errEntry: a file of the cache is damaged, cut short, or of something else.
var errEntry = errors.New("not an entry of this cache")

// Graph is a derived graph ready for the runtime, and what is known of it.
type Graph struct {
	About About
	Onnx  []byte // as the runtime gets it; large weights of a folder by reference
}

// About is what the cache keeps beside a graph.
type About struct {
	Key string `json:"key"` // of the cache's entry, "" outside the cache
	onnxgrad.Facts
	Late        bool   `json:"late,omitempty"`     // see widened
	NewHead     bool   `json:"new_head,omitempty"` // what makes the logits looks untrained
	NoGradients string `json:"no_gradients,omitempty"`
	// bytes per token that the backward pass keeps of rows of usualLength
	Kept    int64  `json:"kept"`
	Data    string `json:"data,omitempty"` // the file of its weights in the cache
	Weights int64  `json:"weights"`        // bytes, see weightBytes
}

// entryMagic begins an entry. It changes with the layout: magic, a line of about as JSON, the
// graph, SHA-256 of all before.
const entryMagic = "infill graph 4\n"

// encode is g as an entry of the cache.
func (g *Graph) encode() ([]byte, error) {
	head, err := json.Marshal(g.About)
	if err != nil {
		return nil, err
	}
	return sealed(slices.Concat([]byte(entryMagic), head, []byte{'\n'}, g.Onnx)), nil
}

// sealed is b with its checksum.
func sealed(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// decodeGraph reads an entry and keeps parts of b. Errors wrap errEntry.
func decodeGraph(b []byte, key string) (*Graph, error) {
	rest, ok := bytes.CutPrefix(b, []byte(entryMagic))
	if !ok || len(rest) < sha256.Size {
		return nil, fmt.Errorf("%w: no header", errEntry)
	}
	end := len(b) - sha256.Size
	if sum := sha256.Sum256(b[:end]); !bytes.Equal(sum[:], b[end:]) {
		return nil, fmt.Errorf("%w: its checksum is of other bytes", errEntry)
	}
	g := &Graph{}
	var head []byte
	head, g.Onnx, _ = bytes.Cut(rest[:len(rest)-sha256.Size], []byte{'\n'})
	if err := json.Unmarshal(head, &g.About); err != nil {
		return nil, fmt.Errorf("%w: %w", errEntry, err)
	}
	a := &g.About
	switch {
	case len(g.Onnx) == 0:
		return nil, fmt.Errorf("%w: no graph", errEntry)
	case a.Key != key:
		return nil, fmt.Errorf("%w: it is of %q", errEntry, a.Key)
	case a.Vocabulary < 1 || a.Vocabulary > 1<<24 || a.Dimension < 1 || a.Dimension > 1<<24 ||
		a.Kept < 0 || a.Weights < 0 || a.State < 0 || a.State > 1<<24 ||
		a.Data != "" && !isWeights(a.Data) || len(a.Inputs) == 0 ||
		len(a.Outputs) != 2+present(a.Gradient)+present(a.State > 0):
		return nil, fmt.Errorf("%w: impossible sizes", errEntry)
	}
	return g, nil
}

// present is how many outputs there are of something.
func present(is bool) int {
	if is {
		return 1
	}
	return 0
}
