package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// Errors have their codes however they are wrapped, and an interruption comes before what it caused.
func TestExitCode(t *testing.T) {
	t.Parallel()
	bad := []error{fs.ErrExist}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, OK},
		{fmt.Errorf("line 3: %w", ErrSomeFailed), SomeFailed},
		{errors.Join(ErrSomeFailed, context.Canceled), Interrupted},
		{fmt.Errorf("a: %w", Usagef("no %s", "file")), Usage},
		{fmt.Errorf("out: %w", fs.ErrExist), Usage},
		{fmt.Errorf("out: %w", fs.ErrPermission), Trouble},
	} {
		if got := ExitCode(c.err, bad); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if got := Version("v1.2.3"); got != "v1.2.3" {
		t.Errorf("%q", got)
	}
	if got := Version(""); got == "" {
		t.Error("no version")
	}
}
