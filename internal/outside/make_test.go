package outside

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// CONTRIBUTING.md says that make help lists every target, and names no target that is not there.
func TestMakeHelp(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(testmode.Root(t), name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	makefile := read("Makefile")
	var targets, listed []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):`).FindAllStringSubmatch(makefile, -1) {
		targets = append(targets, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^# make ([a-z-]+) `).FindAllStringSubmatch(makefile, -1) {
		listed = append(listed, m[1])
	}
	_, phony, _ := strings.Cut(makefile, "\n.PHONY: ")
	phony, _, _ = strings.Cut(phony, "\n")
	if len(targets) < 15 {
		t.Fatalf("targets %q", targets)
	}
	for _, target := range targets {
		if target != "all" && !slices.Contains(listed, target) {
			t.Errorf("no line of the Makefile begins with %q, which make help prints", "# make "+target)
		}
		if !slices.Contains(strings.Fields(phony), target) {
			t.Errorf("%s is not in .PHONY", target)
		}
	}
	text := read("CONTRIBUTING.md")
	for _, m := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	for _, name := range listed {
		if !slices.Contains(targets, name) {
			t.Errorf("make %s is no target", name)
		}
	}
}
