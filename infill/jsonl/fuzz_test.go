package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"infill/infill"

	"infill/infill/text"
)

// What Append wrote is read back, and written again with the same bytes.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a [MASK]", "a b", "note", `{"x":[1.50,null]}`, -0.5, 3, uint64(1)<<63, true)
	f.Add("\xff", "\u2028<&>\x00", "text", `"\ud800"`, 1e-300, 0, uint64(0), false)
	f.Add("", "", "", "1e999", 0.0, 1<<62, uint64(9), true)
	f.Fuzz(
		func(t *testing.T, line, word, name, value string, x float64, n int, seed uint64, failed bool) {
			if n < 0 || math.IsNaN(x) || math.IsInf(x, 0) {
				t.Skip()
			}
			word = utf8Only(word)
			it := Item{ID: json.RawMessage(fmt.Sprint(n)), Line: n, Text: line, Gold: "was " + line}
			from := Origin{TextField: utf8Only(value)}
			doubts := []text.Doubt{{Code: "near_blank", Message: word, Script: word}}
			if failed {
				from.Error = &Failure{"empty", line}
			}
			// Only what the decoder takes from a line becomes a field.
			quoted, err := json.Marshal(name)
			if err != nil {
				t.Skip()
			}
			user := string(append(Quote(from.TextField), `:"x",`...)) + string(quoted) + `:` + value + `}`
			if in, err := (Decoder{TextField: from.TextField}).Input(1, []byte("{"+user)); err == nil {
				from.Fields = in.Fields
			}
			for _, rec := range []Record{
				&Filled{Item: it, Doubts: doubts, Masked: []string{word}, Seed: &seed,
					Fillings: []Filling{{Text: word, Tokens: []string{word}, Pieces: []string{"##" + word},
						Spans: []Span{{0, len(word)}}, Score: &x, Chain: n}},
					Sampler: word, Steps: n, StepSize: x, Tuned: map[string]float64{word: x}, Origin: from},
				&Scored{Item: it, Doubts: doubts, Score: &x, Pieces: []Piece{{word, 3, Span{0, n}, x}},
					Origin: from},
				&Ranked{Item: it, Difference: &x, Origin: from,
					Candidates: []infill.Candidate{{Candidate: word, Share: x}}},
				&Failed{it, from},
			} {
				again(t, rec)
			}
		},
	)
}

// again writes a record, reads it, and writes it with the same bytes. Its kind stays, but for one
// that failed without an error.
func again(t *testing.T, rec Record) {
	t.Helper()
	first, err := Append(nil, rec)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Decoder{}.Record(rec.Of().Line, first)
	if err != nil {
		t.Fatalf("%v: %s", err, first)
	}
	if reflect.TypeOf(read) != reflect.TypeOf(rec) && rec.By().Error != nil {
		t.Fatalf("a %T became a %T: %s", rec, read, first)
	}
	if second, err := Append(nil, read); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%v\n%s\n%s", err, first, second)
	}
}

// No bytes make the decoder panic; what it takes is stable once written.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"line":2,"text":"x","y":{"z":[]}}`, `{"text":"\ud800"}`, "{", `{"text":"x"}}`, "\xff",
		`{"id":null,"gold":"a","fillings":[{"text":"b","spans":[[0,1]]}]}`, `{"line":1e2}`,
		`{"input_fields":{"line":7,"gold":"a","input_fields":1},"gold":"b","x":1}`, `{"gold":[1]}`,
		`{"tuned":{"a":1e-5},"window":[0,0],"error":{"code":"x"},"gold":7}`,
		`{"text_field":"y","y":"x","text":null,"filled":"x"}`, `{"text_field":"y","text":"x"}`,
		`{"text_field":"score","score":1}`, `{"id":",\"text\":","text_field":",\"text\":",",\"text\":":"x"}`,
		`{"fillings":[{"text":"a","count":1,"count":2}],"pieces":[{"foo":[{}]}],"candidates":[null]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if _, err := (Decoder{}).Input(1, line); err != nil && !errors.As(err, new(*Error)) {
			t.Fatalf("untyped error %v", err)
		}
		rec, err := Decoder{}.Record(1, line)
		if err != nil {
			if !errors.As(err, new(*Error)) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again(t, rec)
	})
}
