package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"

	"infill/server/api"
)

// Every code that only a server knows has a meaning, in the order of statuses.
func TestMeanings(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`(?m)^\tcode\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 10 {
		t.Fatalf("%d codes", len(codes))
	}
	means := map[string]string{}
	last := 0
	for _, m := range meanings {
		status := (&failure{code: m.Code, large: m.Code == tooLong}).status()
		if status < last || means[m.Code] != "" {
			t.Errorf("%s, status %d, after %d", m.Code, status, last)
		}
		last, means[m.Code] = status, m.Means
	}
	for _, c := range codes {
		if means[c[1]] == "" {
			t.Errorf("%s has no meaning", c[1])
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
		h := httptest.NewServer(s.answering(api.Route{Open: true},
			func(w http.ResponseWriter, _ *http.Request) error {
				if begun {
					_, err := io.WriteString(w, "half")
					if err := errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
						return err
					}
				}
				panic("a test")
			}))
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
