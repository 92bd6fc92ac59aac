package mlm

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
	Typography   string         `json:"typography"`                 // straight or as-is
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
