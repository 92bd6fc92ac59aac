package onnxgrad

import (
	"errors"
	"fmt"
)

// What can stand in the way of a derivation. Test with errors.Is.
var (
	// ErrUnsupportedOp is for an operator, or a form of one, between the embeddings and the logits.
	ErrUnsupportedOp = errors.New("operator has no rule")
	ErrShape         = errors.New("shapes cannot be worked out")
	ErrInputs        = errors.New("model inputs are not those of a masked language model")
	ErrOutputs       = errors.New("model has no logits of shape [batch, sequence, vocabulary]")
	ErrEmbedding     = errors.New("word embedding table not found")
)

// errInternal marks a graph that no rule foresaw. Tests look for it.
var errInternal = errors.New("graph cannot be derived")

// OpError names the operator and node that could not be handled.
type OpError struct {
	Op     string
	Node   string // name in the model's file
	Reason string
	Err    error // ErrUnsupportedOp or ErrShape
}

func (e *OpError) Error() string {
	return fmt.Sprintf("%v: %s in node %q: %s", e.Err, e.Op, e.Node, e.Reason)
}

// Unwrap gives the sentinel.
func (e *OpError) Unwrap() error { return e.Err }
