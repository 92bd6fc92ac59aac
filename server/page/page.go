// Package page has the page for browsers and that of the API, as files of the program.
//
// The page of the API is RapiDoc, a viewer of OpenAPI, from the package rapidoc 9.3.8 of npm: its
// file dist/rapidoc-min.js.gz as it is there, with its licence and those of what is bundled in it.
package page

import (
	"embed"
	"net/http"
	"path"
	"strings"
)

//go:embed *.html *.css *.js *.svg docs
var files embed.FS

// The policies let a page load files of this server only. RapiDoc sets attributes of style, has a
// style sheet for light and one for dark, which are named here by their hashes, and draws arrows.
const (
	Policy     = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	docsPolicy = Policy + "; img-src 'self' data:; style-src-attr 'unsafe-inline'; style-src 'self' " +
		"'sha256-56Ph23MXZvE0Fm5vsseYLb0YVfbbtYUzgZr0LSmubpY=' " +
		"'sha256-SUwbHntTqVGqcmKhRrXbrWH11E/tCQyG8u5bSm7UaY0='"
)

// viewer is RapiDoc.
const viewer = "rapidoc-min.js"

// kinds are the media types of files, by the ends of their names.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// Names are the files that stand beside the page.
func Names() []string {
	names := []string{viewer, "docs.js"}
	entries, _ := files.ReadDir(".") // part of the program, so that reading does not fail
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// Serve answers with a file by the path of a request: the page at /, that of the API at /docs.
func Serve(w http.ResponseWriter, r *http.Request) error {
	name, h := strings.TrimPrefix(r.URL.Path, "/"), w.Header()
	kind := kinds[path.Ext(name)]
	switch name {
	case "":
		name, kind = "index.html", kinds[".html"]
	case "docs":
		name, kind = "docs/docs.html", kinds[".html"]
		h.Set("Content-Security-Policy", docsPolicy)
	case viewer:
		name = "docs/" + viewer + ".gz"
		h.Set("Content-Encoding", "gzip")
	case "docs.js":
		name = "docs/" + name
	}
	b, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache") // another version may come at any time
	_, err = w.Write(b)
	return err
}
