package draw

import (
	"encoding/xml"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   []string
	}{
		{0, 1, 4, []string{"0.00", "0.25", "0.50", "0.75", "1.00"}},
		{-3.2, 7, 6, []string{"−4", "−2", "0", "2", "4", "6", "8"}},
		{0, 43, 5, []string{"0", "10", "20", "30", "40", "50"}},
		{5, 5, 2, []string{"4", "5", "6"}},
	} {
		a := Nice(c.lo, c.hi, c.n, "")
		var got []string
		for _, v := range a.Ticks {
			got = append(got, a.Tick(v))
		}
		if !slices.Equal(got, c.want) || a.Lo > c.lo || a.Hi < c.hi {
			t.Errorf("%v to %v: %q from %v to %v, want %q", c.lo, c.hi, got, a.Lo, a.Hi, c.want)
		}
	}
}

// The ends of an axis are at the ends of its range, and equal steps are equally far.
func TestAt(t *testing.T) {
	t.Parallel()
	a := Nice(0, 10, 5, "")
	a.From, a.To = 300, 100
	if a.At(0) != 300 || a.At(10) != 100 || a.At(5) != 200 || a.Within(99) != 100 || a.Within(-1) != 300 {
		t.Errorf("%v %v %v %v", a.At(0), a.At(10), a.At(5), a.Within(99))
	}
	l := logarithmic(0.08, 12)
	l.From, l.To = 0, 1
	if step := l.At(10) - l.At(1); math.Abs(step-(l.At(1)-l.At(0.1))) > 1e-12 || !(step > 0.4) ||
		l.At(l.Lo) != 0 || math.Abs(l.At(l.Hi)-1) > 1e-12 || l.Within(0) != 0 || l.has(0) {
		t.Errorf("%v %v %v", l.At(0.1), l.At(1), l.At(10))
	}
}

// logarithmic is an axis that is not linear.
func logarithmic(lo, hi float64) Axis {
	return Axis{Lo: lo, Hi: hi, Share: func(v float64) float64 {
		return math.Log(v/lo) / math.Log(hi/lo)
	}}
}

func TestText(t *testing.T) {
	t.Parallel()
	hostile := "<script>&\"'\x00\x1b[2J\u202e\n"
	if err := xml.Unmarshal([]byte("<t a=\""+Text(hostile)+"\">"+Text(hostile)+"</t>"),
		new(struct{})); err != nil {
		t.Error(err)
	}
	if s := Text(hostile); strings.ContainsAny(s, "<>\x00\x1b\u202e\n") {
		t.Errorf("%q", s)
	}
}

// Each colour of the light page has one for the dark and the printed page.
func TestStyle(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"--page:", "--ink:", "--soft:", "--grid:", "--s0:", "--s7:"} {
		if strings.Count(Style, v) != 3 {
			t.Errorf("%s is set %d times", v, strings.Count(Style, v))
		}
	}
	if !strings.Contains(Style, "prefers-color-scheme: dark") || strings.Contains(Style, "</style") {
		t.Error(Style)
	}
}
