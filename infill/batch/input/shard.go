package input

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// ErrShard: the input cannot be cut into shards.
var ErrShard = errors.New("no shards of this input")

// cutShard takes for the source of an input that of its shard. Every record is in exactly one
// shard, and a shard may be empty. The whole file is read once for that: for its hash, which shows
// that all shards are of one file, and for the numbers of lines, which count from the beginning of
// the file.
func (in *Reader) cutShard() error {
	refuse := func(reason string) error {
		return fmt.Errorf("shard %v: %w: %s", in.options.Shard, ErrShard, reason)
	}
	lines := in.Format() == settings.FormatText || in.Format() == settings.FormatJSONL
	switch {
	case in.info == nil || !in.info.Mode().IsRegular():
		return refuse("a stream has no parts; name a file")
	case in.options.Limit > 0:
		return refuse("a limit counts the records of the whole file; cut the file first, " +
			"or try the whole file with the limit")
	case lines && !in.packed:
		return in.cutBytes()
	}
	return in.cutRecords()
}

// cutBytes cuts a file of lines. Shard I of N begins with the first line that starts at or after
// byte I·size/N, and ends where the next one begins. The file is read once for that and for its
// hash, and the shard once more, for the number of its records.
func (in *Reader) cutBytes() error {
	size, shard := in.info.Size(), in.options.Shard
	first, last := cut(size, shard.Index, shard.Of), cut(size, shard.Index+1, shard.Of)
	from, to, before, line := size, size, 0, 0 // line is the number of those that have ended
	h := sha256.New()
	r := bufio.NewReaderSize(io.TeeReader(io.NewSectionReader(in.file, 0, size), h), textline.PeekSize)
	for at, begins := int64(0), true; at < size; {
		if begins && at < from && at >= first {
			from, before = at, line
		}
		if begins && at < to && at >= last {
			to = at
		}
		b, err := r.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		if at, begins = at+int64(len(b)), err == nil; begins {
			line++
		}
		if err == io.EOF { // the file has become shorter
			break
		}
	}
	lines := func() *textline.Reader {
		own := io.NewSectionReader(in.file, from, to-from)
		if from == 0 {
			return textline.NewReader(own, jsonl.MaxInput)
		}
		return textline.NewReaderAfter(before, own, jsonl.MaxInput)
	}
	in.survey = &Survey{hex.EncodeToString(h.Sum(nil)), size, number(filled(lines()))}
	in.src = lineItems(in.Options(), filled(lines()))
	return nil
}

// cutRecords cuts what has no lines in its bytes: tables, whose cells may have line ends, and
// compressed files. Of R records shard I of N has those from I·R/N on. The records before are
// read again.
func (in *Reader) cutRecords() error {
	survey, err := in.Survey()
	if err != nil {
		return err
	}
	if survey.Records < 0 {
		return fmt.Errorf("%w: it cannot be read to its end, so its shards are not known",
			unpack.ErrDamaged)
	}
	shard := in.options.Shard
	from := int(cut(int64(survey.Records), shard.Index, shard.Of))
	to := int(cut(int64(survey.Records), shard.Index+1, shard.Of))
	if in.parquet != nil {
		err = in.parquet.skip(from)
	} else {
		for n := 0; n < from && err == nil; n++ {
			_, err = in.src.next()
		}
	}
	if err != nil && err != io.EOF {
		return err
	}
	survey.Records = to - from
	in.most, in.survey = to-from, &survey
	return nil
}

// cut is i·size/n, in whole numbers.
func cut(size int64, i, n int) int64 {
	hi, lo := bits.Mul64(uint64(size), uint64(i))
	q, _ := bits.Div64(hi, lo, uint64(n)) // hi < n, since i ≤ n and size < 2^63
	return int64(q)
}

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
	raw := io.TeeReader(f, h)
	records, bad := in.count(raw)
	// A decoder can stop before the end of the file.
	_, err = io.Copy(io.Discard, raw)
	size, sought := f.Seek(0, io.SeekCurrent)
	if err = errors.Join(bad, err, sought, f.Close()); err != nil {
		return Survey{}, fmt.Errorf("%s: %w", in.Name, err)
	}
	if limit := in.options.Limit; limit > 0 && records > limit {
		records = limit
	}
	return Survey{hex.EncodeToString(h.Sum(nil)), size, records}, nil
}

// count is the number of records of the file, −1 if it cannot be read to its end. A
// table that cannot be read is an error now: the run would end in the middle.
func (in *Reader) count(r io.Reader) (int, error) {
	switch {
	case in.parquet != nil:
		return int(in.parquet.r.Rows()), nil
	case in.options.Sentence != "" || in.InPlace():
		return -1, nil // of sentences, whose number the lines do not say
	}
	u, err := unpack.New(r)
	if err != nil {
		return -1, nil // an error will come again when reading
	}
	defer func() { _ = u.Close() }()
	text := bufio.NewReaderSize(in.options.decoded(u), textline.PeekSize)
	again, err := newSource(text, &in.options)
	if f := in.options.Format; !f.Table() && f != settings.FormatJSON {
		return number(again.line), nil
	}
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
