package device

import (
	"errors"
	"strings"
	"testing"

	"infill/internal/ort"
)

// broken is a device that is not there.
type broken struct {
	Processor
	problem string
	missing bool
	rounds  string
}

func (b broken) Name() string { return "broken" }
func (b broken) About(string) About {
	return About{Name: "broken", Problem: b.problem, Missing: b.missing, Rounding: b.rounds}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", CPU} {
		d, a, err := List{broken{problem: "x"}}.Find(name, "")
		if err != nil || d.Name() != CPU || a.Name != CPU || a.Identity == "" {
			t.Errorf("%q: %+v, %v", name, a, err)
		}
	}
	refused := func(l List, name, want string, missing bool) {
		t.Helper()
		_, _, err := l.Find(name, "")
		if !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), want) ||
			!strings.HasSuffix(strings.Split(err.Error(), "; ")[1], "there is: cpu") ||
			errors.Is(err, ort.ErrNotInstalled) != missing {
			t.Errorf("%s: %v", name, err)
		}
	}
	lacks := List{broken{problem: "the processor lacks what it needs"}}
	refused(nil, "gpu", `"gpu"`, false)
	refused(lacks, "gpu", `"gpu"`, false)
	refused(lacks, "broken", "lacks", false)
	if all := lacks.About(""); len(all) != 2 || all[0].Name != CPU || all[1].Problem == "" {
		t.Errorf("all: %+v", all)
	}
	refused(List{broken{problem: "its files", missing: true}}, "broken", "its files", true)
}

// Devices that round are listed, those that cannot be used among them, and no others.
func TestRounding(t *testing.T) {
	t.Parallel()
	if list := (List{broken{}}).Rounding(""); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if list := (List{broken{rounds: Float16, problem: "not there"}}).Rounding(""); len(list) != 1 || list[0].Problem != "not there" {
		t.Errorf("%+v", list)
	}
}
