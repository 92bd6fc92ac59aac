package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"infill/internal/testmode"
)

const (
	traceID  = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerID = "00f067aa0ba902b7"
)

// The example comes from the recommendation. What is not of its form begins a new trace.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for header, flags := range map[string]string{
		"00-" + traceID + "-" + callerID + "-01":                  "01",
		"00-" + traceID + "-" + callerID + "-00":                  "00",
		"00-" + traceID + "-" + callerID + "-fe":                  "00", // flags that are not known
		"00-" + traceID + "-" + callerID + "-0b":                  "01",
		"00-" + traceID + "-" + callerID + "-01-what":             "",
		"ff-" + traceID + "-" + callerID + "-01":                  "",
		"00-" + traceID + "-" + callerID + "-1":                   "",
		"00-" + traceID + "-" + callerID + "-0G":                  "",
		"00_" + traceID + "-" + callerID + "-01":                  "",
		"00-" + strings.ToUpper(traceID) + "-" + callerID + "-01": "",
		"00-" + strings.Repeat("0", 32) + "-" + callerID + "-01":  "",
		"00-" + traceID[1:] + "--" + callerID + "-01":             "",
		"": "",
	} {
		answer := http.Header{}
		s.traced(answer, &http.Request{Header: http.Header{traceparent: {header}}})
		got := answer.Get(traceparent)
		if !traceForm.MatchString(got) || strings.Contains(got, callerID) ||
			strings.Contains(got, traceID) != (flags != "") || !strings.HasSuffix(got, flags) {
			t.Errorf("%q becomes %s", header, got)
		}
	}
}

// Each request is a line of the log, one object with what an operator looks for, and no text of its
// address. The answer says which line it is.
func TestTraceIsLogged(t *testing.T) {
	t.Parallel()
	var log testmode.Buffer
	_, h := start(t, Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	const parent = "00-" + traceID + "-" + callerID + "-01"
	answers := []answered{
		ask(t, "POST", h.URL+"/v1/batch?ban=sleeps", `{"text": "the [MASK] sleeps ."}`,
			"traceparent: "+parent),
		ask(t, "POST", h.URL+"/v1/fill", "x", "traceparent: 00-x"),
		ask(t, "GET", h.URL+"/nothing", ""),
		ask(t, "GET", h.URL+"/health", "", "Host: example.org"),
		// What stands in the place of a path may be a text, of any length.
		ask(t, "GET", h.URL+"/the%20dog%20sleeps", ""),
		ask(t, "POST", h.URL+"/models/"+strings.Repeat("sleeps", 500), `{"inputs": "the [MASK] ."}`),
		ask(t, strings.Repeat("SLEEPS", 500), h.URL+"/health", ""),
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != len(answers) || strings.Contains(log.String(), "sleeps") ||
		len(log.String()) > 600*len(answers) {
		t.Fatalf("%d lines for %d requests: %s", len(lines), len(answers), log.String())
	}
	for i, line := range lines {
		var got struct {
			Time, Msg, Method, Path, From string
			Status                        int
			Bytes                         int64
			Seconds                       float64
			Trace                         string `json:"trace_id"`
			Span                          string `json:"span_id"`
			Parent                        string `json:"parent_id"`
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		a := answers[i]
		method := [...]string{"POST", "POST", "GET", "GET", "GET", "POST", strings.Repeat("SLEEPS", 10) + "…"}[i]
		path := [...]string{"/v1/batch", "/v1/fill", "other", "other", "other", "/models/{id...}", "other"}[i]
		if got.Method != method || got.Path != path || got.Status != a.code || got.Bytes != int64(len(a.body)) ||
			got.Seconds <= 0 || got.Seconds > 60 || got.Time == "" || got.Msg != "request" || got.From == "" {
			t.Errorf("%s of %d %s", line, a.code, a.body)
		}
		want := "00-" + got.Trace + "-" + got.Span + map[bool]string{true: "-01", false: "-00"}[i == 0]
		if is := a.header.Get("traceparent"); is != want {
			t.Errorf("%s answers %s", line, is)
		}
		if of := i == 0; of != (got.Trace == traceID) || of != (got.Parent == callerID) {
			t.Errorf("%s: %v", line, a.header)
		}
	}
}
