package main

import (
	"encoding/json"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm"
)

// doctor says in both forms which weights 8-bit products have, as models get them.
func TestDoctorSaysWhichIntegers(t *testing.T) {
	orttest.Load(t)
	saturates, err := mlm.SaturatesIntegers("")
	if err != nil {
		t.Fatal(err)
	}
	want := map[bool]string{false: "signed", true: "unsigned"}[saturates]
	var d diagnosis
	r := infillRun("", "doctor", "--json")
	if err := json.Unmarshal([]byte(r.out), &d); err != nil || d.Integers != want {
		t.Errorf("%q, %v, want %q", d.Integers, err, want)
	}
	r = infillRun("", "doctor")
	if !strings.Contains(r.out, "\n8-bit products: "+want+" weights") {
		t.Errorf("want %s weights in:\n%s", want, r.out)
	}
}
