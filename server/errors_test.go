package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// Nobody takes half an answer for a whole one: where an answer has begun, a panic ends the
// connection, and before it is an error of the server.
func TestPanicInAnAnswer(t *testing.T) {
	t.Parallel()
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, begun := range []bool{false, true} {
		h := httptest.NewServer(s.answering(route{open: true,
			handle: func(w http.ResponseWriter, _ *http.Request) error {
				if begun {
					_, err := io.WriteString(w, "half")
					if err := errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
						return err
					}
				}
				panic("a test")
			}}))
		res, err := http.Get(h.URL)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		h.Close()
		if begun != (err != nil) || (res.StatusCode == http.StatusOK) != begun {
			t.Errorf("begun %v: %d %q, %v", begun, res.StatusCode, b, err)
		}
	}
}
