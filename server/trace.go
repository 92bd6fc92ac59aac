package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
)

// The headers of W3C's Trace Context, https://www.w3.org/TR/trace-context-1/.
const (
	traceparent = "Traceparent"
	tracestate  = "Tracestate"

	traceHeaders = traceparent + ", " + tracestate
)

// A trace has the place of a request in a trace. Its fields are in hex, but for state.
type trace struct {
	id     string // of the trace, 32 digits
	parent string // of the request that led to this one, 16 digits; "" for none
	span   string // of this request, 16 digits
	flags  string // 00, or 01 where the caller may record the trace
	state  string // what systems before this one say to those after it
}

// newTrace continues the trace of a request, or begins one where its headers have none, or one that
// is not as the recommendation says. Then they have no state either.
func newTrace(h http.Header) *trace {
	t := &trace{}
	if list := h.Values(traceparent); len(list) != 1 || !t.parse(list[0]) {
		*t = trace{id: randomHex(16), flags: "00"}
	} else if state := strings.Join(h.Values(tracestate), ","); validState(state) {
		t.state = state
	}
	t.span = randomHex(8)
	return t
}

// randomHex is a random number of n bytes that is not zero.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // without randomness the program ends
	b[n-1] |= 1
	return hex.EncodeToString(b)
}

// parse reads a traceparent, section 3.2. Of a later version it reads what this one has, and flags
// that this one does not know are dropped.
func (t *trace) parse(s string) bool {
	const length = len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if len(s) < length || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return false
	}
	version, flags := s[:2], s[53:55]
	t.id, t.parent = s[3:35], s[36:52]
	for _, part := range []string{version, t.id, t.parent, flags} {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return false
		}
	}
	switch {
	case version == "ff", version == "00" && len(s) > length, len(s) > length && s[length] != '-',
		strings.Trim(t.id, "0") == "", strings.Trim(t.parent, "0") == "":
		return false
	}
	if t.flags = "00"; strings.IndexByte("13579bdf", flags[1]) >= 0 {
		t.flags = "01"
	}
	return true
}

// String is the traceparent that is handed on.
func (t *trace) String() string { return "00-" + t.id + "-" + t.span + "-" + t.flags }

// The bounds of a tracestate: of its members, of a key and of a value. The recommendation asks for
// 512 characters at least.
const (
	maxMembers = 32
	maxKey     = 256
	maxValue   = 256
)

// validState reports whether a tracestate is as section 3.3 says: members KEY=VALUE with commas
// between them, no key twice.
func validState(s string) bool {
	seen := map[string]bool{}
	for member := range strings.SplitSeq(s, ",") {
		member = strings.Trim(member, " \t")
		if member == "" { // allowed, and counts for nothing
			continue
		}
		key, value, ok := strings.Cut(member, "=")
		if !ok || !validKey(key) || seen[key] || value == "" || len(value) > maxValue ||
			strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' || r == '=' }) {
			return false
		}
		if seen[key] = true; len(seen) > maxMembers {
			return false
		}
	}
	return true
}

// validKey reports whether a key is NAME, or TENANT@SYSTEM.
func validKey(key string) bool {
	const small = "abcdefghijklmnopqrstuvwxyz"
	part := func(s, first string, most int) bool {
		return s != "" && len(s) <= most && strings.IndexByte(first, s[0]) >= 0 &&
			strings.Trim(s, small+"0123456789_-*/") == ""
	}
	tenant, system, ok := strings.Cut(key, "@")
	if !ok {
		return part(key, small, maxKey)
	}
	return part(tenant, small+"0123456789", 241) && part(system, small, 14)
}

// traceKey is the key of a request's trace in its context.
type traceKey struct{}

// traced has the trace of a request in its context and in the header of its answer.
func traced(h http.Header, r *http.Request) *http.Request {
	t := newTrace(r.Header)
	h.Set(traceparent, t.String())
	if t.state != "" {
		h.Set(tracestate, t.state)
	}
	return r.WithContext(context.WithValue(r.Context(), traceKey{}, t))
}

// log is the log of a request, whose lines have its trace.
func (s *Server) log(r *http.Request) *slog.Logger {
	t, _ := r.Context().Value(traceKey{}).(*trace)
	if t == nil {
		return s.opt.Log
	}
	l := s.opt.Log.With("trace_id", t.id, "span_id", t.span)
	if t.parent != "" {
		l = l.With("parent_id", t.parent)
	}
	return l
}
