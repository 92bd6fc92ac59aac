package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
	"infill/tokenize"
)

func TestStep(t *testing.T) {
	t.Parallel()
	tok, err := tokenize.Load(os.DirFS("../../mlm/testdata/tiny-bert"))
	if err != nil {
		t.Fatal(err)
	}
	id := tok.MaskID()
	l := Step{Sampler: "dula", ID: "q"}
	l.Fill(tok, infill.Step{
		Step: 2, Energy: []float64{-1.5, math.NaN()}, Proposed: []bool{true, true},
		Accepted: []bool{true, false},
		Tokens:   func(int) []int32 { return []int32{id} },
	})
	var b bytes.Buffer
	want := `{"sampler":"dula","id":"q","step":2,"energy":[-1.5,null],"proposed":[true,true],` +
		`"accepted":[true,false],` +
		`"states":[["[MASK]"],["[MASK]"]]}` + "\n"
	if err := Encode(&b, &l); err != nil || b.String() != want {
		t.Errorf("%v: %swant %s", err, &b, want)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	line := `{ "fillings": [{"text":"two","score":null,"spans":[[0,3]]}], "mine": {"a": [1]}, ` +
		`"line": 3, "id": null, "error": null }`
	r, err := Decoder{}.Record(3, []byte(line))
	rec, ok := r.(*Filled)
	if err != nil || !ok || rec.Line != 3 || rec.ID != nil || rec.Error != nil || len(rec.Fillings) != 1 ||
		rec.Fillings[0].Score != nil || rec.Fillings[0].Spans[0] != (Span{0, 3}) ||
		len(rec.Fields) != 1 || rec.Fields[0].Name != "mine" {
		t.Errorf("%+v, %v", r, err)
	}
	few := Decoder{Bytes: 200, Depth: 5, Fillings: 2}
	for _, c := range []struct {
		line, field, says string
		kind              error
	}{
		{strings.Repeat(" ", 201), "", "200 bytes", ErrLineTooLong},
		{"\xff", "", "UTF-8", ErrJSON},
		{`[]`, "", "want an object", ErrJSON},
		{``, "", "want an object", ErrJSON},
		{`{"a":[[[[[1]]]]]}`, "", "5 deep", ErrJSON},
		{`{"a":"[[[[","b":1`, "", "not closed", ErrJSON},
		{`{"a":1,"a":2}`, "a", "two fields", ErrJSON},
		{`{"a":}`, "a", "field \"a\"", ErrJSON},
		{`{"a":1} 2`, "", "follows", ErrJSON},
		{`{"text":7}`, "text", "a JSON number, want a text", ErrJSON},
		{`{"line":-1}`, "line", "below 0", ErrJSON},
		{`{"line":1.5}`, "line", "whole number", ErrJSON},
		{`{"seed":-1}`, "seed", "whole number", ErrJSON},
		{`{"id":[1]}`, "id", "neither a string", ErrJSON},
		{`{"acceptance":2}`, "acceptance", "0 to 1", ErrJSON},
		{`{"move_share":-1}`, "move_share", "0 to 1", ErrJSON},
		{`{"window":[1]}`, "window", "not a span", ErrJSON},
		{`{"window":[3,1]}`, "window", "not a span", ErrJSON},
		{`{"text":"abc","window":[0,9]}`, "window", "3 bytes", ErrJSON},
		{`{"fillings":[{"text":"a","score":"x"}]}`, "fillings[0].score", "want a number", ErrJSON},
		{`{"fillings":[{"text":"a","spans":[[0,2]]}]}`, "fillings[0].spans", "1 bytes", ErrJSON},
		{`{"fillings":[{"text":"a","chain":-2}]}`, "fillings[0].chain", "below 0", ErrJSON},
		{`{"fillings":[{},{},{}]}`, "fillings", "at most 2", ErrJSON},
		{`{"fillings":[{"text":"a"},{"score":1}]}`, "fillings[1]", "no text", ErrJSON},
		{`{"score":1,"pieces":[{"id":1},{"id":1e10}]}`, "pieces[1].id", "whole number of 32 bits", ErrJSON},
		{`{"text_field":"score"}`, "text_field", "records use", ErrJSON},
		{`{"text_field":"a","a":7}`, "a", "want a text", ErrJSON},
		{`{"text_field":"a","a":"b","text":"c"}`, "text_field", "a text besides", ErrJSON},
		{`{"input_fields":7}`, "input_fields", "want an object", ErrJSON},
		{`{"input_fields":{"a":7}}`, "input_fields", "no record uses", ErrJSON},
		{`{"input_fields":{"gold":7}}`, "input_fields", "none", ErrJSON},
		{`{"error":"no"}`, "error", "want an object", ErrJSON},
		{`{"error":{"code":"a","why":1}}`, "error.why", "no such field", ErrJSON},
		{`{"error":{"code":"a","code":"b"}}`, "error.code", "two fields", ErrJSON},
		{`{"fillings":[{"text":"a"},{"text":"a","foo":3}]}`, "fillings[1].foo", "no such", ErrJSON},
		{`{"fillings":[{"TEXT":"a"}]}`, "fillings[0].TEXT", "no such field", ErrJSON},
		{`{"fillings":[{"text":"a","Count":1}]}`, "fillings[0].Count", "no such field", ErrJSON},
		{`{"fillings":[{"text":"a","count":1,"count":2}]}`, "fillings[0].count", "two", ErrJSON},
		{`{"fillings":[null]}`, "fillings[0]", "want an object", ErrJSON},
		{`{"fillings":[{"text":null}]}`, "fillings[0]", "no text", ErrJSON},
		{`{"fillings":7}`, "fillings", "want a", ErrJSON},
		{`{"score":1,"pieces":[{"piece":"a","foo":3}]}`, "pieces[0].foo", "no such field", ErrJSON},
		{`{"candidates":[{"id":3}]}`, "candidates[0].id", "no such field", ErrJSON},
		{`{"tuned":{"a":1,"a":2}}`, "tuned.a", "two fields", ErrJSON},
		{`{"tuned":{"a":"x"}}`, "tuned", "want a number", ErrJSON},
	} {
		_, err := few.Record(9, []byte(c.line))
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, c.kind) || e.Line != 9 || e.Field != c.field ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40s: %v (%+v); want %v of field %q saying %q", c.line, err, e, c.kind, c.field,
				c.says)
		}
	}
	// encoding/json gives up at a depth of 10,000; the limit stands before it.
	if _, err := (Decoder{}).Object(1, []byte(`{"a":`+strings.Repeat("[", 1<<20))); !errors.Is(err,
		ErrJSON) {
		t.Error(err)
	}
}

// Nothing of the user's line is lost: what the record says, or a field has it.
func TestKeep(t *testing.T) {
	t.Parallel()
	seed := uint64(9)
	rec := &Filled{Item: Item{Line: 4}, Seed: &seed, Steps: 20, StepSize: 0.5, Sampler: "gwg"}
	in, err := Decoder{}.Input(4, []byte(`{"text":"a","steps": 20 ,"seed":9,"step_size":0.1,"line":4,`+
		`"top":3,"chains":0,"sampler":"gwg","score":1,"note":"x","input_fields":2}`))
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]bool{
		"steps": true, "seed": true, "step_size": true, "top": true, "chains": true, "sampler": true,
	}
	Keep(rec, in.Fields, func(name string) bool { return settings[name] })
	want := `{"line":4,"sampler":"gwg","seed":9,"steps":20,"step_size":0.5,"top":3,"note":"x",` +
		`"input_fields":{"step_size":0.1,"line":4,"chains":0,"score":1,"input_fields":2}}`
	got, err := Append(nil, rec)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	again, err := Decoder{}.Record(4, got)
	if err != nil || len(again.By().Fields) != len(rec.Fields) {
		t.Errorf("%+v, %v", again, err)
	}
}

// What the reader of input takes, the reader of records takes too, one level deeper.
func TestDepth(t *testing.T) {
	t.Parallel()
	line := func(n int) []byte {
		return []byte(`{"text":"a","score":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	if _, err := (Decoder{}).Input(1, line(64)); !errors.Is(err, ErrJSON) {
		t.Errorf("65 levels: %v", err)
	}
	in, err := Decoder{}.Input(1, line(63))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Append(nil, &Scored{Item: Item{Line: 1}, Origin: Origin{Fields: in.Fields}})
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := (Decoder{}).Record(1, b); err != nil || len(rec.By().Fields) != 1 {
		t.Errorf("%+v, %v: %s", rec, err, b)
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{text.ErrEmpty, "empty"}, {text.ErrNoBlank, "no_blank"}, {text.ErrBlank, "bad_blank"},
		{text.ErrEmptySupport, "empty_support"}, {text.ErrFewWords, "too_few_words"},
		{&Error{Kind: ErrJSON}, "bad_json"}, {&Error{Kind: ErrLineTooLong}, "too_long"},
		{settings.ErrSetting, "bad_option"}, {tokenize.ErrInvalidUTF8, "invalid_utf8"},
		{mlm.ErrTooLong, "too_long"}, {tokenize.ErrTooLarge, "too_long"},
		{samplers.ErrTooMany, "unsupported"},
		{&samplers.ParamError{Param: "alpha"}, ""}, {errors.New("the disk"), ""}, {nil, ""},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("around it: %w", err)
		}
		if got := Code(err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
