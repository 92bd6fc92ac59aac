package lengths

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/models"
)

// The fit agrees with scikit-learn (testdata/fit.py).
func TestFit(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/fit.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		X      [][]float32
		Y      []int
		C      float64
		LogP   [][]float64 `json:"log_p"`
		Weight [][]float64
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	p := &problem{x: want.X, y: want.Y, width: 6, shrink: 1 / want.C / float64(len(want.X))}
	w := p.minimum(2000, 1e-9)
	for c := range classes {
		for k := range 6 {
			if got := w[c*7+k]; math.Abs(got-want.Weight[c][k]) > 1e-4 {
				t.Errorf("weight %d of class %d is %v, want %v", k, c, got, want.Weight[c][k])
			}
		}
	}
	s := &Shares{width: 2}
	for c := range classes {
		for k := range 6 {
			s.weight = append(s.weight, float32(w[c*7+k]))
		}
		s.bias = append(s.bias, float32(w[c*7+6]))
	}
	for i, of := range want.LogP {
		for c, got := range s.regress(want.X[i]) {
			if math.Abs(got-of[c]) > 1e-4 {
				t.Errorf("log P of class %d of example %d is %v, want %v", c, i, got, of[c])
			}
		}
	}
}

// The slope is the difference of values.
func TestSlope(t *testing.T) {
	t.Parallel()
	p := &problem{x: [][]float32{{1, -2, .5}, {0, 1, 1}, {-1, .25, 2}}, y: []int{0, 3, 7}, width: 3,
		shrink: .3}
	w := make([]float64, classes*4)
	for i := range w {
		w[i] = math.Sin(float64(3 * i))
	}
	_, slope := p.at(w)
	for i := range w {
		const h = 1e-5
		was := w[i]
		w[i] = was + h
		up, _ := p.at(w)
		w[i] = was - h
		down, _ := p.at(w)
		w[i] = was
		if got := (up - down) / (2 * h); math.Abs(got-slope[i]) > 1e-8 {
			t.Errorf("slope %d is %v, want %v", i, slope[i], got)
		}
	}
}

// Lengths above the last class share what it has, each half as much as the one before, and what is
// between bounds sums to 1.
func TestWithin(t *testing.T) {
	t.Parallel()
	prior := Constant().prior
	got, rows, err := Constant().Of(t.Context(), nil, nil, Range{Least: 2, Most: 3})
	if err != nil || rows != 0 {
		t.Fatal(rows, err)
	}
	for i, p := range prior[1:3] {
		if want := math.Log(float64(p / (prior[1] + prior[2]))); math.Abs(got[i]-want) > 1e-6 {
			t.Errorf("log P(%d) is %v, want %v", i+2, got[i], want)
		}
	}
	got, _, _ = Constant().Of(t.Context(), nil, nil, Range{Least: 1, Most: 32})
	sum, above := 0.0, 0.0
	for i, v := range got {
		sum += math.Exp(v)
		if i >= classes-1 {
			above += math.Exp(v)
		}
	}
	if math.Abs(sum-1) > 1e-12 || math.Abs(above-float64(prior[classes-1])) > 1e-6 ||
		math.Abs(got[10]-got[9]+math.Log(2)) > 1e-9 {
		t.Errorf("they sum to %v, %v of it above: %v", sum, above, got)
	}
	for n := range classes {
		sum := float32(0)
		for w := range mostWords {
			sum += Constant().words[w*classes+n]
		}
		if math.Abs(float64(sum)-1) > 2e-3 {
			t.Errorf("shares of words of %d pieces sum to %v", n+1, sum)
		}
	}
	total := float32(0)
	for _, p := range prior {
		total += p
	}
	if math.Abs(float64(total)-1) > 1e-6 {
		t.Errorf("the constant shares sum to %v", total)
	}
}

func openSmall(t *testing.T) *mlm.Model {
	t.Helper()
	orttest.Load(t)
	m, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Threads: 2, Forward: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// corpus is a text whose gaps are one word long after "the" and three before "of".
func corpus(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "The %s was %d years old when he went to the house of his father.\n",
			[]string{"man", "dog", "teacher", "king"}[i%4], i)
	}
	return b.String()
}

// Learning gives the same file each time. What it says of gaps held out is what the file gives.
func TestLearn(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	learn := func() (*Shares, *Report) {
		s, r, err := Learn(t.Context(), m, strings.NewReader(corpus(320)), Options{Gaps: minGaps, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		return s, r
	}
	s, r := learn()
	if again, same := learn(); !bytes.Equal(s.Bytes(), again.Bytes()) || *r != *same {
		t.Errorf("%+v, and again %+v", r, same)
	}
	if r.Gaps+r.HeldOut != minGaps || r.HeldOut != minGaps/heldOut || s.Source() != "learned" ||
		math.Abs(r.Constant-r.Learned-r.Gain) > 1e-12 {
		t.Errorf("%+v", r)
	}
	all, err := gapsOf(m, strings.NewReader(corpus(320)), Options{Gaps: minGaps, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := 0; i < len(all); i += heldOut {
		logP, rows, err := s.Of(t.Context(), m, all[i].gap, Range{Least: 1, Most: text.MaxTokens})
		if err != nil || rows != 3 {
			t.Fatal(rows, err)
		}
		sum -= logP[all[i].n-1] / float64(r.HeldOut)
	}
	if math.Abs(sum-r.Learned) > 1e-3 {
		t.Errorf("gaps held out have %v nats, and the report says %v", sum, r.Learned)
	}
}

func TestLearnRefuses(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	for name, c := range map[string]struct {
		text string
		opt  Options
		want error
	}{
		"short":    {corpus(50), Options{}, ErrFewGaps},
		"empty":    {"", Options{}, ErrFewGaps},
		"few gaps": {corpus(400), Options{Gaps: 5}, text.ErrOption},
		"many":     {corpus(400), Options{Gaps: MaxGaps + 1}, text.ErrOption},
	} {
		if _, _, err := Learn(t.Context(), m, strings.NewReader(c.text), c.opt); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file gives back what was written. One that is damaged is refused.
func TestParse(t *testing.T) {
	t.Parallel()
	s := Constant()
	s.width = 2
	for i := range classes * 6 {
		s.weight = append(s.weight, float32(i)/8)
	}
	for i := range classes {
		s.bias = append(s.bias, -float32(i)/3)
	}
	data := s.Bytes()
	got, err := Parse(data)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Fatalf("%v: %+v, want %+v", err, got, s)
	}
	zero, bad, unworded := *s, *s, *s
	unworded.words = s.words[1:]
	zero.prior = make([]float32, classes)
	bad.bias = append([]float32{float32(math.NaN())}, s.bias[1:]...)
	for name, data := range map[string][]byte{"empty": nil, "cut": data[:len(data)-1],
		"no number": bad.Bytes(), "no words": unworded.Bytes(), "impossible": zero.Bytes(),
		"another": bytes.Replace(data, []byte(`"weight"`), []byte(`"height"`), 1),
		"type":    bytes.Replace(data, []byte(`"F16"`), []byte(`"I16"`), 1)} {
		if _, err := Parse(data); !errors.Is(err, ErrFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A damaged file is refused, and one that is taken writes the same shares again.
func FuzzParse(f *testing.F) {
	x := make([]float32, classes*len(reads)*2)
	ones := func(n int) (out []float32) {
		for range n {
			out = append(out, .5)
		}
		return out
	}
	f.Add((&Shares{prior: ones(classes), words: ones(mostWords * classes), bias: ones(classes), weight: x, width: 2}).Bytes())
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			if !errors.Is(err, ErrFile) {
				t.Fatal(err)
			}
			return
		}
		if again, err := Parse(s.Bytes()); err == nil && again.width != s.width {
			t.Fatalf("%d values a state, then %d", s.width, again.width)
		}
	})
}
