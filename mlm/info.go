package mlm

// Info is what was recognised in a model: what `infill model info` prints.
type Info struct {
	File         string         `json:"file"`                   // inside the model's folder
	SHA256       string         `json:"sha256"`                 // of that file and, if it has any, its external data
	Architecture string         `json:"architecture"`           // of config.json, "" if it is missing
	Producer     string         `json:"producer"`               // the exporter, as the file states it
	Opset        int64          `json:"opset"`                  // of the standard operators
	Inputs       []string       `json:"inputs"`                 // of the model file
	Vocab        int            `json:"vocab"`                  // V, the number of logits
	Tokens       int            `json:"tokens"`                 // of the tokenizer, ≤ V
	Hidden       int            `json:"hidden"`                 // width of the word embeddings
	MaxLength    int            `json:"max_length"`             // ids of a sentence, special tokens included; 0: not stated
	MaskID       int32          `json:"mask_id"`                //
	Mask         string         `json:"mask"`                   // the spelling of the mask token
	Embedding    string         `json:"embedding"`              // name of the word-embedding table
	Head         string         `json:"head"`                   // name of the output projection
	Tied         bool           `json:"tied"`                   // both are one table
	Parameters   int64          `json:"parameters"`             // weights, shared ones counted once
	Bytes        int64          `json:"bytes"`                  // size of the model file and its external data
	Ops          map[string]int `json:"ops"`                    // operators of the file and how often they occur
	Gradients    bool           `json:"gradients"`              // the full gradient could be derived
	NoGradients  string         `json:"no_gradients,omitempty"` // why not, and what helps
	Derived      string         `json:"derived,omitempty"`      // cached derived graph, "" if it is in memory only
	Cached       bool           `json:"cached"`                 // that file was there already
}
