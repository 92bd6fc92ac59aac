package mlm

import "infill/mlm/onnx"

// Info is what was recognised in a model. MaxLength counts the special tokens and is
// 0 if the model does not state it. Known is "" if the tokenizer has no vocabulary
// that was published.
type Info struct {
	File         string         `json:"file"`         // inside the model's folder
	SHA256       string         `json:"sha256"`       // of file and external data
	FileSHA256   string         `json:"file_sha256"`  // of the file alone
	Architecture string         `json:"architecture"` // of config.json, "" if missing
	Producer     string         `json:"producer"`     // the exporter, as stated
	Opset        int64          `json:"opset"`        // of the standard operators
	Inputs       []string       `json:"inputs"`       // of the model file, by their usual names
	Vocab        int            `json:"vocab"`        // V, the number of logits
	Tokens       int            `json:"tokens"`       // of the tokenizer, ≤ V
	Hidden       int            `json:"hidden"`       // width of the word embeddings
	MaxLength    int            `json:"max_length"`   // ids of a sentence at most
	MaskID       int32          `json:"mask_id"`
	Mask         string         `json:"mask"`                       // the spelling of the mask token
	Known        string         `json:"known_vocabulary,omitempty"` // the published vocabulary it is
	Embedding    string         `json:"embedding"`                  // name of the word-embedding table
	Head         string         `json:"head"`                       // name of the output projection
	Tied         bool           `json:"tied"`                       // both are one table
	Parameters   int64          `json:"parameters"`                 // weights, shared ones once
	Bytes        int64          `json:"bytes"`                      // of file and external data
	Ops          map[string]int `json:"ops"`                        // operators, how often each
	Gradients    bool           `json:"gradients"`                  // the full one could be derived
	NoGradients  string         `json:"no_gradients,omitempty"`     // why not, and what helps
	Warnings     []string       `json:"warnings,omitempty"`         // what makes results doubtful
	// Adapted says how the file's inputs and output are used that are unusual.
	Adapted []string `json:"adapted,omitempty"`
	// Unkept says why weights stored in few bits are held in memory: the cache from which they would
	// be mapped has no room or cannot be written. "" if they are mapped, or are not for the cache.
	Unkept string `json:"unkept,omitempty"`
}

// headName is the name of the stored weight of the product that makes the
// logits, "" if they are made in another way.
func headName(m *onnx.Model) string {
	s := newSources(m)
	weight := func(name string) string {
		name, _ = s.weight(name)
		return name
	}
	n := s.producer[logits(m).Name]
	for n != nil && len(n.Inputs) > 0 {
		switch n.Op {
		case "MatMul", "Gemm", "FusedMatMul":
			if len(n.Inputs) > 1 {
				return weight(n.Inputs[1])
			}
			return ""
		case "Add":
			next := s.producer[n.Inputs[0]]
			if len(n.Inputs) > 1 && (next == nil || weight(n.Inputs[0]) != "") {
				next = s.producer[n.Inputs[1]]
			}
			n = next
		case "Cast", "Identity", "Reshape", "Squeeze":
			n = s.producer[n.Inputs[0]]
		default:
			return ""
		}
	}
	return ""
}

// sources say where the values of a graph come from.
type sources struct {
	stored   map[string]*onnx.Tensor
	producer map[string]*onnx.Node
}

func newSources(m *onnx.Model) sources {
	s := sources{map[string]*onnx.Tensor{}, map[string]*onnx.Node{}}
	for _, t := range m.Graph.Initializers {
		s.stored[t.Name] = t
	}
	for _, n := range m.Graph.Nodes {
		for _, o := range n.Outputs {
			if o != "" { // an output that is left out, like an input
				s.producer[o] = n
			}
		}
	}
	return s
}

// weight follows a value through changes of layout and type to where it is stored, nil if
// it is computed.
func (s sources) weight(name string) (string, *onnx.Tensor) {
	for s.stored[name] == nil {
		n := s.producer[name]
		if n == nil || len(n.Inputs) == 0 {
			return "", nil
		}
		switch n.Op {
		case "Transpose", "Cast", "Identity", "DequantizeLinear":
		default:
			return "", nil
		}
		name = n.Inputs[0]
	}
	return name, s.stored[name]
}

// stored is the number of elements of a stored tensor, 0 if there is none.
func stored(m *onnx.Model, name string) int64 {
	for _, t := range m.Graph.Initializers {
		if t.Name == name {
			return t.Len()
		}
	}
	return 0
}
