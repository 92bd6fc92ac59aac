package onnxgrad

import (
	"path/filepath"
	"slices"
	"testing"

	"infill/internal/ort"
)

// TestBitIdentical: a chain gets the same bits whatever batch it is in, however many threads work,
// and whether or not the other outputs are asked for. The product promises this, so a processor on
// which the runtime behaves otherwise must be noticed. Padding is not part of the promise: sums
// over more positions may round otherwise (they do for a length of 12 padded to 20), so a
// sentence's padded length must not depend on its neighbours.
func TestBitIdentical(t *testing.T) {
	t.Parallel()
	f := fixtures(t)[0]
	t.Run("tiny", func(t *testing.T) { bitIdentical(t, derive(t, f.model), f.Calls[2]) })
	t.Run("shared", func(t *testing.T) {
		d := derive(t, loadModel(t, filepath.Join(shared(t), "model-v0", "model.onnx")))
		c := benchCall(8, 4, 24, d.Vocabulary)
		bitIdentical(t, d, c)
	})
}

func bitIdentical(t *testing.T, d *Derived, c map[string]array) {
	t.Helper()
	chains, m := c["blanks"].Shape[0], c["blanks"].Shape[1]
	one := open(t, d, ort.Config{Threads: 1})
	two := open(t, d, ort.Config{Threads: 2})
	all := one.run(t, c, true, true)
	length := c["input_ids"].Shape[1]
	v := d.Vocabulary
	check := func(what string, r result, from, to int) {
		t.Helper()
		lp, cond, grad := all.logProb[from*m:to*m], all.conditional[from*m*v:to*m*v],
			all.gradient[from*m*v:to*m*v]
		if !slices.Equal(r.logProb, lp) {
			t.Errorf("%s, chains %d to %d: log f has other bits", what, from, to)
		}
		if len(r.conditional) > 1 && !slices.Equal(r.conditional, cond) {
			t.Errorf("%s, chains %d to %d: conditional has other bits", what, from, to)
		}
		if len(r.gradient) > 1 && !slices.Equal(r.gradient, grad) {
			t.Errorf("%s, chains %d to %d: gradient has other bits", what, from, to)
		}
	}
	check("two threads", two.run(t, c, true, true), 0, chains)
	check("energy only", one.run(t, c, false, false), 0, chains)
	check("conditional only", one.run(t, c, true, false), 0, chains)
	for _, size := range []int{1, 2, 3, 5} {
		for from := 0; from+size <= chains; from += size {
			check("smaller batch", one.run(t, part(c, from, from+size, length), true, true), from,
				from+size)
		}
	}
}
