package bayesnet

import (
	"strings"
	"testing"
)

// Any text is records or an error, and what is read has inputs within its width.
func FuzzRead(f *testing.F) {
	f.Add("|note\n3, a, <=50K\n7, b, >50K.\n5, a, ?\n")
	f.Add("1,\"a\nb\",2\n")
	f.Add("NaN,a,b\n1,a,b\n")
	f.Add("-1e308,a,b\n1e308,c,d\n")
	f.Fuzz(func(t *testing.T, text string) {
		records, err := parse(strings.NewReader(text), 3)
		if err != nil {
			return
		}
		d, err := table{numbers: []int{0}, categories: []int{1}, target: 2,
			one:  func(s string) bool { return s == "1" },
			keep: func(r []string) bool { return r[2] != "?" }}.read(records)
		if err != nil {
			return
		}
		if len(d.rows) != len(d.y) {
			t.Fatalf("%d rows and %d targets", len(d.rows), len(d.y))
		}
		for _, r := range d.rows {
			for j, k := range r.index {
				if k < 0 || k >= d.width || !(r.value[j] >= 0 && r.value[j] <= 1) {
					t.Fatalf("input %d of %d is %v", k, d.width, r.value[j])
				}
			}
		}
	})
}
