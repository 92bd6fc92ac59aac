package server

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxPage is the size of the page in bytes: what a letter has.
const maxPage = 60_000

// The page is small, and loads nothing from elsewhere: it works without a network.
func TestPageFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("page/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no files: ", err)
	}
	size := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		size += len(b)
		for _, place := range outside(string(b)) {
			t.Errorf("%s loads from outside: %s", file, place)
		}
	}
	if size > maxPage {
		t.Errorf("the page has %d bytes, want at most %d", size, maxPage)
	}
}

// The test of addresses sees what would load something, and no more.
func TestOutside(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`<script src="https://example.org/x.js"></script>`: true,
		`<img src=//example.org/x.png>`:                    true,
		`<link href="//example.org/x.css">`:                true,
		`@import url(//example.org/x.css)`:                 true,
		`fetch('http://example.org')`:                      true,
		"fetch(`wss://example.org`)":                       true,
		`background: url(data:image/png;base64,xxxx)`:      true,
		`const NS = "http://www.w3.org/2000/svg"`:          false,
		"// A comment, and 1 / 2 // another":               false,
		`<script src="app.js"></script>`:                   false,
	} {
		if got := len(outside(text)) > 0; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

var address = regexp.MustCompile(`(?i)\b(?:https?|wss?|ftp):/?|\bdata:[a-z]+/|["'(=` + "`" + `]\s*//\w`)

// outside finds addresses of other places in a file of the page. The name of SVG's elements is one
// that nothing is loaded from.
func outside(text string) []string {
	return address.FindAllString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), -1)
}
