package mlm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"infill/internal/disk"
	"infill/internal/jsonwords"
)

// maxConfig bounds config.json; those of published models have a few kB.
const maxConfig = 1 << 20

// config is what is used of config.json; every field may be missing.
type config struct {
	Architectures []string `json:"architectures"`
	ModelType     string   `json:"model_type"`
	Vocab         int      `json:"vocab_size"`
	MaxPositions  int      `json:"max_position_embeddings"`
	Hidden        int      `json:"hidden_size"`
	Embedding     int      `json:"embedding_size"` // width of the word embeddings if not hidden_size
	Dim           int      `json:"dim"`            // hidden_size as DistilBERT calls it
	PadID         *int     `json:"pad_token_id"`
}

// readConfig reads config.json; a folder without one gives the zero value.
func readConfig(fsys fs.FS) (config, error) {
	var c config
	data, err := disk.ReadFS(fsys, "config.json", maxConfig)
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
	return c, nil
}

// architecture names the model for people.
func (c config) architecture() string {
	if len(c.Architectures) > 0 {
		return c.Architectures[0]
	}
	return c.ModelType
}

// positions is the longest sentence that the position table has room for, 0
// if it is not stated. RoBERTa and its kin count positions from the id of the
// padding token on, so that as many rows of the table are never used.
func (c config) positions() int {
	return max(0, c.MaxPositions-c.firstPosition())
}

// firstPosition is the position of the first token.
func (c config) firstPosition() int {
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

// longest is the smallest of the limits that are stated (above 0).
func longest(limits ...int) int {
	least := 0
	for _, l := range limits {
		if l > 0 && (least == 0 || l < least) {
			least = l
		}
	}
	return least
}

// checkVocabulary is the comparison of [facts.check].
func checkVocabulary(tokens, logits int, plain bool, c config) error {
	stated := tokens < logits && c.Vocab == logits && !plain
	if tokens == logits || roundedUp(tokens, logits) || stated {
		return nil
	}
	return fmt.Errorf("%w: the tokenizer has %d tokens, the model %d logits; put the "+
		"tokenizer files of this very model beside it", errVocabulary, tokens, logits)
}

// roundedUp says whether a table was padded to a multiple that processors like.
func roundedUp(tokens, logits int) bool {
	for _, multiple := range []int{8, 64, 128} {
		if tokens < logits && logits%multiple == 0 && logits-tokens < multiple {
			return true
		}
	}
	return false
}
