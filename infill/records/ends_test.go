package records

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"testing"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/ort/orttest"
	"infill/mlm"
)

// No value of a numeric setting makes a record that cannot be written: at both ends of its range a
// line has a record, if only of an error.
func TestEndsOfSettings(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	m, err := mlm.OpenDir(t.Context(), "../../mlm/testdata/tiny-bert", mlm.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	usual, err := settings.Defaults().Prepare(m.Tokenizer())
	if err != nil {
		t.Fatal(err)
	}
	f := &Filler{Model: m, Engine: infill.New(m), Filling: usual, Version: "test"}
	record := func(fields map[string]any) *jsonl.Filled {
		it := &input.Item{Line: 1, Text: "the [MASK] saw the [MASK] ."}
		for name, v := range fields {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			it.Fields = append(it.Fields, jsonl.Field{Name: name, Value: b})
		}
		r, err := f.Record(t.Context(), it)
		if err != nil {
			t.Errorf("%v: %v", fields, err)
			return nil
		}
		var rec jsonl.Filled
		if err := json.Unmarshal(r.JSON, &rec); err != nil {
			t.Errorf("%v: %v: %s", fields, err, r.JSON)
		}
		return &rec
	}
	tried := 0
	for _, s := range settings.FillTable() {
		v := s.Value(settings.Defaults())
		if !s.Line || v.Kind != reflect.Float64 && v.Kind != reflect.Int {
			continue
		}
		most := v.Max
		if v.Kind == reflect.Int {
			most = math.Min(most, 2000) // more is time, and no other number
		}
		for _, end := range []float64{v.Min, most} {
			if end == v.Min && v.Above {
				end = math.Nextafter(v.Min, math.Inf(1))
			}
			for _, sampler := range []string{"", "rows", "dmala"} {
				fields := map[string]any{s.Field(): json.Number(strconv.FormatFloat(end, 'g', -1, 64))}
				if v.Kind == reflect.Int {
					fields[s.Field()] = int64(end)
				}
				if sampler != "" && s.Name != "steps" && s.Name != "chains" {
					fields["sampler"], fields["steps"], fields["chains"] = sampler, 4, 3
				}
				record(fields)
				tried++
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d values", tried)
	}
	for _, step := range []string{"1e308", "1.7e308", "5e-324"} {
		for _, sampler := range []string{"dmala", "dula"} {
			record(map[string]any{"sampler": sampler, "step_size": step, "steps": 4})
		}
	}
	// The number of the issue: the mean over 25 chains is what each of them has.
	if r := record(map[string]any{"sampler": "dmala", "step_size": "1e308"}); r == nil || r.Error != nil ||
		math.Abs(r.StepSize/1e308-1) > 1e-9 {
		t.Errorf("%+v", r)
	}
}

// A record that cannot be written is an error record of its line.
func TestNotFiniteRecord(t *testing.T) {
	t.Parallel()
	it := &input.Item{Line: 3, Text: "a"}
	r, err := Encoded(it, &jsonl.Filled{StepSize: math.Inf(1)}, nil, settings.FillTable().Has)
	var rec jsonl.Filled
	if err := json.Unmarshal(r.JSON, &rec); err != nil {
		t.Fatal(err)
	}
	if err != nil || !r.Failed || rec.Line != 3 || rec.Error == nil || rec.Error.Code != "bad_option" {
		t.Errorf("%v, %s", err, fmt.Sprint(string(r.JSON)))
	}
}
