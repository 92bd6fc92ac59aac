package prose

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"infill/internal/testmode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6}\s+(.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
)

// TestLinks follows every relative link of every document, to the anchor.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := testmode.Root(t)
	docs := tree(t, ".md")
	seen := 0
	for name, text := range docs {
		text = codeSpan.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: link %s: %v", name, m[1], err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			seen++
			target := name
			if u.Path != "" {
				target = path.Join(path.Dir(name), u.Path)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s: link %s leads nowhere", name, m[1])
				continue
			}
			if u.Fragment != "" && !anchors(docs[target])[u.Fragment] {
				t.Errorf("%s: link %s: no such heading", name, m[1])
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d links found", seen)
	}
}

// anchors returns the names under which GitHub shows the headings of a document.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(m[1])) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		name := b.String()
		for n := 1; names[name]; n++ {
			name = b.String() + "-" + strconv.Itoa(n)
		}
		names[name] = true
	}
	return names
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	got := anchors("# One: `two` (3)\n\n```sh\n# no heading\n```\n## What, twice?\n## What, twice?\n")
	for _, want := range []string{"one-two-3", "what-twice", "what-twice-1"} {
		if !got[want] {
			t.Errorf("no %q in %v", want, got)
		}
	}
	if len(got) != 3 {
		t.Errorf("%v", got)
	}
}
