package server

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// The guide has every code that only a server knows, with its status.
func TestCodesInGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join(testmode.Root(t), "docs", "guide", "serve.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`(?m)^\tcode\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 10 {
		t.Fatalf("%d codes", len(codes))
	}
	for _, c := range codes {
		status := fmt.Sprintf("| %d | ", (&failure{code: c[1]}).status())
		found := false
		for line := range strings.Lines(string(guide)) {
			found = found || strings.HasPrefix(line, status) && strings.Contains(line, "`"+c[1]+"`")
		}
		if !found {
			t.Errorf("the guide has no line %s`%s`", status, c[1])
		}
	}
}
