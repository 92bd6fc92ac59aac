package output

import (
	"context"
	"encoding/json"
	"errors"
	"infill/infill/batch/input"
	"infill/infill/settings"
	"io"
	"strings"
	"testing"
)

// A Record is what do of a config makes of an item.
type Record struct {
	JSON   []byte
	Failed bool
	Cause  error
}

// Progress says what an output has.
type Progress struct{ Records, Failed, Resumed, Total int }

type config struct {
	limit    int
	shard    settings.Shard
	layout   Layout
	mode     Mode
	do       func(context.Context, *input.Item) (Record, error)
	ctx      context.Context
	before   func(*Writer)
	progress func(Progress)
}

func manifest() *Manifest {
	return &Manifest{Version: "v1", Model: "sha256:0", Seed: 1,
		Settings: map[string]string{"steps": "50"}}
}

var suffixes = []string{".jsonl", ".jsonl.gz", ".jsonl.zst"}

// process works through a file, record by record, as package batch does with many at once.
func process(t *testing.T, from, to string, c config) (p Progress, out *Writer, err error) {
	t.Helper()
	in, err := input.Open(from, nil, input.Options{Limit: c.limit, Shard: c.shard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	m := manifest()
	m.Limit, m.Shard = c.limit, c.shard
	s, err := in.Survey()
	if err != nil {
		t.Fatal(err)
	}
	m.SHA256, m.Bytes = s.SHA256, s.Bytes
	if out, err = m.Open(to, in, c.mode, c.layout); err != nil {
		return p, nil, err
	}
	p.Total = s.Records
	if records, failed, ok := out.Complete(); ok {
		p.Records, p.Failed, p.Resumed = records, failed, records
		return p, out, nil
	}
	out.records.sync = func() error { return nil } // sync_test.go has the tests of syncing
	if c.before != nil {
		c.before(out)
	}
	if c.do == nil {
		c.do = atOnce
	}
	if c.ctx == nil {
		c.ctx = context.Background()
	}
	if p.Records, p.Failed, err = out.Recover(in, false, nil); err != nil {
		return p, out, errors.Join(err, out.Close(false))
	}
	p.Resumed = p.Records
	err = each(in, out, c, &p)
	if err = errors.Join(err, out.Close(err == nil)); err == nil {
		err = out.Conclude(c.ctx, in, p.Records, p.Failed)
	}
	return p, out, err
}

// each writes the records of an input.
func each(in *input.Reader, out *Writer, c config, p *Progress) error {
	for c.ctx.Err() == nil {
		it, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		it.Whole = out.Rows()
		rec, err := c.do(c.ctx, &it)
		if err == nil {
			err = out.Write(rec.JSON, &it)
		}
		if err != nil {
			return err
		}
		p.Records++
		if rec.Failed {
			p.Failed++
		}
		if c.progress != nil {
			c.progress(*p)
		}
	}
	return c.ctx.Err()
}

// atOnce is the record of an item in capital letters.
func atOnce(_ context.Context, it *input.Item) (Record, error) {
	h := map[string]any{"line": it.Line, "text": strings.ToUpper(it.Text)}
	if it.ID != nil {
		h["id"] = it.ID
	}
	rec := Record{}
	if it.Err != nil || strings.HasPrefix(it.Text, "bad") {
		delete(h, "text")
		h["error"] = map[string]string{"code": "bad"}
		rec.Failed, rec.Cause = true, errors.New("bad text")
	}
	var err error
	rec.JSON, err = json.Marshal(h)
	return rec, err
}
