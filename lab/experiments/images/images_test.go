package images

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/lab/experiments/lab"
	"infill/samplers"
)

// TestDigits counts: scikit-learn documents 1797 images and their classes.
func TestDigits(t *testing.T) {
	t.Parallel()
	s := Digits(2)
	if len(s.Train)+len(s.Test) != 1797 || len(s.Test) != 360 {
		t.Errorf("%d and %d images", len(s.Train), len(s.Test))
	}
	count := [10]int{}
	for _, d := range append(append([]int(nil), s.TrainLabel...), s.TestLabel...) {
		count[d]++
	}
	if want := [10]int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}; count != want {
		t.Errorf("classes %v, want %v", count, want)
	}
	// The first image has 0 0 5 13 9 1 0 0 of 16 in its first row, 0 0 13 15 10 15 5 0 in its second.
	got := ""
	for y := range 8 {
		for x := range 8 {
			got += string(".#"[s.Test[0][y*8+x]])
		}
		got += "\n"
	}
	if want := "...##...\n..####..\n"; !strings.HasPrefix(got, want) {
		t.Errorf("the first image is\n%s", got)
	}
	grey := Digits(4)
	if want := []int32{0, 0, 1, 3, 2, 0, 0, 0, 0, 0, 3, 3, 2, 3, 1, 0}; !slices.Equal(
		grey.Test[0][:16], want) {
		t.Errorf("the first image has the levels %v, want %v", grey.Test[0][:16], want)
	}
	for k, x := range grey.Train {
		for i, v := range x {
			if v/2 != s.Train[k][i] {
				t.Fatalf("image %d, pixel %d: level %d of 4 and %d of 2", k, i, v, s.Train[k][i])
			}
		}
	}
}

// TestIndependent: the levels of every pixel come as often as their shares say, and those of two
// pixels are independent.
func TestIndependent(t *testing.T) {
	t.Parallel()
	const n = 20000
	shares := [][]float64{{0.1, 0.6, 0.3}, {0.5, 0, 0.5}}
	x := Independent(samplers.NewStream(1, "images", 0), n, shares)
	var got [3][3]float64
	for _, v := range x {
		got[v[0]][v[1]] += 1.0 / n
	}
	for a, p := range shares[0] {
		for b, q := range shares[1] {
			if want := p * q; math.Abs(got[a][b]-want) > 4*math.Sqrt(want*(1-want)/n) {
				t.Errorf("levels %d and %d: share %v, want %v", a, b, got[a][b], want)
			}
		}
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	got := Shares([][]int32{{0, 1}, {0, 2}}, 3)
	for i, want := range [][]float64{{.6, .2, .2}, {.2, .4, .4}} {
		for v, p := range want {
			if math.Abs(got[i][v]-p) > 1e-12 {
				t.Errorf("share of %d at %d is %v, want %v", v, i, got[i][v], p)
			}
		}
	}
}

// idx is a compressed IDX file.
func idx(head []byte, data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(append(head, data...))
	_ = z.Close()
	return b.Bytes()
}

func TestDecodeIDX(t *testing.T) {
	t.Parallel()
	head := []byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2}
	good := idx(head, []byte{1, 2, 3, 4})
	data, n, err := decodeIDX(bytes.NewReader(good), 9, 1, 2)
	if err != nil || n != 2 || !bytes.Equal(data, []byte{1, 2, 3, 4}) {
		t.Errorf("%v, %d, %v", data, n, err)
	}
	if data, n, err := decodeIDX(bytes.NewReader(good), 1, 1, 2); err != nil || n != 1 ||
		!bytes.Equal(data, []byte{1, 2}) {
		t.Errorf("of one item: %v, %d, %v", data, n, err)
	}
	for name, bad := range map[string][]byte{
		"plain": {1, 2, 3}, "short": idx(head, []byte{1, 2, 3}), "head": idx(head[:7], nil),
		"type": idx([]byte{0, 0, 9, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2}, nil),
		"size": idx([]byte{0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3}, nil),
	} {
		if _, _, err := decodeIDX(bytes.NewReader(bad), 9, 1, 2); !errors.Is(err, ErrIDX) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzDecodeIDX(f *testing.F) {
	f.Add(idx([]byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2}, []byte{1, 2, 3, 4}))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, n, err := decodeIDX(bytes.NewReader(data), 100, 1, 2)
		if err == nil && (len(out) != 2*n || n > 100) {
			t.Errorf("%d bytes for %d items", len(out), n)
		}
	})
}

// TestFashion reads a made file, as it is and with one pixel for four.
func TestFashion(t *testing.T) {
	t.Parallel()
	o := lab.Options{Data: t.TempDir()}
	if _, err := Fashion(o, 14, 2, 10, 10); !errors.Is(err, lab.ErrNoData) ||
		!strings.Contains(err.Error(), fashionScript) {
		t.Errorf("without files: %v", err)
	}
	dir := filepath.Join(o.Data, "fashion-mnist")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	image := make([]byte, 28*28)
	for _, at := range []int{0, 1, 28, 29} {
		image[at] = 255 // the first pixel is 255
	}
	image[2], image[3] = 255, 254 // the second is 127.25
	image[4], image[5] = 255, 255 // the third is 127.5
	image[30*28-28*3-1] = 1
	for _, part := range []string{"train", "t10k"} {
		for name, data := range map[string][]byte{
			"-images-idx3-ubyte.gz": idx([]byte{0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28}, image),
			"-labels-idx1-ubyte.gz": idx([]byte{0, 0, 8, 1, 0, 0, 0, 1}, []byte{7}),
		} {
			if err := os.WriteFile(filepath.Join(dir, part+name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		side, levels int
		want         [6]int32
	}{
		{14, 2, [6]int32{1}}, {14, 4, [6]int32{3, 1, 1}}, {14, 8, [6]int32{7, 3, 3}},
		{28, 2, [6]int32{1, 1, 1, 1, 1, 1}}, {28, 8, [6]int32{7, 7, 7, 7, 7, 7}},
	} {
		s, err := Fashion(o, c.side, c.levels, 10, 10)
		if err != nil {
			t.Fatal(err)
		}
		if got := [6]int32(s.Train[0][:6]); got != c.want || s.TestLabel[0] != 7 || len(s.Test) != 1 ||
			s.Side != c.side || len(s.Train[0]) != c.side*c.side {
			t.Errorf("%d levels: %d pixels from %v, want %v", c.levels, len(s.Train[0]), got, c.want)
		}
	}
}

// TestMMD holds the estimate against its definition, and its mean over draws against the exact
// distance of two distributions.
func TestMMD(t *testing.T) {
	t.Parallel()
	const sites, levels, n = 5, 3, 12
	k := func(x, y []int32) float64 {
		d := 0.0
		for i := range x {
			if x[i] != y[i] {
				d++
			}
		}
		return math.Exp(-d / float64(len(x)))
	}
	// Pixels of p are uniform, those of q are 0 with probability ½ more.
	rng := samplers.NewStream(1, "states", 0)
	draw := func(more float64) [][]int32 {
		x := Random(rng, n, sites, levels)
		for _, s := range x {
			for i := range s {
				if rng.Float64() < more {
					s[i] = 0
				}
			}
		}
		return x
	}
	mean, sq := 0.0, 0.0
	const draws = 2000
	for r := range draws {
		a, b := draw(0), draw(.5)
		got := MMD(NewSample(a, levels), NewSample(b, levels))
		mean, sq = mean+got/draws, sq+got*got/draws
		if r > 3 {
			continue
		}
		want := 0.0
		for i := range n {
			for j := range n {
				if i != j {
					want += (k(a[i], a[j]) + k(b[i], b[j])) / (n * (n - 1))
				}
				want -= 2 * k(a[i], b[j]) / (n * n)
			}
		}
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("MMD %v, want %v", got, want)
		}
	}
	// Sites are independent: the kernel's mean is a power of the mean of one site.
	e := math.Exp(-1.0 / sites)
	site := func(p, q [3]float64) float64 {
		same := p[0]*q[0] + p[1]*q[1] + p[2]*q[2]
		return math.Pow(same+(1-same)*e, sites)
	}
	p, q := [3]float64{1. / 3, 1. / 3, 1. / 3}, [3]float64{2. / 3, 1. / 6, 1. / 6}
	want := site(p, p) + site(q, q) - 2*site(p, q)
	if se := math.Sqrt((sq - mean*mean) / draws); math.Abs(mean-want) > 4*se {
		t.Errorf("mean MMD %v ± %v, exact %v", mean, se, want)
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	svg := Pictures(2, 3, []Strip{{"a < b", [][]int32{{1, 1, 0, 2}, {0, 0, 0, 0}}}})
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`opacity="0.50" d="M0 0h2v1h-2z"`, `opacity="1.00" d="M1 1h1v1h-1z"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}
