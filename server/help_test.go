package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/server/api"
)

// tiny is a model that knows some eighty words and answers within milliseconds.
func tiny(t testing.TB) *mlm.Model {
	t.Helper()
	orttest.Load(t)
	m, err := mlm.Open(t.Context(), os.DirFS("../mlm/testdata/tiny-bert"), mlm.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// start serves the tiny model on this machine.
func start(t testing.TB, opt Options) (*Server, *httptest.Server) {
	t.Helper()
	if opt.Places == 0 {
		opt.Places = 2
	}
	opt.Version = "test"
	s, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add("tiny", tiny(t)); err != nil {
		t.Fatal(err)
	}
	s.Ready()
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return s, h
}

// An answered is a whole answer.
type answered struct {
	code   int
	header http.Header
	body   []byte
}

func (a answered) failure(t testing.TB) answer {
	t.Helper()
	var out struct {
		Error, Type string
		Raw         json.RawMessage `json:"record"`
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &in); err != nil {
		t.Fatalf("%d: %q: %v", a.code, a.body, err)
	}
	_ = json.Unmarshal(in["error"], &out.Error)
	_ = json.Unmarshal(in["error_type"], &out.Type)
	res := answer{Error: out.Error, Type: out.Type, Record: rawRecord(in["record"])}
	_ = json.Unmarshal(in["answers"], &res.Answers)
	return res
}

// ask makes a request. Headers are "Name: value".
func ask(t testing.TB, method, url, body string, headers ...string) answered {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{res.StatusCode, res.Header, b}
}

// An event is one of a stream.
type event struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// events reads a stream of either form.
func readEvents(t testing.TB, a answered) []event {
	t.Helper()
	var out []event
	if a.header.Get("Content-Type") == api.JSONLines {
		for line := range bytes.Lines(a.body) {
			var e event
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			out = append(out, e)
		}
		return out
	}
	for _, part := range strings.Split(strings.TrimSuffix(string(a.body), "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(part, "\n")
		e := event{strings.TrimPrefix(name, "event: "), json.RawMessage(strings.TrimPrefix(data, "data: "))}
		if !ok || !json.Valid(e.Data) || strings.Contains(data, "\n") {
			t.Fatalf("event %q", part)
		}
		out = append(out, e)
	}
	return out
}

// patient waits until something holds. Its minute is for a machine that is busy with other tests.
func patient(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// metric is the value of a line of /metrics.
func metric(t testing.TB, url, name string) string {
	t.Helper()
	r := bufio.NewScanner(bytes.NewReader(ask(t, "GET", url+"/metrics", "").body))
	for r.Scan() {
		if value, ok := strings.CutPrefix(r.Text(), name+" "); ok {
			return value
		}
	}
	return ""
}
