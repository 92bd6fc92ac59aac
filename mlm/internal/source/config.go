package source

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"infill/internal/disk"
	"infill/internal/jsonwords"
)

// maxConfig bounds config.json; those of published models have a few kB.
const maxConfig = 1 << 20

// Config is what is used of config.json; every field may be missing.
type Config struct {
	Architectures []string `json:"architectures"`
	ModelType     string   `json:"model_type"`
	Vocab         int      `json:"vocab_size"`
	MaxPositions  int      `json:"max_position_embeddings"`
	NPositions    int      `json:"n_positions"` // as GPT-2 calls it
	Hidden        int      `json:"hidden_size"`
	Embedding     int      `json:"embedding_size"` // width of the word embeddings if not hidden_size
	Dim           int      `json:"dim"`            // hidden_size as DistilBERT calls it
	PadID         *int     `json:"pad_token_id"`
	Unused        bool     `json:"unused_logits"` // many logits have no piece, and that is meant
	// Exact are columns that stay in float32 where products are in 8 bits, for each matrix.
	Exact [][]int `json:"int8_exact"`

	Raw []byte `json:"-"` // all of config.json, nil if there is none
}

// Config reads config.json; a folder without one gives the zero value.
func (f Files) Config() (Config, error) {
	var c Config
	data, err := disk.ReadFS(f.Beside, "config.json", maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case errors.Is(err, disk.ErrTooLarge), errors.Is(err, disk.ErrNotRegular):
		return c, fmt.Errorf("%w: %w", ErrNoModel, err)
	case err != nil:
		return c, fmt.Errorf("config.json: %w", err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("%w: config.json: %w", ErrNoModel, jsonwords.Error(err))
	}
	if c.Vocab < 0 || c.MaxPositions < 0 {
		return c, fmt.Errorf("%w: config.json: negative vocab_size or max_position_embeddings",
			ErrNoModel)
	}
	c.Raw = data
	return c, nil
}

// Architecture names the model for people.
func (c Config) Architecture() string {
	if len(c.Architectures) > 0 {
		return c.Architectures[0]
	}
	return c.ModelType
}

// Positions is the longest sentence that the position table has room for, 0
// if it is not stated. RoBERTa and its kin count positions from the id of the
// padding token on, so that as many rows of the table are never used.
func (c Config) Positions() int {
	return max(0, cmp.Or(c.MaxPositions, c.NPositions)-c.FirstPosition())
}

// FirstPosition is the position of the first token.
func (c Config) FirstPosition() int {
	switch c.ModelType {
	case "roberta", "xlm-roberta", "camembert", "mpnet", "longformer",
		"xlm-roberta-xl", "roberta-prelayernorm", "data2vec-text", "ibert", "esm":
		pad := 1
		if c.PadID != nil && *c.PadID >= 0 {
			pad = *c.PadID
		}
		return pad + 1
	}
	return 0
}

// Longest is the smallest of Positions and other limits that are stated (above 0).
func (c Config) Longest(limits ...int) int {
	least := c.Positions()
	for _, l := range limits {
		if l > 0 && (least == 0 || l < least) {
			least = l
		}
	}
	return least
}

// Causal says whether the model predicts the next token.
func (c Config) Causal() bool {
	if len(c.Architectures) == 0 {
		return c.ModelType == "gpt2"
	}
	name := c.Architectures[0]
	return strings.HasSuffix(name, "LMHeadModel") || strings.HasSuffix(name, "ForCausalLM")
}
