package records

import (
	"fmt"
	"runtime"
	"testing"
)

// seenOf is a set of n texts in these forms, and the bytes of memory of each text.
func seenOf(n int, forms ...string) (s seen, each float64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range n {
		for _, form := range forms {
			s.add(fmt.Sprint(form, i))
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	return s, float64(after.HeapAlloc-before.HeapAlloc) / float64(n)
}

// Texts that differ in case only are one, as variants are compared. A text takes the memory that the
// comment of seen says, at most.
func TestSeen(t *testing.T) {
	const n = 100_000
	s, each := seenOf(n, "Text ", "tEXT ")
	if each < 16 || each > 39 {
		t.Errorf("%.1f bytes a text, want the 16 of a hash to 38", each)
	}
	if len(s) != n || !s.has("TEXT 7") || !s.has("text 99999") || s.has("text 100000") || s.has("text") {
		t.Errorf("%d texts of %d, or another one", len(s), n)
	}
}

// The memory of a set of texts, in bytes a text, at sizes before and after its table has grown.
func BenchmarkSeenMemory(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 3_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s, each := seenOf(n, "text ")
				b.ReportMetric(each, "B/text")
				if len(s) != n {
					b.Fatal(len(s))
				}
			}
		})
	}
}
