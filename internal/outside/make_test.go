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
	makefile := string(file(t, "Makefile"))
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
	text := string(file(t, "CONTRIBUTING.md"))
	for _, m := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	for _, name := range listed {
		if !slices.Contains(targets, name) {
			t.Errorf("make %s is no target", name)
		}
	}
}

// README's section on installing begins with the two commands that do all set-up, and each of
// them depends on setup.
func TestReadmeNamesTheTwoCommands(t *testing.T) {
	t.Parallel()
	readme := string(file(t, "README.md"))
	_, install, found := strings.Cut(readme, "\n## Install\n")
	if !found {
		t.Fatal("README has no section Install")
	}
	_, block, _ := strings.Cut(install, "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	if !regexp.MustCompile(`\Amake demo +# .*\nmake test +# .*\nexport PATH=`).MatchString(block) {
		t.Errorf("Install does not begin with make demo, make test and PATH:\n%s", block)
	}
	makefile := string(file(t, "Makefile"))
	for _, target := range []string{"demo", "test"} {
		if !strings.Contains(makefile, "\n"+target+": setup\n") {
			t.Errorf("make %s does not depend on setup", target)
		}
	}
}

// file is the content of a file by its path from the root of the repository.
func file(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testmode.Root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
