package energies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"infill/infill"
	"infill/infill/open"
	"infill/internal/gate"
	"infill/internal/jsonwords"
	"infill/mlm"
)

// A classifier is an ONNX export of a model that sorts texts, with its own tokenizer: what Hugging
// Face's tools make of a model for the task text-classification. [classifier.Label] makes a term
// of it. It is safe for concurrent use.
type classifier struct {
	net    *mlm.Network
	labels []string
	many   bool // each label is a question of its own
}

// newClassifier opens the classifier in a folder: model.onnx with the output logits, config.json
// with id2label, and the tokenizer's files. Errors: those of [open.Network].
func newClassifier(ctx context.Context, dir string, o mlm.Options) (*classifier, error) {
	net, err := open.Network(ctx, dir, "logits", o)
	if err != nil {
		return nil, err
	}
	c := &classifier{net: net}
	if err := c.configure(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), net.Close())
	}
	return c, nil
}

// configure reads the labels, and compares their number with what the network says of a text.
func (c *classifier) configure(ctx context.Context) error {
	var config struct {
		Labels  map[string]string `json:"id2label"`
		Problem string            `json:"problem_type"`
	}
	if err := json.Unmarshal(c.net.Config(), &config); err != nil {
		return fmt.Errorf("%w: config.json: %w", mlm.ErrNetwork, jsonwords.Error(err))
	}
	if config.Problem == "regression" || len(config.Labels) < 2 {
		return fmt.Errorf("%w: config.json states no two labels in id2label; "+
			"export a model for text-classification", mlm.ErrNetwork)
	}
	c.many = config.Problem == "multi_label_classification"
	for i := range len(config.Labels) {
		label, ok := config.Labels[strconv.Itoa(i)]
		if !ok {
			return fmt.Errorf("%w: config.json: id2label has %d labels and none for %d", mlm.ErrNetwork,
				len(config.Labels), i)
		}
		c.labels = append(c.labels, label)
	}
	_, err := c.logProbs(ctx, "a")
	return err
}

// Labels are the names of the labels, in the order of the logits.
func (c *classifier) Labels() []string { return slices.Clone(c.labels) }

// Close frees the classifier.
func (c *classifier) Close() error { return c.net.Close() }

// Label is the term log p(label | text), in nats: at most 0. Of a classifier whose labels exclude
// each other p is the softmax of the logits, of a multi-label one the logistic function. The
// label is compared without regard to case where that leaves one. The error wraps ErrSpec.
func (c *classifier) Label(name, label string) (infill.Term, error) {
	i := slices.Index(c.labels, label)
	alike := func(l string) bool { return strings.EqualFold(l, label) }
	if i < 0 {
		i = slices.IndexFunc(c.labels, alike)
	}
	if i < 0 || c.labels[i] != label && slices.ContainsFunc(c.labels[i+1:], alike) {
		return nil, fmt.Errorf("%w: the classifier has no label %q; it has %s", ErrSpec, label,
			strings.Join(c.labels, ", "))
	}
	return &labelled{c, name, i}, nil
}

// logProbs are the logarithms of the probabilities of all labels.
func (c *classifier) logProbs(ctx context.Context, text string) ([]float64, error) {
	z, shape, _, err := c.net.Run(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 || int(shape[1]) != len(c.labels) {
		return nil, fmt.Errorf("%w: logits of shape %v for %d labels", mlm.ErrNetwork, shape,
			len(c.labels))
	}
	return logShares(z, c.many), nil
}

// logShares are the logarithms of the softmax of logits, or of the logistic function of each.
// Finite logits have finite values, however far they are apart.
func logShares(z []float32, many bool) []float64 {
	out := make([]float64, len(z))
	for i, x := range z {
		others := z // what excludes the label, itself included
		if many {
			others = []float32{0, x} // 0 is its denial
		}
		most, sum := float64(slices.Max(others)), 0.0
		for _, y := range others {
			sum += math.Exp(float64(y) - most)
		}
		out[i] = float64(x) - most - math.Log(sum)
	}
	return out
}

// labelled is a label as a term.
type labelled struct {
	*classifier
	name  string
	label int
}

// Name implements [infill.Term].
func (l *labelled) Name() string { return l.name }

// Rows implements [infill.Term].
func (l *labelled) Rows() int { return 1 }

// Values implements [infill.Term].
func (l *labelled) Values(ctx context.Context, texts []infill.Finished, v []float64) error {
	return gate.Each(ctx, len(texts), func(ctx context.Context, k int) error {
		p, err := l.logProbs(ctx, texts[k].Text)
		if err == nil {
			v[k] = p[l.label]
		}
		return err
	})
}
