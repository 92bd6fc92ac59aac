package main

import (
	"bytes"
	"context"
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
