package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"infill/server/api"
	"infill/server/page"
)

// A handler answers a request, or returns what its answer says.
type handler func(http.ResponseWriter, *http.Request) error

// answering makes a handler of a route: it checks who asks, answers with errors, counts and logs.
func (s *Server) answering(rt api.Route, handle handler) http.Handler {
	name := rt.Name()
	if rt.Path == "" {
		name = otherRoute
	}
	keys := make([][sha256.Size]byte, len(s.opt.Keys))
	for i, k := range s.opt.Keys {
		keys[i] = sha256.Sum256([]byte(k))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		s.counts.underWay.Add(1)
		code := &coded{ResponseWriter: w, log: s.log(r), wait: s.writeTime}
		defer func() {
			s.counts.underWay.Add(-1)
			p, begun := recover(), code.code != 0
			if p != nil && p != http.ErrAbortHandler {
				code.log.Error("panic", "route", name, "value", fmt.Sprint(p), "stack", string(debug.Stack()))
				if !begun {
					s.fail(code, errors.New("panic"))
				}
			}
			s.counts.add(name, code.status(), time.Since(start))
			// The address may have a text behind its path, or in its place where nothing is found.
			path := r.URL.Path
			if rt.Path == "" || code.status() >= http.StatusBadRequest {
				path = cmp.Or(rt.Path, otherRoute)
			}
			code.log.Info("request", "method", short([]byte(r.Method)), "path", path,
				"status", code.status(), "bytes", code.bytes, "seconds", time.Since(start).Seconds(),
				"from", r.RemoteAddr)
			switch {
			case p == http.ErrAbortHandler:
				panic(p)
			case p != nil && begun: // nobody is to take half an answer for a whole one
				panic(http.ErrAbortHandler)
			}
		}()
		err := s.admit(&rt, keys, r)
		if err == nil {
			err = handle(code, r)
			code.extend() // the end of the answer is written later
		}
		s.fail(code, err)
	})
}

// fail answers with an error. Where that is not possible any more, because the client is gone or
// the answer has begun, it ends the connection: nobody is to take half an answer for a whole one.
func (s *Server) fail(w *coded, err error) {
	var known *told
	switch {
	case err == nil:
		return
	case errors.Is(err, errGone):
		w.gone = true
		panic(http.ErrAbortHandler)
	case errors.As(err, &known):
		w.code = known.status()
		if known.code == codeInternal {
			w.log.Error("internal", "error", known.cause)
		}
		return
	}
	f := asFailure(err)
	if f.code == codeInternal {
		w.log.Error("internal", "error", err)
	}
	if w.code != 0 {
		w.gone = true
		panic(http.ErrAbortHandler)
	}
	if f.wait > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int(f.wait.Seconds())))
	} else if f.code == codeLoading || f.code == codeDraining {
		w.Header().Set("Retry-After", "1")
	}
	if f.code == codeUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if b, err := encode(f.answer()); err == nil {
		_ = writeJSON(w, f.status(), b)
	}
}

// admit refuses requests that nobody may make.
func (s *Server) admit(rt *api.Route, keys [][sha256.Size]byte, r *http.Request) error {
	if rt.Open || len(keys) == 0 {
		return nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given, ok := sha256.Sum256([]byte(strings.TrimSpace(token))), 0
	for i := range keys {
		ok |= subtle.ConstantTimeCompare(given[:], keys[i][:])
	}
	if ok != 1 || !strings.EqualFold(scheme, "Bearer") {
		return fail(codeUnauthorized, "a key is needed, in the header Authorization: Bearer KEY")
	}
	return nil
}

// guarded puts in front of a handler what holds for every request.
func (s *Server) guarded(next http.Handler) (http.Handler, error) {
	s.origins = http.NewCrossOriginProtection()
	for _, o := range s.opt.Origins {
		if err := s.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("origin %q: want one such as https://example.org: %w", o, err)
		}
	}
	refuse := func(code, message string) http.Handler {
		return s.answering(api.Route{Open: true}, func(http.ResponseWriter, *http.Request) error {
			return fail(code, "%s", message)
		})
	}
	s.origins.SetDenyHandler(refuse(codeOrigin, "pages of other origins may not ask this server"))
	noHost := refuse(codeHost, "the server is not called that; ask it by localhost or its address")
	crossed := s.origins.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		r = s.traced(h, r)
		h.Set("Content-Security-Policy", page.Policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if origin := r.Header.Get("Origin"); origin != "" && slices.Contains(s.opt.Origins, origin) {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
			h.Set("Access-Control-Expose-Headers", traceparent)
			h.Set("Vary", "Origin")
			if r.Method == http.MethodOptions {
				h.Set("Access-Control-Allow-Methods", "GET, POST")
				h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, "+traceparent)
				h.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		if len(s.opt.Keys) == 0 && !s.ours(r.Host) {
			noHost.ServeHTTP(w, r)
			return
		}
		crossed.ServeHTTP(w, r)
	}), nil
}

// ours reports whether a Host header names this server. Another name that leads to this machine may
// be a page's of another site, whose requests its browser takes for the site's own.
func (s *Server) ours(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.Trim(name, "[]"), ".") // localhost. is the same name
	is := func(other string) bool { return strings.EqualFold(other, name) }
	return is("localhost") || net.ParseIP(name) != nil || slices.ContainsFunc(s.opt.Hosts, is) ||
		slices.ContainsFunc(s.opt.Origins, func(o string) bool {
			u, err := url.Parse(o)
			return err == nil && strings.EqualFold(u.Host, host)
		})
}

// coded remembers what was answered, and gives the client its time to take each piece of it.
type coded struct {
	http.ResponseWriter
	log   *slog.Logger
	wait  time.Duration // for what is written at once
	code  int
	bytes int64
	gone  bool
}

func (c *coded) WriteHeader(code int) {
	if c.code == 0 {
		c.code = code
	}
	c.ResponseWriter.WriteHeader(code)
}

func (c *coded) Write(b []byte) (int, error) {
	if c.code == 0 {
		c.code = http.StatusOK
	}
	c.extend()
	n, err := c.ResponseWriter.Write(b)
	c.bytes += int64(n)
	return n, err
}

// extend begins the time of the next piece.
func (c *coded) extend() {
	_ = http.NewResponseController(c.ResponseWriter).SetWriteDeadline(time.Now().Add(c.wait))
}

// Unwrap is for http.ResponseController.
func (c *coded) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *coded) status() int {
	switch {
	case c.gone:
		return statusGone
	case c.code == 0:
		return http.StatusOK
	}
	return c.code
}

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
