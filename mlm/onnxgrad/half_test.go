package onnxgrad

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
)

// Half precision gives torch's numbers of float32 to about three digits, for every fixture. The
// processor has few kernels for it and casts around the others, which rounds at the same places.
func TestHalf(t *testing.T) {
	var attentions, norms atomic.Int64
	t.Cleanup(func() {
		if attentions.Load() < 35 || norms.Load() < 150 {
			t.Errorf("%d attentions and %d norms of sums are one operation", attentions.Load(), norms.Load())
		}
	})
	eachFixture(t, func(t *testing.T, f fixture) {
		d, err := Derive(f.model, Options{Half: true})
		if err != nil {
			t.Fatal(err)
		}
		counted := map[string]int{}
		for _, n := range d.Model.Graph.Nodes {
			counted[n.Op]++
		}
		whole := derive(t, f.model)
		for _, n := range whole.Model.Graph.Nodes {
			if n.Op == "Erf" {
				counted["Erf before"]++
			}
		}
		written := strings.HasSuffix(f.name, "float16") // with a √½ that is none
		if counted["Gelu"] != counted["Erf before"] && !written {
			t.Errorf("%s: %d Gelus as a whole, %d written out; %d before", f.name, counted["Gelu"],
				counted["Erf"], counted["Erf before"])
		}
		attentions.Add(int64(counted["MultiHeadAttention"]))
		norms.Add(int64(counted["SkipLayerNormalization"]))
		if d.Gradient {
			t.Error("it has a backward pass")
		}
		orttest.Load(t)
		checkHalf(t, f, ort.Config{Plain: true}, false)
		checkHalf(t, f, ort.Config{Plain: true}, true)
	})
}

// checkHalf compares a fixture's numbers in half precision with torch's.
func checkHalf(t *testing.T, f fixture, c ort.Config, unpadded bool) {
	t.Helper()
	d, err := Derive(f.model, Options{Half: true, Unpadded: unpadded})
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.Model.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	open, err := ort.OpenBytes("half", data, d.Inputs, []string{outLogProb, outCondition},
		c)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close() //nolint:errcheck // end of the test
	s := &session{open, d.Inputs, d}
	for i, call := range f.Calls {
		if mask, ok := call["attention_mask"]; unpadded && ok && slices.Min(mask.Data) < 1 {
			continue
		}
		in, out := s.feed(t, call, true, false), make([]*ort.Tensor, 2)
		err := s.Run(context.Background(), in, out)
		for _, x := range in {
			x.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		for k, name := range []string{outLogProb, outCondition} {
			got, _ := out[k].Floats()
			worst := 0.0
			for j, want := range call[name].Data {
				if off := math.Abs(float64(got[j]) - want); !(off <= worst) {
					worst = off
				}
			}
			if !(worst < .04) || worst == 0 && len(got) > 4 {
				t.Errorf("call %d: %s is off by %.2g nats", i, name, worst)
			}
			out[k].Close()
		}
	}
}
