package mlm

import "infill/mlm/onnx"

// Info is what was recognised in a model. MaxLength counts the special tokens and is
// 0 if the model does not state it. Known is "" if the tokenizer has no vocabulary
// that was published.
type Info struct {
	File         string   // inside the model's folder
	SHA256       string   // of file and external data
	Architecture string   // of config.json, "" if missing
	Producer     string   // the exporter, as stated
	Opset        int64    // of the standard operators
	Inputs       []string // of the model file
	Vocab        int      // V, the number of logits
	Tokens       int      // of the tokenizer, ≤ V
	Hidden       int      // width of the word embeddings
	MaxLength    int      // ids of a sentence at most
	MaskID       int32
	Mask         string         // the spelling of the mask token
	Known        string         // the published vocabulary it is
	Embedding    string         // name of the word-embedding table
	Head         string         // name of the output projection
	Tied         bool           // both are one table
	Parameters   int64          // weights, shared ones once
	Bytes        int64          // of file and external data
	Ops          map[string]int // operators, how often each
	Gradients    bool           // the full one could be derived
	NoGradients  string         // why not, and what helps
	Warnings     []string       // what makes results doubtful
}

// headName is the name of the stored weight of the product that makes the
// logits, "" if they are made in another way.
func headName(m *onnx.Model) string {
	producer := map[string]*onnx.Node{}
	for _, n := range m.Graph.Nodes {
		for _, o := range n.Outputs {
			producer[o] = n
		}
	}
	stored := map[string]bool{}
	for _, t := range m.Graph.Initializers {
		stored[t.Name] = true
	}
	// weight follows a tensor through layout and type changes to where it is stored.
	weight := func(name string) string {
		for !stored[name] {
			n := producer[name]
			if n == nil || len(n.Inputs) == 0 {
				return ""
			}
			switch n.Op {
			case "Transpose", "Cast", "Identity", "DequantizeLinear":
			default:
				return ""
			}
			name = n.Inputs[0]
		}
		return name
	}
	n := producer[logits(m).Name]
	for n != nil && len(n.Inputs) > 0 {
		switch n.Op {
		case "MatMul", "Gemm", "FusedMatMul":
			if len(n.Inputs) > 1 {
				return weight(n.Inputs[1])
			}
			return ""
		case "Add":
			next := producer[n.Inputs[0]]
			if len(n.Inputs) > 1 && (next == nil || weight(n.Inputs[0]) != "") {
				next = producer[n.Inputs[1]]
			}
			n = next
		case "Cast", "Identity", "Reshape", "Squeeze":
			n = producer[n.Inputs[0]]
		default:
			return ""
		}
	}
	return ""
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
