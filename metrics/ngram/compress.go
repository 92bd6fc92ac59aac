package ngram

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
)

// errNoText reports a compression ratio of nothing.
var errNoText = errors.New("no text")

// Compressor measures the compression ratio of a stream of lines: bytes of the
// lines joined by single spaces ÷ bytes of their gzip form at the highest level
// (Shaib et al. 2024). A higher ratio means more repetition. Encoders differ by a
// few bytes, so ratios of other programs agree to about three digits.
type Compressor struct {
	gz    *gzip.Writer
	out   countWriter
	in    int64
	lines int
}

type countWriter int64

func (w *countWriter) Write(p []byte) (int, error) {
	*w += countWriter(len(p))
	return len(p), nil
}

// NewCompressor returns a compressor that has seen no line.
func NewCompressor() *Compressor {
	c := &Compressor{}
	// BestCompression is a valid level, so the constructor cannot fail.
	c.gz, _ = gzip.NewWriterLevel(&c.out, gzip.BestCompression)
	return c
}

// Add adds one line.
func (c *Compressor) Add(line string) error {
	if c.lines > 0 {
		line = " " + line
	}
	c.lines++
	c.in += int64(len(line))
	if _, err := io.WriteString(c.gz, line); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	return nil
}

// Ratio ends the stream and returns original ÷ compressed size, above 0.
func (c *Compressor) Ratio() (float64, error) {
	if c.in == 0 {
		return math.NaN(), fmt.Errorf("compression ratio: %w", errNoText)
	}
	if err := c.gz.Close(); err != nil {
		return math.NaN(), fmt.Errorf("compress: %w", err)
	}
	return float64(c.in) / float64(c.out), nil
}
