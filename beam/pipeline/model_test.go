package pipeline

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"infill/mlm"
)

// logged keeps what is logged.
type logged struct{ lines []string }

func (l *logged) Log(_ context.Context, sev log.Severity, _ int, msg string) {
	if sev == log.SevWarn {
		l.lines = append(l.lines, msg)
	}
}

// The log has what makes results doubtful, and why a start takes more time or memory than it needs.
func TestWarn(t *testing.T) {
	for _, c := range []struct {
		info mlm.Info
		want []string // in a line each
	}{
		{mlm.Info{}, nil},
		{mlm.Info{Warnings: []string{"one", "two"}}, []string{"one", "two"}},
		{mlm.Info{Unkept: "the disk is full"}, []string{"the disk is full; let INFILL_CACHE name"}},
	} {
		l := &logged{}
		log.SetLogger(l)
		warn(t.Context(), c.info)
		log.SetLogger(&log.Structural{})
		if !slices.EqualFunc(l.lines, c.want, strings.Contains) {
			t.Errorf("%+v: logs %q", c.info, l.lines)
		}
	}
}
