package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
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

// entryMagic begins an entry. It changes with the layout:
//
//	magic, length of about (4 bytes), about as JSON,
//	length of the graph (8 bytes), the graph, SHA-256 of all before
//
// Numbers are little-endian.
const entryMagic = "infill graph 3\n"

const maxAbout = 1 << 20

// encode is g as an entry of the cache.
func (g *Graph) encode() ([]byte, error) {
	head, err := json.Marshal(g.About)
	if err != nil || len(head) > maxAbout {
		return nil, errors.Join(errEntry, err)
	}
	b := make([]byte, 0, len(entryMagic)+4+len(head)+8+len(g.Onnx)+sha256.Size)
	b = append(b, entryMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
	b = append(b, head...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(g.Onnx)))
	b = append(b, g.Onnx...)
	return sealed(b), nil
}

// sealed is b with its checksum.
func sealed(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// decodeGraph reads an entry and keeps parts of b. Errors wrap errEntry.
func decodeGraph(b []byte, key string) (*Graph, error) {
	rest, ok := bytes.CutPrefix(b, []byte(entryMagic))
	if !ok || len(rest) < 4+8+sha256.Size {
		return nil, fmt.Errorf("%w: no header", errEntry)
	}
	end := len(b) - sha256.Size
	if sum := sha256.Sum256(b[:end]); !bytes.Equal(sum[:], b[end:]) {
		return nil, fmt.Errorf("%w: its checksum is of other bytes", errEntry)
	}
	rest = rest[:len(rest)-sha256.Size]
	n := uint64(binary.LittleEndian.Uint32(rest))
	rest = rest[4:]
	if n > maxAbout || n+8 > uint64(len(rest)) {
		return nil, fmt.Errorf("%w: %d bytes of description", errEntry, n)
	}
	g := &Graph{}
	if err := json.Unmarshal(rest[:n], &g.About); err != nil {
		return nil, fmt.Errorf("%w: %w", errEntry, err)
	}
	size := binary.LittleEndian.Uint64(rest[n:])
	g.Onnx = rest[n+8:]
	a := &g.About
	switch {
	case size != uint64(len(g.Onnx)) || size == 0:
		return nil, fmt.Errorf("%w: a graph of %d bytes", errEntry, size)
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
