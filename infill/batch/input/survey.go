package input

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// Survey reads the file once from end to end. It does not touch what Next returns. The error of a
// table that cannot be read to its end wraps [table.ErrTable].
func (in *Reader) Survey() (Survey, error) {
	if in.survey != nil {
		return *in.survey, nil
	}
	if in.info == nil || !in.info.Mode().IsRegular() {
		return Survey{Bytes: -1, Records: -1}, nil
	}
	f, err := os.Open(in.Name)
	if err != nil {
		return Survey{}, err
	}
	h := sha256.New()
	raw := &counter{r: io.TeeReader(f, h)}
	records, bad := in.count(raw)
	// A decoder can stop before the end of the file.
	_, err = io.Copy(io.Discard, raw)
	if err = errors.Join(bad, err, f.Close()); err != nil {
		return Survey{}, fmt.Errorf("%s: %w", in.Name, err)
	}
	if limit := in.options.Limit; limit > 0 && records > limit {
		records = limit
	}
	return Survey{hex.EncodeToString(h.Sum(nil)), raw.n, records}, nil
}

// count is the number of records of the file, −1 if it cannot be read to its end. A
// table that cannot be read is an error now: the run would end in the middle.
func (in *Reader) count(r io.Reader) (int, error) {
	src, _ := in.src.(*parquetSource)
	switch {
	case src != nil:
		return int(src.r.Rows()), nil
	case in.options.Sentence != "" || in.options.InPlace():
		return -1, nil // of sentences, whose number the lines do not say
	}
	u, err := unpack.New(r)
	if err != nil {
		return -1, nil // an error will come again when reading
	}
	defer func() { _ = u.Close() }()
	text := in.options.decoded(u)
	if f := in.options.Format; !f.Table() && f != settings.FormatJSON {
		return countLines(textline.NewReader(text, jsonl.MaxInput)), nil
	}
	again, err := newSource(bufio.NewReaderSize(text, textline.PeekSize), &in.options)
	for n := 0; ; n++ {
		if err == nil {
			_, err = again.next()
		}
		switch {
		case err == io.EOF:
			return n, nil
		case errors.Is(err, table.ErrTable) && (in.options.Limit == 0 || n < in.options.Limit):
			return n, err
		case err != nil:
			return -1, nil
		}
	}
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
