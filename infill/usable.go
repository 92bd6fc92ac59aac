package infill

import (
	"context"
	"fmt"

	"infill/infill/text"
	"infill/tokenize"
)

// Ready refuses an engine without a model, and a missing context. The error is ErrOption.
func (e *Engine) Ready(ctx context.Context) error {
	switch {
	case e == nil || e.model == nil:
		return fmt.Errorf("%w: the engine has no model; open one with infill/open",
			text.ErrOption)
	case ctx == nil:
		return fmt.Errorf("%w: the context is nil; pass context.Background()", text.ErrOption)
	}
	return nil
}

// usable is Ready, and refuses templates and words that were made for another model. opt is nil
// where no list of words is given.
func (e *Engine) usable(ctx context.Context, t *text.Template, opt *Options) error {
	if err := e.Ready(ctx); err != nil {
		return err
	}
	if t == nil || len(t.Blanks) == 0 {
		return fmt.Errorf("%w: there is no template; make one with Parse or Masking.Template",
			text.ErrOption)
	}
	if !e.knows(t.Tok) {
		return fmt.Errorf("%w: the template was made with the tokenizer of another vocabulary; make it "+
			"with Engine.Tokenizer", text.ErrOption)
	}
	if opt == nil {
		return nil
	}
	for _, l := range []*text.WordList{opt.Words.Allow, opt.Words.Ban} {
		if tok := l.Tokenizer(); tok != nil && !e.knows(tok) {
			return fmt.Errorf("%w: a list of words was made with the tokenizer of another vocabulary; "+
				"make it with Engine.Tokenizer", text.ErrOption)
		}
	}
	if n := len(opt.Words.Original); n > 0 && n != len(t.Blanks) &&
		opt.Sampling.Start != StartOriginal {
		return fmt.Errorf("%w: %d original words for %d blanks; give one for every blank, in the order "+
			"of the text", text.ErrOption, n, len(t.Blanks))
	}
	return nil
}

// knows reports whether a tokenizer has the same ids as the engine's model.
func (e *Engine) knows(tok *tokenize.Tokenizer) bool {
	own := e.model.Tokenizer()
	if tok == own || tok == e.alike.Load() {
		return true
	}
	if !own.Same(tok) {
		return false
	}
	e.alike.Store(tok)
	return true
}

// Reaches reports whether a filling can have a word of a text back where the word is blanked out:
// it is one token of the vocabulary, and the blank may take it. word is its byte span. The options
// Vocab, Allow and Ban count. [Masking.Fits] can ask it where fillings are compared with the words
// that stood there.
func (e *Engine) Reaches(sentence string, word [2]int, opt Options) bool {
	if e == nil || e.model == nil || word[0] < 0 || word[0] >= word[1] || word[1] > len(sentence) {
		return false
	}
	return e.supports.Reaches(sentence, word, WordOptions{Vocab: opt.Words.Vocab,
		Allow: opt.Words.Allow, Ban: opt.Words.Ban})
}
