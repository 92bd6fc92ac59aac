package infill

import (
	"math"
	"sync"
	"testing"
)

// scores are chi-square scores of many cases, by sampler. An error that no single case sees makes
// all of them a little large. Where nothing is wrong, their sum over √n is standard normal too.
type scores struct {
	mu sync.Mutex
	of map[string][]float64
}

// allTogether bounds that sum. By chance it is exceeded once in 16,000 changes of the draws. With
// 9/10 of the probability of acceptance it was 4.1 for DLMC and 4.9 to 8.0 for the other samplers.
const allTogether = 4

// newScores looks at the sums when the test and all its cases have ended.
func newScores(t *testing.T) *scores {
	s := &scores{of: map[string][]float64{}}
	t.Cleanup(func() {
		for name, z := range s.of {
			sum := 0.0
			for _, v := range z {
				sum += v
			}
			sum /= math.Sqrt(float64(len(z)))
			t.Logf("%s: %d cases together, score %.2f", name, len(z), sum)
			if !(math.Abs(sum) < allTogether) {
				t.Errorf("%s: %d cases together differ from what was enumerated: score %.1f", name, len(z), sum)
			}
		}
	})
	return s
}

func (s *scores) add(name string, z float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[name] = append(s.of[name], z)
}
