package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"infill/infill"
	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

// A writer's error reaches the caller from every renderer.
func TestRenderWriteErrors(t *testing.T) {
	t.Parallel()
	r, err := demoResult()
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	for name, render := range renderers(r) {
		if err := render(failing{full}); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const hostile = "</style><script>alert(1)</script><img src=x onerror=alert(2)>\"'`|&\x1b[2J\u202e{{.}}"

func hostileResult(t *testing.T) *measure.CompareResult {
	t.Helper()
	c := small()
	c.Command, c.Model, c.Version, c.Protocol = hostile, hostile, hostile, hostile
	c.Sources[0] = read.Source{ID: hostile, Text: hostile, Gold: hostile}
	for i := range c.Samplers {
		s := &c.Samplers[i]
		s.Name = hostile + s.Name
		s.Params = hostile
		s.Sentences[0].Fillings = append(s.Sentences[0].Fillings,
			infill.Filling{Text: hostile, Spans: [][2]int{{0, 8}, {10, len(hostile)}}, Score: math.Inf(-1)})
		s.Chains = []measure.ChainTrace{{Evaluations: []float64{1, 2}, Energy: []float64{-2, -1},
			Accepted: []float64{0, 1}}}
	}
	r, err := compare(
		c, []read.Input{inMemory(hostile, []string{"a b c d", "x"})}, measure.CompareOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var tag = regexp.MustCompile(`(?s)<[^<>]*>`)

// Nothing in names or sentences may become markup, leave the page, or reach the
// terminal as a control sequence.
func TestHostileText(t *testing.T) {
	t.Parallel()
	r := hostileResult(t)
	out := map[string]string{}
	for name, render := range renderers(r) {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = b.String()
	}
	for _, name := range []string{"text", "markdown"} {
		if strings.ContainsAny(out[name], "\x1b\u202e") {
			t.Errorf("%s: a control character came through", name)
		}
	}
	if strings.Contains(out["markdown"], "<script") || strings.Contains(out["markdown"], "<img") {
		t.Error("markdown: HTML came through")
	}
	page := out["html"]
	for _, bad := range []string{"<script", "<img", "http:", "https:", "url(", "@import", "<link", "src="} {
		// Escaped text may say src=, a tag may not.
		for _, m := range tag.FindAllString(page, -1) {
			if strings.Contains(strings.ToLower(m), bad) && !strings.Contains(m, "title=") &&
				!strings.Contains(m, "aria-label=") {
				t.Errorf("html: tag %q has %q", m, bad)
			}
		}
	}
	if n := strings.Count(page, "</style>"); n != 1 {
		t.Errorf("html: %d style ends", n)
	}
	// After escaping, quotes inside attribute values cannot end them: every title
	// attribute reads back as one.
	if strings.Contains(page, `onerror=alert(2)>"`) {
		t.Error("html: an attribute was left open")
	}
	svgs := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	if len(svgs) == 0 {
		t.Fatal("html: no charts")
	}
	for _, s := range svgs {
		d := xml.NewDecoder(strings.NewReader(s))
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("chart is not well-formed: %v", err)
			}
			if e, ok := tok.(xml.StartElement); ok {
				for _, a := range e.Attr {
					if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || a.Name.Local == "href" {
						t.Errorf("chart: attribute %s on %s", a.Name.Local, e.Name.Local)
					}
				}
			}
		}
	}
}

// The page must load nothing: no address outside it, and a policy that forbids it.
func TestHTMLIsSelfContained(t *testing.T) {
	t.Parallel()
	r, err := demoResult()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := show.Compare(r).HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("no content security policy")
	}
	for _, bad := range []string{"http://", "https://", "<script", "<link", " src=", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("page has %q", bad)
		}
	}
	for _, want := range []string{"prefers-color-scheme: dark", "@media print", "model evaluations per chain", "nats", "self-BLEU"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("page prints a number that is none")
	}
}
