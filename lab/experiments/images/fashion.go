package images

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"infill/lab/experiments/lab"
)

// ErrIDX marks a file that is not one of the wanted IDX format.
var ErrIDX = errors.New("not an IDX file of the wanted kind")

// fashionScript fetches Fashion-MNIST.
const fashionScript = "lab/scripts/data-fashion-mnist.sh"

// Fashion are the images of Fashion-MNIST, of 28 × 28 pixels for a side of 28. For one of 14 each
// pixel is the mean of four. Their 256 levels are reduced to few, 2 to 16. The first most of the
// 60 000 training images and the first tests of the 10 000 test images are taken. The error of a
// missing file is lab.ErrNoData.
func Fashion(o lab.Options, side, levels, most, tests int) (*Set, error) {
	s := &Set{Name: "Fashion-MNIST", Side: side, Levels: levels}
	var err error
	if s.Train, s.TrainLabel, err = fashionPart(o, "train", side, levels, most); err != nil {
		return nil, err
	}
	s.Test, s.TestLabel, err = fashionPart(o, "t10k", side, levels, tests)
	return s, err
}

func fashionPart(o lab.Options, part string, side, levels, most int) ([][]int32, []int, error) {
	images, n, err := readIDX(o, part+"-images-idx3-ubyte.gz", most, 28, 28)
	if err != nil {
		return nil, nil, err
	}
	classes, m, err := readIDX(o, part+"-labels-idx1-ubyte.gz", most)
	if err != nil {
		return nil, nil, err
	}
	if n != m {
		return nil, nil, fmt.Errorf("%w: %d images and %d labels of %s", ErrIDX, n, m, part)
	}
	x, labels := make([][]int32, n), make([]int, n)
	for k := range x {
		x[k], labels[k] = reduce(images[k*28*28:(k+1)*28*28], side, levels), int(classes[k])
	}
	return x, labels, nil
}

// reduce makes side × side pixels of 28 × 28, each the mean of a square of them, and levels of
// that.
func reduce(image []byte, side, levels int) []int32 {
	x, each := make([]int32, side*side), 28/side
	for i := range x {
		sum := 0
		for y := range each {
			at := (i/side*each+y)*28 + i%side*each
			for _, v := range image[at : at+each] {
				sum += int(v)
			}
		}
		x[i] = int32(sum * levels / (each*each*255 + 1))
	}
	return x
}

// readIDX reads at most most items of a compressed IDX file of bytes, whose items have the given
// sizes.
func readIDX(o lab.Options, name string, most int, sizes ...int) ([]byte, int, error) {
	path, err := o.DataFile(fashionScript, "fashion-mnist", name)
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	data, n, err := decodeIDX(bufio.NewReader(f), most, sizes...)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w; remove it and run %s again", path, err, fashionScript)
	}
	return data, n, nil
}

// decodeIDX reads from a gzip stream: two zero bytes, the type 8 (bytes), the number of dimensions,
// their sizes as 4 bytes each with the highest first, and the items.
func decodeIDX(r io.Reader, most int, sizes ...int) ([]byte, int, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrIDX, err)
	}
	head := make([]uint32, 2+len(sizes))
	if err := binary.Read(z, binary.BigEndian, head); err != nil {
		return nil, 0, fmt.Errorf("%w: its head: %w", ErrIDX, err)
	}
	if want := uint32(8<<8 | 1 + len(sizes)); head[0] != want {
		return nil, 0, fmt.Errorf("%w: it begins with %#x, want %#x", ErrIDX, head[0], want)
	}
	item := 1
	for i, s := range sizes {
		if head[2+i] != uint32(s) {
			return nil, 0, fmt.Errorf("%w: size %d of its items is %d, want %d", ErrIDX, i, head[2+i], s)
		}
		item *= s
	}
	n := most
	if head[1] < uint32(most) {
		n = int(head[1])
	}
	data := make([]byte, n*item)
	if _, err := io.ReadFull(z, data); err != nil {
		return nil, 0, fmt.Errorf("%w: it ends within %d items: %w", ErrIDX, n, err)
	}
	return data, n, nil
}
