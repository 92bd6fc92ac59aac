package hub

import (
	"errors"
	"strings"
	"testing"
)

// A model that leads out of the cache, or to a place that may change, is refused.
func TestModelCheck(t *testing.T) {
	s := newServer(t, 10)
	change := func(f func(*Model)) *Model {
		m := s.model()
		f(m)
		return m
	}
	path := func(p string) *Model { return change(func(m *Model) { m.Files[1].Path = p }) }
	url := func(u string) *Model { return change(func(m *Model) { m.Files[1].URL = u }) }
	cases := map[string]*Model{
		"a null file":       change(func(m *Model) { m.Files[0] = nil }),
		"no files":          change(func(m *Model) { m.Files = nil }),
		"many files":        change(func(m *Model) { m.Files = make([]*File, maxFiles+1) }),
		"name with a slash": change(func(m *Model) { m.Name = "a/b" }),
		"name of dots":      change(func(m *Model) { m.Name = ".." }),
		"name with dots":    change(func(m *Model) { m.Name = "a..b" }),
		"upper case":        change(func(m *Model) { m.Name = "Bert" }),
		"long name":         change(func(m *Model) { m.Name = strings.Repeat("a", 65) }),
		"device name":       change(func(m *Model) { m.Name = "con" }),
		"terminal codes":    change(func(m *Model) { m.Note = "a\x1b[2J" }),
		"no model file":     change(func(m *Model) { m.Files[0].Path = "weights.bin" }),
		"up":                path("../vocab.txt"),
		"up inside":         path("a/../../vocab.txt"),
		"absolute":          path("/etc/passwd"),
		"drive":             path(`C:\x`),
		"backslash":         path(`a\..\b`),
		"hidden":            path(".bashrc"),
		"hidden inside":     path("a/.git/config"),
		"empty":             path(""),
		"dot":               path("."),
		"twice, other case": path("ONNX/model.onnx"),
		"file and folder":   path("onnx/model.onnx/x"),
		"folder and file":   path("onnx"),
		"device":            path("a/NUL.txt"),
		"long path":         path(strings.Repeat("a", 201)),
		"control character": path("a\nb"),
		"http":              url("http://example.com/x"),
		"a file":            url("file:///etc/passwd"),
		"user name":         url("https://a:b@example.com/x"),
		"no host":           url("https:///x"),
		"a branch":          url("{hub}/o/n/resolve/main/vocab.txt"),
		"a short commit":    url("{hub}/o/n/resolve/0123456/vocab.txt"),
		"hub elsewhere":     url("{hub}.example.com/o/n/resolve/" + testCommit + "/x"),
		"up in the address": url("{hub}/o/n/resolve/" + testCommit + "/../../x"),
		"short hash":        change(func(m *Model) { m.Files[0].SHA256 = "abc" }),
		"upper-case hash": change(
			func(m *Model) { m.Files[0].SHA256 = strings.ToUpper(m.Files[0].SHA256) },
		),
		"no size":       change(func(m *Model) { m.Files[0].Bytes = 0 }),
		"about nothing": change(func(m *Model) { m.Files[0].Bytes, m.Files[0].About = 0, true }),
		"negative size": change(func(m *Model) { m.Files[0].Bytes = -1 }),
		"huge":          change(func(m *Model) { m.Files[0].Bytes = 1 << 60 }),
		"no hash, a proposed change": change(func(m *Model) {
			m.Files[1].SHA256, m.Files[1].URL = "", "{hub}/o/n/resolve/refs%2Fpr%2F18/vocab.txt"
		}),
		"two exports": path("other.onnx"),
		"bad commit":  change(func(m *Model) { m.Commit = "main" }),
		"no owner":    change(func(m *Model) { m.Commit = testCommit }),
		"no git hash": change(func(m *Model) { m.Files[1].Git = "x" }),
		"no hash, no commit": change(func(m *Model) {
			m.Files[1].SHA256, m.Files[1].URL = "",
				"https://example.com/vocab.txt"
		}),
	}
	for name, m := range cases {
		if m.check() == nil {
			t.Errorf("%s: accepted", name)
		}
		_, err := Cache{t.TempDir()}.pull(t.Context(), m, quick(s, nil))
		if !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := change(func(m *Model) { m.Files[0].SHA256 = "" }).check(); err != nil {
		t.Errorf("a good one: %v", err)
	}
	if len(s.log()) > 0 {
		t.Errorf("requests %q", s.log())
	}
}
