package ort

import (
	"fmt"
	"strings"
)

// The runtime has no codes for what happens on a card, only words: its own, those of CUDA
// (cudaGetErrorString) and of cuBLAS.
var (
	saysMemory = []string{"Failed to allocate memory", "out of memory", "ALLOC_FAILED",
		"smaller than requested bytes"}
	saysLost = []string{"CUDA failure", "CUDA error", "CUBLAS failure", "CUDNN failure",
		"cudaError"}
)

// cause wraps the error of a run in [ErrMemory] or [ErrLost] if it says so. A lack of memory comes
// as a failure of CUDA, too.
func cause(err error) error {
	says := func(words []string) bool {
		for _, w := range words {
			if strings.Contains(err.Error(), w) {
				return true
			}
		}
		return false
	}
	switch {
	case says(saysMemory):
		return fmt.Errorf("%w: %w", ErrMemory, err)
	case says(saysLost):
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}
