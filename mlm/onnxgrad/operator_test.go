package onnxgrad

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// TestRecordsComplete: an operator is composite and has lower alone, or elementary and has a rule
// for every pass, and a derivative or the reason for none.
func TestRecordsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range families() {
		for _, o := range f.records {
			if o.name == "" || seen[o.name] {
				t.Errorf("%s: operator %q has no name, or two records", f.name, o.name)
			}
			seen[o.name] = true
			if o.least < 0 || o.most != many && o.most < o.least || operators[o.name] == nil {
				t.Errorf("%s: %d to %d inputs", o.name, o.least, o.most)
			}
			if o.lower != nil {
				rest := operator{name: o.name, least: o.least, most: o.most}
				o.lower = nil
				if !reflect.DeepEqual(o, rest) {
					t.Errorf("%s: composite, but with rules of its own", o.name)
				}
				continue
			}
			if o.shape == nil || o.typ == nil || o.along == nil || o.least == 0 {
				t.Errorf("%s: a rule is missing", o.name)
			}
			if (o.derivative == nil) == (o.none == "") {
				t.Errorf("%s: neither a derivative nor the reason for none, or both", o.name)
			}
			if o.expand != nil && o.derivative == nil {
				t.Errorf("%s: is expanded for a derivative that is not there", o.name)
			}
		}
	}
}

// TestRecordsHaveKernels: whatever is derived can be checked, and constants can be folded. A record
// and its kernel need the same inputs.
func TestRecordsHaveKernels(t *testing.T) {
	t.Parallel()
	for name, o := range operators {
		// ours, written out before it is emitted; read by the graph evaluator
		if name == halfGelu || name == "If" || strings.HasSuffix(name, whole) {
			continue
		}
		least := 0
		for in := []*onnxeval.Tensor(nil); ; in, least = append(in, &onnxeval.Tensor{}), least+1 {
			_, err := evaluated(&onnx.Node{Op: name}, in, 17)
			if least == 0 && errors.Is(err, onnxeval.ErrOp) {
				t.Errorf("%s has no kernel", name)
			}
			if err == nil || !strings.HasSuffix(err.Error(), "is missing") {
				break
			}
		}
		if name == "Reshape" {
			least-- // our own form has the target in the shape of its output
		}
		if least != o.least {
			t.Errorf("%s needs %d inputs, its kernel %d", name, o.least, least)
		}
	}
}

// TestDerivativesTried: every derivative and every composite operator is in a model that
// TestEveryRule or TestRuntimeAgainstTorch differentiates.
func TestDerivativesTried(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{"GatherND": true} // of the blanks, in every model
	see := func(nodes []*onnx.Node) {
		for _, n := range nodes {
			tried[n.Op] = true
			if n.Op == "Gelu" {
				tried[halfGelu] = true
			}
		}
	}
	see(miniature().Graph.Nodes)
	for _, c := range ruleCases() {
		see(c.nodes)
	}
	for _, f := range fixtures(t) {
		see(f.model.Graph.Nodes)
	}
	for name, o := range operators {
		if (o.derivative != nil || o.lower != nil) && !tried[name] {
			t.Errorf("%s is not tried", name)
		}
	}
}

// TestPassesDocumented: the package comment has every pass, in the order in which they run.
func TestPassesDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(doc)
	for _, p := range passes() {
		_, after, found := strings.Cut(rest, "//   - "+p.name+": ")
		if !found || p.run == nil {
			t.Errorf("pass %q is not in the package comment after the one before it", p.name)
			continue
		}
		rest = after
	}
	if i := strings.Count(rest, "//   - "); i > 0 {
		t.Errorf("the package comment has %d passes more than there are", i)
	}
}

// TestInputsCounted: a node with fewer or more inputs than its operator takes is refused.
func TestInputsCounted(t *testing.T) {
	t.Parallel()
	x := &value{typ: onnx.Float, shape: shapeOf(2, 3)}
	for name, o := range operators {
		in := make([]*value, o.least)
		for i := range in {
			in[i] = x
		}
		if err := o.check("n", in); err != nil {
			t.Errorf("%s with %d inputs: %v", name, o.least, err)
		}
		if o.least > 0 {
			in[o.least-1] = nil
			if err := o.check("n", in); !errors.Is(err, errShape) {
				t.Errorf("%s without its last input: %v", name, err)
			}
		}
		if o.most != many {
			if err := o.check("n", append(make([]*value, o.most), x)); !errors.Is(err, errShape) {
				t.Errorf("%s with %d inputs: %v", name, o.most+1, err)
			}
		}
	}
}
