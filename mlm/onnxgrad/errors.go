package onnxgrad

import (
	"errors"
	"fmt"
)

// What can stand in the way of a derivation.
var (
	// errUnsupportedOp is for an operator, or a form of one, between the embeddings and the logits.
	errUnsupportedOp = errors.New("operator has no rule")
	errShape         = errors.New("shapes cannot be worked out")
	errInputs        = errors.New("model inputs are not those of a masked language model")
	errOutputs       = errors.New("model has no logits of shape [batch, sequence, vocabulary]")
	errEmbedding     = errors.New("word embedding table not found")
)

// errInternal marks a graph that no rule foresaw. Tests look for it.
var errInternal = errors.New("graph cannot be derived")

// Error says why a model cannot be derived, and at which operator if it is one.
type Error struct {
	Kind   error
	Op     string
	Node   string // name in the model's file
	Reason string
}

func (e *Error) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("%v: %s", e.Kind, e.Reason)
	}
	return fmt.Sprintf("%v: %s in node %q: %s", e.Kind, e.Op, e.Node, e.Reason)
}

// Unwrap gives the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Interface reports whether the model's inputs or outputs are wrong, so that nothing here can run
// it, derived or not.
func (e *Error) Interface() bool { return e.Kind == errInputs || e.Kind == errOutputs }

// refused is an error about an operation.
func (n *node) refused(kind error, format string, args ...any) error {
	return &Error{Kind: kind, Op: n.op, Node: n.name, Reason: fmt.Sprintf(format, args...)}
}

// refused is an error that no single operator is to blame for.
func refused(kind error, format string, args ...any) error {
	return &Error{Kind: kind, Reason: fmt.Sprintf(format, args...)}
}
