package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/batch/output"
	"infill/internal/gate"
)

// The bytes behind a record are somebody else's, as those of the next record of the same buffer.
func TestRecordsOfOneBuffer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in"), "one\ntwo\nthree\n")
	const all = `{"line":1}{"line":2}{"line":3}`
	buffer := []byte(all)
	path := filepath.Join(dir, "out.jsonl")
	_, _, err := process(t, in, path, config{workers: 1,
		do: func(_ context.Context, it *input.Item) (Record, error) {
			return Record{JSON: buffer[10*(it.Line-1) : 10*it.Line]}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "{\"line\":1}\n{\"line\":2}\n{\"line\":3}\n"
	if got := string(inputtest.Read(t, path)); got != want || string(buffer) != all {
		t.Errorf("the output is %q, the buffer %q", got, buffer)
	}
}

// A record that a later run would cut off as torn, or take for that of another item, ends the run,
// with all before it in the output.
func TestRecordThatCannotBeResumed(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"none": "", "null": "null", "a list": `[{"line":3}]`, "no line": `{}`, "cut off": `{"line":3`,
		"two": `{"line":3}{"line":3}`, "indented": "{\n \"line\": 3\n}", "with its end": "{\"line\":3}\n",
		"of another line": `{"line":4}`, "of another item": `{"line":3,"id":"x"}`,
	} {
		dir := t.TempDir()
		in := inputtest.Write(t, filepath.Join(dir, "in"), "one\ntwo\nthree\nfour\n")
		path := filepath.Join(dir, "out.jsonl")
		with := func(bad string) config {
			return config{workers: 1, mode: output.Resume, do: func(_ context.Context, it *input.Item) (Record, error) {
				if it.Line == 3 {
					return Record{JSON: []byte(bad)}, nil
				}
				return Record{JSON: fmt.Appendf(nil, `{"line":%d}`, it.Line)}, nil
			}}
		}
		p, _, err := process(t, in, path, with(bad))
		if !strings.Contains(err.Error(), "not the record of its item") || !strings.HasPrefix(err.Error(), "line 3: ") || p.Records != 2 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		p, out, err := process(t, in, path, with(`{"line":3}`))
		if err != nil || p.Resumed != 2 || p.Records != 4 || out.Dropped != 0 {
			t.Errorf("%s, resumed: %+v, %v", name, p, err)
		}
	}
}

// A panic in Do, or in what it left to be done at the end, reaches the caller of Run, with its stack,
// and the output can be resumed.
func TestPanicInDo(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"Do": false, "Finish": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			panicIn(t, late)
		})
	}
}

func panicIn(t *testing.T, late bool) {
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in"), inputtest.Sentences(40))
	whole, path := filepath.Join(dir, "whole.jsonl"), filepath.Join(dir, "out.jsonl")
	if _, _, err := process(t, in, whole, config{}); err != nil {
		t.Fatal(err)
	}
	errOdd := errors.New("odd")
	func() {
		defer func() {
			p, ok := recover().(*gate.Panic)
			if !ok || !errors.Is(p, errOdd) || !strings.Contains(p.Error(), "record_test.go") {
				t.Errorf("recovered %v", p)
			}
		}()
		_, _, err := process(t, in, path, config{do: func(ctx context.Context, it *input.Item) (Record, error) {
			switch {
			case it.Line == 23 && late:
				return Record{Finish: func(context.Context) (Record, error) { panic(errOdd) }}, nil
			case it.Line == 23:
				panic(errOdd)
			}
			return upper(ctx, it)
		}})
		t.Errorf("Run returned %v", err)
	}()
	p, _, err := process(t, in, path, config{mode: output.Resume})
	if err != nil || p.Resumed != 20 { // of the 22 lines before it two are empty
		t.Errorf("resumed: %+v, %v", p, err)
	}
	if !bytes.Equal(inputtest.Read(t, whole), inputtest.Read(t, path)) {
		t.Error("the resumed output is another one")
	}
}
