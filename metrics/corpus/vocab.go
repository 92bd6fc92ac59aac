package corpus

import (
	"errors"
	"fmt"
	"math"
)

// ErrTooLarge reports a corpus with more tokens than 32-bit numbering can hold.
var ErrTooLarge = errors.New("corpus too large: more than 4294967000 tokens; split the file or " +
	"sample it")

// maxTokens leaves room for the reserved numbers of the n-gram tables.
const maxTokens = math.MaxUint32 - 295

// Vocab numbers the distinct tokens of one or more corpora, 0 upwards in order of first appearance.
// The zero value is empty and ready. It is not safe for concurrent use.
type Vocab struct {
	ids map[string]uint32
}

// ID returns the number of a token, assigning the next free one to a new token.
// The token's bytes are copied, so it may share memory with a reused buffer.
func (v *Vocab) ID(token string) uint32 {
	if id, ok := v.ids[token]; ok {
		return id
	}
	if v.ids == nil {
		v.ids = make(map[string]uint32)
	}
	token = string([]byte(token)) // do not pin the whole line in memory
	id := uint32(len(v.ids))
	v.ids[token] = id
	return id
}

// Len returns how many distinct tokens have been numbered.
func (v *Vocab) Len() int { return len(v.ids) }

// Corpus is a list of tokenised sentences. Build it with [New].
type Corpus struct {
	vocab  *Vocab
	pipe   *Pipeline
	tokens []uint32
	ends   []int // ends[i] is the end of sentence i in tokens
}

// New returns an empty corpus whose lines are tokenised by pipe and numbered in
// vocab. A nil vocab makes a new one. A nil pipe is the default pipeline.
func New(vocab *Vocab, pipe *Pipeline) *Corpus {
	if vocab == nil {
		vocab = &Vocab{}
	}
	if pipe == nil {
		pipe = defaultPipeline()
	}
	return &Corpus{vocab: vocab, pipe: pipe}
}

// Add tokenises one line and appends it as a sentence, which may be empty.
func (c *Corpus) Add(line string) error {
	c.pipe.Each(line, func(token string) { c.tokens = append(c.tokens, c.vocab.ID(token)) })
	if len(c.tokens) > maxTokens {
		c.tokens = c.tokens[:c.end(len(c.ends)-1)]
		return fmt.Errorf("sentence %d: %w", len(c.ends)+1, ErrTooLarge)
	}
	c.ends = append(c.ends, len(c.tokens))
	return nil
}

func (c *Corpus) end(i int) int {
	if i < 0 {
		return 0
	}
	return c.ends[i]
}

// Len returns the number of sentences, empty ones included.
func (c *Corpus) Len() int { return len(c.ends) }

// Tokens returns all tokens in a row; [Corpus.Bounds] cuts it into sentences.
// The slice is the corpus's own: read it only.
func (c *Corpus) Tokens() []uint32 { return c.tokens }

// Bounds returns where sentence i starts and ends in [Corpus.Tokens].
func (c *Corpus) Bounds(i int) (start, end int) { return c.end(i - 1), c.ends[i] }

// Sentence returns the tokens of sentence i. The slice is the corpus's own.
func (c *Corpus) Sentence(i int) []uint32 { return c.tokens[c.end(i-1):c.ends[i]] }

// Vocab returns the numbering that the corpus shares with others.
func (c *Corpus) Vocab() *Vocab { return c.vocab }

// Pipeline returns how the lines were made into tokens.
func (c *Corpus) Pipeline() *Pipeline { return c.pipe }

// Head returns the first n sentences (all when there are fewer) as a corpus that
// shares memory with c. Adding to either afterwards is not allowed.
func (c *Corpus) Head(n int) *Corpus {
	n = min(max(n, 0), c.Len())
	e := c.end(n - 1)
	return &Corpus{vocab: c.vocab, pipe: c.pipe, tokens: c.tokens[:e:e], ends: c.ends[:n:n]}
}

// Select returns the sentences with the given indices, in that order.
func (c *Corpus) Select(indices []int) *Corpus {
	out := &Corpus{vocab: c.vocab, pipe: c.pipe}
	for _, i := range indices {
		out.tokens = append(out.tokens, c.Sentence(i)...)
		out.ends = append(out.ends, len(out.tokens))
	}
	return out
}
