package mlm

import (
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm/internal/export"
	"infill/mlm/onnx"
)

// Products of unsigned integers are exact on every machine, also where signed weights were made
// unsigned.
func TestUnsignedProductsAreExact(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	saturates, err := SaturatesIntegers()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("products with signed weights saturate: %v", saturates)
	for _, typ := range []onnx.DataType{onnx.Uint8, onnx.Int8} {
		m, want := largest(typ)
		if m, err = export.Of(m).UnsignedWeights(); err != nil {
			t.Fatal(err)
		}
		if wrong, err := probe(m, want); wrong || err != nil {
			t.Errorf("%v: wrong %v, %v", typ, wrong, err)
		}
		want[len(want)-1]--
		if wrong, err := probe(m, want); !wrong || err != nil {
			t.Errorf("%v: a wrong sum is not found: %v", typ, err)
		}
	}
}
