package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"infill/internal/testmode"
)

const (
	traceID  = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerID = "00f067aa0ba902b7"
)

// The examples are those of the recommendation, and what its text forbids.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	for header, flags := range map[string]string{
		"00-" + traceID + "-" + callerID + "-01":                  "01",
		"00-" + traceID + "-" + callerID + "-00":                  "00",
		"00-" + traceID + "-" + callerID + "-fe":                  "00", // flags that are not known
		"00-" + traceID + "-" + callerID + "-0b":                  "01",
		"cc-" + traceID + "-" + callerID + "-01":                  "01", // a later version
		"cc-" + traceID + "-" + callerID + "-01-what":             "01",
		"cc-" + traceID + "-" + callerID + "-01what":              "",
		"00-" + traceID + "-" + callerID + "-01-what":             "",
		"ff-" + traceID + "-" + callerID + "-01":                  "",
		"00-" + traceID + "-" + callerID + "-1":                   "",
		"00-" + traceID + "-" + callerID + "-0G":                  "",
		"0-" + traceID + "-" + callerID + "-01":                   "",
		"00_" + traceID + "-" + callerID + "-01":                  "",
		"00-" + strings.ToUpper(traceID) + "-" + callerID + "-01": "",
		"00-" + strings.Repeat("0", 32) + "-" + callerID + "-01":  "",
		"00-" + traceID + "-" + strings.Repeat("0", 16) + "-01":   "",
		"00-" + traceID[1:] + "--" + callerID + "-01":             "",
		"": "",
	} {
		got := newTrace(http.Header{traceparent: {header}, tracestate: {"a=1"}})
		if flags == "" {
			if got.id == traceID || got.parent != "" || got.flags != "00" || got.state != "" {
				t.Errorf("%q is taken: %+v", header, got)
			}
		} else if got.id != traceID || got.parent != callerID || got.flags != flags || got.state != "a=1" {
			t.Errorf("%q: %+v", header, got)
		}
		if text := got.String(); !regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$`).MatchString(text) ||
			got.span == got.parent || !new(trace).parse(text) {
			t.Errorf("%q becomes %s", header, text)
		}
	}
	twice := newTrace(http.Header{traceparent: {"00-" + traceID + "-" + callerID + "-01",
		"00-" + traceID + "-" + callerID + "-01"}})
	if none := newTrace(http.Header{}); twice.id == traceID || twice.id == none.id || none.span == twice.span {
		t.Errorf("two headers: %+v, none: %+v", twice, none)
	}
}

func TestTracestate(t *testing.T) {
	t.Parallel()
	list := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf("k%d=v", i))
		}
		return strings.Join(out, ",")
	}
	for state, want := range map[string]bool{
		"rojo=" + callerID + ",congo=t61rcWkgMzE": true,
		"a=1 , b=2,,\tc=a b!":                     true,
		"0fw529a3039@dt=FfffQ/-*":                 true,
		"a/b_c-d*=x":                              true,
		list(32):                                  true,
		list(33):                                  false,
		"a=1,a=2":                                 false,
		"A=1":                                     false,
		"1a=1":                                    false,
		"a@1b=1":                                  false,
		"a@b@c=1":                                 false,
		"a=b=c":                                   false,
		"a=":                                      false,
		"a":                                       false,
		"=1":                                      false,
		"a=\u00e9":                                false,
		"a=" + strings.Repeat("x", 256):           true,
		"a=" + strings.Repeat("x", 257):           false,
		strings.Repeat("k", 256) + "=1":           true,
		strings.Repeat("k", 257) + "=1":           false,
	} {
		if got := validState(state); got != want {
			t.Errorf("%q: %v", state, got)
		}
	}
	h := http.Header{traceparent: {"00-" + traceID + "-" + callerID + "-01"}, tracestate: {"a=1", "b=2"}}
	if got := newTrace(h); got.state != "a=1,b=2" {
		t.Errorf("two headers: %q", got.state)
	}
	h[tracestate] = []string{"a=1", "A=2"}
	if got := newTrace(h); got.state != "" || got.id != traceID {
		t.Errorf("a state that is wrong: %+v", got)
	}
}

// Headers never do more than begin a new trace.
func FuzzTrace(f *testing.F) {
	f.Add("00-"+traceID+"-"+callerID+"-01", "a=1,b@c=2")
	f.Fuzz(func(t *testing.T, parent, state string) {
		got := newTrace(http.Header{traceparent: {parent}, tracestate: {state}})
		var again trace
		if !again.parse(got.String()) || again.id != got.id || again.parent != got.span || again.flags != got.flags {
			t.Fatalf("%q becomes %s", parent, got)
		}
		if got.state != "" && (got.state != state || strings.ContainsAny(got.state, "\r\n")) {
			t.Fatalf("the state %q becomes %q", state, got.state)
		}
	})
}

// Each request is a line of the log, one object with what an operator looks for, and no text of its
// address. The answer says which line it is.
func TestTraceIsLogged(t *testing.T) {
	t.Parallel()
	var log testmode.Buffer
	_, h := start(t, Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	const parent = "00-" + traceID + "-" + callerID + "-01"
	answers := []answered{
		ask(t, "GET", h.URL+"/v1/fill?steps=1&text=the+%5BMASK%5D+sleeps+.", "", "traceparent: "+parent,
			"tracestate: a=1"),
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
		method := [...]string{"GET", "POST", "GET", "GET", "GET", "POST", strings.Repeat("SLEEPS", 10) + "…"}[i]
		path := [...]string{"/v1/fill", "/v1/fill", "other", "other", "other", "/models/{id...}", "other"}[i]
		if got.Method != method || got.Path != path || got.Status != a.code || got.Bytes != int64(len(a.body)) ||
			got.Seconds <= 0 || got.Seconds > 60 || got.Time == "" || got.Msg != "request" || got.From == "" {
			t.Errorf("%s of %d %s", line, a.code, a.body)
		}
		want := "00-" + got.Trace + "-" + got.Span + map[bool]string{true: "-01", false: "-00"}[i == 0]
		if is := a.header.Get("traceparent"); is != want {
			t.Errorf("%s answers %s", line, is)
		}
		if of := i == 0; of != (got.Trace == traceID) || of != (got.Parent == callerID) ||
			of != (a.header.Get("tracestate") == "a=1") {
			t.Errorf("%s: %v", line, a.header)
		}
	}
}
