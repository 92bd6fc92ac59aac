package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
)

// traceparent is the header of W3C's Trace Context, https://www.w3.org/TR/trace-context-1/.
const traceparent = "Traceparent"

// traceForm has the ids of a trace and of who asks, and a digit if the trace may be recorded.
var traceForm = regexp.MustCompile(
	`^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f](?:([13579bdf])|[02468ace])$`)

type traceKey struct{} // of a request's log in its context

// traced continues the trace of a request, or begins one where its header has none. The lines of
// its log have the ids, and so has the header of its answer.
func (s *Server) traced(h http.Header, r *http.Request) *http.Request {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // without randomness the program ends
	id, span, flag := hex.EncodeToString(b[:16]), hex.EncodeToString(b[16:]), "-00"
	log := s.opt.Log
	m := traceForm.FindStringSubmatch(r.Header.Get(traceparent))
	if m != nil && strings.Trim(m[1], "0") != "" {
		if id = m[1]; m[3] != "" {
			flag = "-01"
		}
		log = log.With("parent_id", m[2])
	}
	h.Set(traceparent, "00-"+id+"-"+span+flag)
	log = log.With("trace_id", id, "span_id", span)
	return r.WithContext(context.WithValue(r.Context(), traceKey{}, log))
}

// log is the log of a request, whose lines have its trace.
func (s *Server) log(r *http.Request) *slog.Logger {
	if l, ok := r.Context().Value(traceKey{}).(*slog.Logger); ok {
		return l
	}
	return s.opt.Log
}
