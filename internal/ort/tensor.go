package ort

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	binding "github.com/yalue/onnxruntime_go"
)

// Element is a Go type that has a tensor type.
type Element interface {
	float32 | int32 | int64 | bool | uint8
}

// Tensor is an array in Go memory that the runtime reads or writes in place.
// The slice it was made from stays pinned, and so neither moved nor freed,
// until Close; nothing is copied. A Tensor may be used by one run at a time
// as an output, by any number as an input. The zero value is of no use.
type Tensor struct {
	shape []int64
	value binding.Value
	pin   runtime.Pinner
	data  any // the caller's slice
}

// NewTensor wraps data, whose length must be the product of shape. An empty
// shape is a scalar, with one element; that one is copied, so that it serves as
// an input only. The runtime must be loaded.
func NewTensor[T Element](shape []int64, data []T) (*Tensor, error) {
	n := int64(1)
	for i, d := range shape {
		if d < 0 {
			return nil, fmt.Errorf("tensor: dimension %d is %d", i, d)
		}
		if d > 0 && n > math.MaxInt64/d {
			return nil, fmt.Errorf("tensor: shape %v overflows", shape)
		}
		n *= d
	}
	if n != int64(len(data)) {
		return nil, fmt.Errorf("tensor: shape %v has %d elements, the slice %d", shape, n, len(data))
	}
	t := &Tensor{shape: append([]int64(nil), shape...), data: data}
	err := guard(func() error {
		if len(shape) == 0 {
			s, err := binding.NewScalar(data[0])
			if err != nil {
				return err
			}
			t.value = s
			return nil
		}
		if len(data) > 0 {
			t.pin.Pin(&data[0])
		}
		v, err := binding.NewTensor(binding.Shape(t.shape), data)
		if err != nil {
			return err
		}
		t.value = v
		return nil
	})
	if err != nil {
		t.pin.Unpin()
		if errors.Is(err, binding.NotInitializedError) {
			return nil, fmt.Errorf("%w: the runtime is not loaded", errRuntimeMissing)
		}
		return nil, fmt.Errorf("tensor: %w", err)
	}
	return t, nil
}

// Shape returns the dimensions; do not change them.
func (t *Tensor) Shape() []int64 { return t.shape }

// Floats returns the slice behind t, or false if its elements are not of type float32.
func (t *Tensor) Floats() ([]float32, bool) {
	d, ok := t.data.([]float32)
	return d, ok
}

// Close releases the runtime's view of the slice and unpins it. The slice
// itself stays valid. Closing twice is harmless.
func (t *Tensor) Close() {
	if t == nil || t.value == nil {
		return
	}
	_ = guard(t.value.Destroy)
	t.value = nil
	t.pin.Unpin()
}

// adopt wraps a value that the runtime allocated for an output.
func adopt(v binding.Value) *Tensor {
	t := &Tensor{shape: v.GetShape(), value: v}
	if x, ok := v.(*binding.Tensor[float32]); ok {
		t.data = x.GetData()
	}
	return t
}
