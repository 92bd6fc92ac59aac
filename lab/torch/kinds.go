package torch

import (
	"fmt"
	"strings"
)

// The kinds of work that a profile is divided into.
const (
	kindProducts  = "products with weights"
	kindHead      = "head: its three products, softmax over the vocabulary, sum with the conditional"
	kindAttention = "attention: products of scores and values, softmax"
	kindGelu      = "Gelu, forward and backward"
	kindMoves     = "transpositions, lookups, reshapes"
	kindNorms     = "layer norms, residual sums, biases, everything else"
)

// isProduct tells matrix products whose sizes are known.
func (e *event) isProduct() bool {
	switch e.Args.Op {
	case "MatMul", "Gemm", "FusedMatMul", "FusedGemm", "MatMulInteger", "MatMulIntegerToFloat",
		"DynamicQuantizeMatMul":
		return len(e.Args.In) > 0 && len(e.Args.Out) > 0
	}
	return false
}

// in and out are the dimensions of the first input and output.
func (e *event) in() []int64 {
	if len(e.Args.In) == 0 {
		return nil
	}
	return dims(e.Args.In[0])
}

func (e *event) out() []int64 {
	if len(e.Args.Out) == 0 {
		return nil
	}
	return dims(e.Args.Out[0])
}

func last(d []int64) int64 {
	if len(d) == 0 {
		return 0
	}
	return d[len(d)-1]
}

// kindsOf divides the events of a profile by what they are for. The vocabulary is
// the widest product. The steps of a Gelu, forward and backward, have the name of
// the model's node that they stem from. Without names they are told by their width.
func kindsOf(events []event) func(e *event) string {
	var vocabulary, wide int64
	gelu := map[string]bool{}
	for i := range events {
		e := &events[i]
		if e.isProduct() {
			vocabulary = max(vocabulary, last(e.out()))
		}
		switch e.Args.Op {
		case "Erf", "Gelu", "BiasGelu", "FastGelu", "QuickGelu":
			wide = max(wide, last(e.out()))
			if n := e.origin(); n != "" {
				gelu[n] = true
			}
		}
	}
	isGelu := func(e *event) bool {
		if len(gelu) > 0 {
			return gelu[e.origin()]
		}
		return wide > 0 && last(e.out()) == wide
	}
	return func(e *event) string {
		in, out := e.in(), e.out()
		switch {
		case e.isProduct() && len(out) == 4:
			return kindAttention
		case last(out) == vocabulary || last(in) == vocabulary:
			return kindHead
		case e.isProduct():
			return kindProducts
		}
		switch e.Args.Op {
		case "Transpose", "Reshape", "Gather", "GatherND", "GatherElements", "Slice", "Split", "Concat",
			"Expand", "Unsqueeze", "Squeeze", "Shape", "Range":
			return kindMoves
		case "Softmax":
			return kindAttention
		}
		switch {
		case isGelu(e):
			return kindGelu
		case len(out) == 4 || len(in) == 4:
			return kindAttention
		}
		return kindNorms
	}
}

// origin is the name of the node of the model from which the event's stems, see
// onnxgrad: several of the same name are numbered.
func (e *event) origin() string {
	name := strings.TrimSuffix(e.Name, "_kernel_time")
	name, _, _ = strings.Cut(name, "#")
	return name
}

// productSize writes the size of a matrix product as rows × inner × columns, with
// the number of products before it where there are several; "" for others.
func productSize(e *event) string {
	if !e.isProduct() {
		return ""
	}
	out := e.out()
	all, columns := elements(e.Args.Out[0])
	a, _ := elements(e.Args.In[0])
	if columns == 0 || all == 0 {
		return ""
	}
	count, rows := 1.0, all/columns
	if len(out) == 4 {
		count = float64(out[0] * out[1])
		rows = float64(out[2])
	}
	size := fmt.Sprintf("%.0f×%.0f×%.0f", rows, a/(count*rows), columns)
	if count > 1 {
		size = fmt.Sprintf("%.0f of %s", count, size)
	}
	return size
}
