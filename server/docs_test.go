package server

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// The page /docs has what /openapi.json says: each route, each object with its members, each
// parameter and each error. Its links lead somewhere, and it loads nothing from elsewhere.
func TestDocs(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{Keys: []string{"sixteen-characters"}, Hosts: []string{"x"}})
	a := ask(t, "GET", h.URL+"/docs", "")
	page := string(a.body)
	if a.code != http.StatusOK || a.header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %v", a.code, a.header)
	}
	here := strings.ReplaceAll(page, h.URL, "")
	if found := outside(here); len(found) > 0 {
		t.Errorf("it names other places: %q", found)
	}
	text := html.UnescapeString(tags.ReplaceAllString(page, " "))
	has := func(what string) {
		t.Helper()
		if !strings.Contains(text, what) {
			t.Errorf("no %q", what)
		}
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema struct {
					Type any
					Enum []string
				}
			}
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Description string }
			}
		}
	}
	if err := json.Unmarshal(ask(t, "GET", h.URL+"/openapi.json", "").body, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Paths) < 10 || len(doc.Components.Schemas["fill"].Properties) < 30 {
		t.Fatalf("the description has %d paths", len(doc.Paths))
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if !regexp.MustCompile(strings.ToUpper(method) + `</b> <code>` +
				regexp.QuoteMeta(html.EscapeString(path)) + `</code>`).MatchString(page) {
				t.Errorf("no %s %s", method, path)
			}
			for _, p := range op.Parameters {
				has(" " + p.Name + " ")
			}
		}
	}
	kinds := map[string]string{}
	for _, p := range doc.Paths["/v1/fill"]["get"].Parameters {
		kinds[p.Name] = fmt.Sprintf("%v %v", p.Schema.Type, len(p.Schema.Enum) > 0)
	}
	for name, want := range map[string]string{"top": "integer false", "temperature": "number false",
		"no_repeat": "boolean false", "method": "<nil> true", "sampler": "string false",
		"params": "string false", "energy": "array false"} {
		if kinds[name] != want {
			t.Errorf("%s in an address: %s, want %s", name, kinds[name], want)
		}
	}
	for _, no := range []string{"of a FILE", "such distance", "that encoder", "(true or false)",
		"(auto or exact"} {
		if strings.Contains(text, no) {
			t.Errorf("it says %q", no)
		}
	}
	if slash := ask(t, "GET", h.URL+"/docs/", ""); slash.code != http.StatusOK || string(slash.body) != page {
		t.Errorf("/docs/: %d", slash.code)
	}
	for name, object := range doc.Components.Schemas {
		if !strings.Contains(page, `id="o-`+name+`"`) {
			t.Errorf("no object %s", name)
		}
		for field, p := range object.Properties {
			has(" " + field + " ")
			has(p.Description)
		}
	}
	for _, m := range meanings {
		has(m.code)
		has(m.means)
	}
	has("curl -H 'Authorization: Bearer KEY' " + h.URL + `/v1/fill -d '{"seed":1,"text":"The [MASK] sat on the [MASK]."}'`)
	has("fillings[].score")
	has("step · energy")
	for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if id, ok := strings.CutPrefix(link[1], "#"); ok {
			if !strings.Contains(page, `id="`+id+`"`) {
				t.Errorf("nothing is called %s", id)
			}
		} else if a := ask(t, "GET", h.URL+"/"+strings.TrimPrefix(link[1], "."), ""); a.code != http.StatusOK {
			t.Errorf("%s: %d", link[1], a.code)
		}
	}
	// A name that somebody gives the server is text.
	evil := ask(t, "GET", h.URL+"/docs", "", `Host: x"><script>alert(1)</script>`)
	if strings.Contains(string(evil.body), "<script") {
		t.Error("the host is markup")
	}
	if !slices.ContainsFunc(s.routes(), func(r route) bool { return r.path == "/docs" && r.open }) {
		t.Error("the page needs a key")
	}
}

// The commands of the page work as they stand there.
func TestDocsCommands(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		testmode.Missing(t, "curl")
	}
	_, h := start(t, Options{})
	page := string(ask(t, "GET", h.URL+"/docs", "").body)
	commands := regexp.MustCompile(`(?s)<pre[^>]*>(.*?)</pre>`).FindAllStringSubmatch(page, -1)
	if len(commands) < 10 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		command := html.UnescapeString(c[1])
		out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, "curl ",
			"curl --silent --show-error --fail ", 1)).CombinedOutput()
		if err != nil || strings.Contains(string(out), `"error":{"code"`) {
			t.Errorf("%s: %v: %.300s", command, err, out)
		}
	}
}
