package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxPage is the size of the page in bytes: what a letter has.
const maxPage = 70_000

// The page is small, and loads nothing from elsewhere: it works without a network.
func TestPageFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.*")
	if err != nil || len(files) == 0 {
		t.Fatal("no files: ", err)
	}
	size := 0
	files = append(files, "docs/docs.html", "docs/docs.js")
	for _, file := range files {
		if filepath.Ext(file) == ".go" {
			continue
		}
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

// The viewer is the file of the package that is named, and its licence is beside it.
func TestViewer(t *testing.T) {
	t.Parallel()
	const version, sum = "9.3.8", "b083f080f1727f019ccf551228392e0fc39a0be450ba19bca451ea31d6be2ec9"
	b, err := files.ReadFile("docs/" + viewer + ".gz")
	if got := fmt.Sprintf("%x", sha256.Sum256(b)); err != nil || got != sum {
		t.Errorf("SHA-256 %s, want %s: %v", got, sum, err)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || !bytes.HasPrefix(text, []byte("/*! RapiDoc "+version+" ")) {
		t.Errorf("%.60s: %v", text, err)
	}
	for name, says := range map[string]string{"LICENSE.txt": "MIT License", "BUNDLED.txt": "Lea Verou"} {
		if b, err := files.ReadFile("docs/" + name); err != nil || !strings.Contains(string(b), says) {
			t.Errorf("%s: %v", name, err)
		}
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
