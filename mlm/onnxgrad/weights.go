package onnxgrad

import (
	"bytes"
	"io"
	"slices"
)

// stripBytes is how much of a matrix is held in memory while it is compared with another.
const stripBytes = 4 << 20

// sameWeights compares two stored matrices, b transposed if asked, a strip at a time: tables of
// words are the largest weights of a model, and need not be in memory for this.
func sameWeights(a, b *value, transposed bool) bool {
	x, y := weightOf(a), weightOf(b)
	if x == nil || y == nil || x.Type != y.Type || len(x.Dims) != 2 || len(y.Dims) != 2 ||
		y.Type.Size() == 0 {
		return false
	}
	want := slices.Clone(y.Dims)
	if transposed {
		slices.Reverse(want)
	}
	if !slices.Equal(x.Dims, want) {
		return false
	}
	p, err := x.Open()
	if err != nil {
		return false
	}
	defer p.Close() //nolint:errcheck // opened for reading
	q, err := y.Open()
	if err != nil {
		return false
	}
	defer q.Close() //nolint:errcheck // opened for reading
	size, rows, cols := int64(y.Type.Size()), y.Dims[0], y.Dims[1]
	if !transposed {
		return sameBytes(p, q, y.ByteLen())
	}
	if cols == 0 {
		return true
	}
	each := max(1, min(rows, stripBytes/(cols*size)))
	strip, turned, part := make([]byte, each*cols*size), make([]byte, each*cols*size),
		make([]byte, each*size)
	for from := int64(0); from < rows; from += each {
		n := min(each, rows-from) // rows of y, columns of x
		if _, err := q.ReadAt(strip[:n*cols*size], from*cols*size); err != nil {
			return false
		}
		for c := range cols {
			if _, err := p.ReadAt(part[:n*size], (c*rows+from)*size); err != nil {
				return false
			}
			for r := range n {
				copy(turned[(r*cols+c)*size:(r*cols+c+1)*size], part[r*size:(r+1)*size])
			}
		}
		if !bytes.Equal(strip[:n*cols*size], turned[:n*cols*size]) {
			return false
		}
	}
	return true
}

func sameBytes(p, q io.ReaderAt, size int64) bool {
	a, b := make([]byte, min(size, stripBytes)), make([]byte, min(size, stripBytes))
	for at := int64(0); at < size; at += stripBytes {
		n := min(stripBytes, size-at)
		_, perr := p.ReadAt(a[:n], at)
		_, qerr := q.ReadAt(b[:n], at)
		if perr != nil || qerr != nil || !bytes.Equal(a[:n], b[:n]) {
			return false
		}
	}
	return true
}

// KeptPerToken is about how many bytes of the forward pass are kept per token for the backward
// pass, when rows have the given length. 0 without a backward pass. Runs with gradients take this
// much memory at least.
func (d *Derived) KeptPerToken(length int) int64 { return d.kept + d.keptPerPosition*int64(length) }

// measure sums up the values of the forward pass that the backward pass reads. Those of two
// positions, such as attention scores, grow with the length of the rows. What is computed for
// distinct positions only (share) is too little to count.
func (d *derivation) measure(out *Derived) {
	if d.then == nil {
		return
	}
	computed, seen := map[*value]bool{}, map[*value]bool{}
	for _, n := range d.forward.nodes {
		for _, v := range n.out {
			computed[v] = true
		}
	}
	length, tokens := probeLength[0], probeRows[0]*probeLength[0]
	for _, n := range d.then.nodes {
		for _, v := range n.in {
			if v == nil || seen[v] || !computed[v] || v.fixed {
				continue
			}
			seen[v] = true
			positions, varying := 0, false
			for i, s := range v.shape[0] {
				switch {
				case v.shape.constant(i):
				case s == length:
					positions++
				case s == tokens: // rows and positions as one dimension
					positions, varying = positions+1, true
				default:
					varying = true
				}
			}
			bytes := int64(volume(v.shape[0])) * int64(v.typ.Size())
			switch {
			case !varying || positions == 0:
			case positions == 1:
				out.kept += bytes / int64(tokens)
			default:
				out.keptPerPosition += bytes / int64(tokens*length)
			}
		}
	}
}
