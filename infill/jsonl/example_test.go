package jsonl_test

import (
	"fmt"

	"infill/infill/jsonl"
)

// A line of infill batch is read back, with the fields that its input had.
func ExampleDecoder_Record() {
	line := `{"id":7,"line":3,"text":"The [MASK] sat.","fillings":[{"text":"The cat sat.",` +
		`"tokens":["cat"],"spans":[[4,7]],"score":-1.5,"score_per_token":-1.5,` +
		`"chain":0,"step":50,"count":9}],"source":"zoo"}`
	r, err := jsonl.Decoder{}.Record(3, []byte(line))
	rec, ok := r.(*jsonl.Filled)
	if err != nil || !ok {
		fmt.Println(err)
		return
	}
	for _, f := range rec.Fillings {
		fmt.Println(*f.Score, f.Text, f.Text[f.Spans[0][0]:f.Spans[0][1]])
	}
	for _, f := range rec.Fields {
		fmt.Println(f.Name, string(f.Value))
	}
	// Output:
	// -1.5 The cat sat. cat
	// source "zoo"
}

// An error says which line and which field is wrong.
func ExampleError() {
	_, err := jsonl.Decoder{}.Record(3, []byte(`{"line":3,"fillings":[{"text":"a","score":"high"}]}`))
	fmt.Println(err)
	// Output:
	// bad JSON line: field "fillings[0].score" is a JSON string, want a number
}
