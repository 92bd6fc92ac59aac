package batch

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/batch/output"
	"infill/infill/table"
)

// Arrow was read once. Under its names, and of a pipe, it is refused with what to do, and so is a
// folder that has some.
func TestArrowIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"x.arrow", "x.ARROWS", "x.feather", "x.ipc"} {
		_, err := input.Open(inputtest.Write(t, filepath.Join(dir, name), "ARROW1\x00\x00"), nil, input.Options{})
		if !errors.Is(err, table.ErrTable) || !strings.Contains(err.Error(), "write_parquet") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("input %s: %v", name, err)
		}
		if _, err := (output.Layout{}).Found(name); !errors.Is(err, output.ErrLayout) {
			t.Errorf("output %s: %v", name, err)
		}
	}
	_, err := input.Open("-", strings.NewReader("ARROW1\x00\x00\xff\xff\xff\xff"), input.Options{})
	if !errors.Is(err, input.ErrNotLines) || !strings.Contains(err.Error(), "as Parquet first") {
		t.Errorf("a pipe: %v", err)
	}
}
