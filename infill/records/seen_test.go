package records

import (
	"fmt"
	"runtime"
	"testing"
)

// The memory of a set of texts, in bytes a text, at sizes before and after its table has grown.
func BenchmarkSeenMemory(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 3_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				s := NewSeen()
				for i := range n {
					s.Add(fmt.Sprint("text ", i))
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/text")
				if s.Len() != n {
					b.Fatal(s.Len())
				}
			}
		})
	}
}
