package main

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	if err := run(context.Background(), &out, &errs, []string{"-only", "1"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| log Z | 19.67408576 | 19.67408576 |") {
		t.Errorf("figure 1 is\n%s", out.String())
	}
	for _, args := range [][]string{{"-only", "9"}, {"-only", "x"}, {"extra"}, {"-only", "1", "-write", t.TempDir()}, {"-nope"}} {
		if err := run(context.Background(), &out, &errs, args); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

// TestThreefry checks the known answer of Random123 and what JAX 0.10.2 draws
// with jax_threefry_partitionable off.
func TestThreefry(t *testing.T) {
	if x, y := (key{0x13198a2e, 0x03707344}).block(0x243f6a88, 0x85a308d3); x != 0xc4923a9c || y != 0x483df7a0 {
		t.Errorf("block gives %x %x", x, y)
	}
	ks := key{}.split(4)
	if ks[0] != (key{2285895361, 1501764800}) || ks[3] != (key{839183663, 3740430601}) {
		t.Errorf("split gives %v", ks)
	}
	u := ks[0].split(1)[0].uniform(2500)
	for i, want := range map[int]float64{0: 0.4612038, 4: 0.14966285, 2495: 0.87116754, 2499: 0.8987273} {
		if math.Abs(u[i]-want) > 1e-7 {
			t.Errorf("uniform number %d is %g, want %g", i, u[i], want)
		}
	}
	// An odd number of words is padded with a counter of 0.
	if got := (key{}).bits(3); got[0] != 4146024105 || got[1] != 1351547692 || got[2] != 2718843009 {
		t.Errorf("three words are %v", got)
	}
}
