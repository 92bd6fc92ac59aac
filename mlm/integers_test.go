package mlm

import (
	"context"
	"errors"
	"slices"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm/device"
	"infill/mlm/onnx"
)

// Products of unsigned integers are exact on every machine, and so are those of signed weights
// that were made unsigned.
func TestUnsignedProductsAreExact(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	saturates, err := SaturatesIntegers("")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("products with signed weights saturate: %v", saturates)
	for _, typ := range []onnx.DataType{onnx.Uint8, onnx.Int8} {
		m, want := largest(typ)
		if m, err = unsignedWeights(m); err != nil {
			t.Fatal(err)
		}
		if wrong, err := probe("", m, want); wrong || err != nil {
			t.Errorf("%v: wrong %v, %v", typ, wrong, err)
		}
		want[len(want)-1]--
		if wrong, err := probe("", m, want); !wrong || err != nil {
			t.Errorf("%v: a wrong sum is not found: %v", typ, err)
		}
	}
	if _, err := SaturatesIntegers("no such device"); !errors.Is(err, device.ErrDevice) {
		t.Errorf("a device that is not there: %v", err)
	}
}

// Where signed weights are right, unsigned ones give the same bits. Where they saturate, the
// processor gets the others by itself.
func TestSignedness(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	grads := map[signedness][][]float32{}
	for _, s := range []signedness{byProbe, signed, unsigned} {
		m := openTiny(t, Options{Precision: Int8, signedness: s})
		sentence, states := randomStates(m, 1, 20, 3, 12)
		k, n := len(sentence.Blanks), len(states)
		grad := table(n, k*m.VocabSize())
		if err := m.Gradient(ctx, sentence, states, Full, table(n, k), grad); err != nil {
			t.Fatal(err)
		}
		grads[s] = grad
		r, err := m.Check(ctx, CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if s != signed && !r.OK {
			t.Errorf("signedness %d: %+v", s, *r)
		}
	}
	saturates, err := SaturatesIntegers("")
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b signedness) bool {
		return slices.EqualFunc(grads[a], grads[b], slices.Equal[[]float32])
	}
	if !same(byProbe, unsigned) {
		t.Error("not the bits of exact products")
	}
	if same(signed, unsigned) == saturates {
		t.Errorf("signed and unsigned weights give the same bits: %v, saturation: %v",
			!saturates, saturates)
	}
}

// A cache that is carried to another processor does not give that one the wrong weights.
func TestCacheKnowsSignedness(t *testing.T) {
	t.Parallel()
	dir, cacheDir := copyTiny(t), t.TempDir()
	for i, s := range []signedness{signed, unsigned, signed, unsigned} {
		o := cached(cacheDir)
		o.Precision, o.signedness = Int8, s
		if hit, _ := opened(t, dir, o); hit != (i > 1) {
			t.Errorf("opening %d: from the cache %v", i, hit)
		}
	}
	if n := len(entries(t, cacheDir, graphSuffix)); n != 2 {
		t.Errorf("%d graphs", n)
	}
}
