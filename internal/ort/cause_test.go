package ort

import (
	"errors"
	"testing"
)

// What the runtime says of a card tells a lack of memory from a card that is gone.
func TestCause(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]error{
		"Failed to allocate memory for requested buffer of size 1234":                           ErrMemory,
		"CUDA failure 2: out of memory ; GPU=0 ; hostname=h":                                    ErrMemory,
		"CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED":                                          ErrMemory,
		"Available memory of 12 is smaller than requested bytes of 3000":                        ErrMemory,
		"CUDA failure 719: unspecified launch failure ; GPU=0":                                  ErrLost,
		"CUDNN failure 4: CUDNN_STATUS_INTERNAL_ERROR":                                          ErrLost,
		"Non-zero status code returned while running Gather node: indices element out of range": nil,
	} {
		err := cause(errors.New(said))
		for _, kind := range []error{ErrMemory, ErrLost} {
			if errors.Is(err, kind) != (kind == want) {
				t.Errorf("%s: %v", said, err)
			}
		}
	}
}
