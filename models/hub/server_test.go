package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// testCommit is the version in the addresses of the tests' models.
const testCommit = "0123456789abcdef0123456789abcdef01234567"

// A testServer hands out files of random bytes, correctly unless a test says otherwise.
type testServer struct {
	*httptest.Server
	files map[string][]byte // by path after the commit

	mu       sync.Mutex
	requests []string // "PATH RANGE"
	bad      []func(w http.ResponseWriter, r *http.Request, data []byte)
}

// newServer serves a model of two files; the larger one has n bytes.
func newServer(t testing.TB, n int) *testServer {
	t.Helper()
	s := &testServer{files: map[string][]byte{"onnx/model.onnx": noise(n, 1),
		"vocab.txt": noise(700, 2)}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func noise(n int, seed uint64) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(seed, 7))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func sumOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// model describes the server's files, pinned and with exact sizes.
func (s *testServer) model() *Model {
	m := &Model{Name: "tiny", Architecture: "BERT", Licence: "MIT", Home: "https://example.com/tiny"}
	for _, p := range []string{"onnx/model.onnx", "vocab.txt"} {
		m.Files = append(m.Files, &File{Path: p, URL: "{hub}/o/n/resolve/" + testCommit + "/" + p,
			Bytes: int64(len(s.files[p])), SHA256: sumOf(s.files[p])})
	}
	return m
}

// vague is the model with sizes that are only about right.
func (s *testServer) vague() *Model {
	m := s.model()
	for _, f := range m.Files {
		f.About = true
	}
	return m
}

// next makes the coming requests for the model file misbehave, one each.
func (s *testServer) next(bad ...func(w http.ResponseWriter, r *http.Request, data []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = append(s.bad, bad...)
}

// always makes every request for the model file misbehave.
func (s *testServer) always(bad func(w http.ResponseWriter, r *http.Request, data []byte)) {
	for range 50 {
		s.next(bad)
	}
}

func (s *testServer) log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func (s *testServer) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/o/n/resolve/"+testCommit+"/")
	s.mu.Lock()
	s.requests = append(s.requests, strings.TrimSpace(path+" "+r.Header.Get("Range")))
	data, ok := s.files[path]
	var bad func(http.ResponseWriter, *http.Request, []byte)
	if strings.HasSuffix(path, ".onnx") && len(s.bad) > 0 {
		bad, s.bad = s.bad[0], s.bad[1:]
	}
	s.mu.Unlock()
	switch {
	case !ok:
		http.NotFound(w, r)
	case bad != nil:
		bad(w, r, data)
	default:
		whole(w, r, data)
	}
}

// whole answers as a good server does, ranges included.
func whole(w http.ResponseWriter, r *http.Request, data []byte) {
	w.Header().Set("ETag", `"`+sumOf(data)[:16]+`"`)
	http.ServeContent(w, r, "", noTime, strings.NewReader(string(data)))
}

// dropAfter answers well and drops the connection after n bytes of the body.
func dropAfter(n int) func(http.ResponseWriter, *http.Request, []byte) {
	return func(w http.ResponseWriter, r *http.Request, data []byte) {
		whole(&cutter{ResponseWriter: w, left: n}, r, data)
	}
}

// A cutter drops the connection when enough bytes have been written.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	if len(b) <= c.left {
		c.left -= len(b)
		return c.ResponseWriter.Write(b)
	}
	_, _ = c.ResponseWriter.Write(b[:c.left])
	c.ResponseWriter.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// status answers with an error.
func status(code int, retryAfter string) func(http.ResponseWriter, *http.Request, []byte) {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
		fmt.Fprintln(w, "sorry")
	}
}

// declare answers with a length that is off, and stops where the bytes or the length end.
func declare(off int) func(http.ResponseWriter, *http.Request, []byte) {
	return func(w http.ResponseWriter, _ *http.Request, data []byte) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)+off))
		if _, err := w.Write(data[:min(len(data), len(data)+off)]); err != nil || off > 0 {
			panic(http.ErrAbortHandler)
		}
	}
}

// raw answers with bytes of HTTP/1.0 and closes: no length, so that the end of the connection is
// the end.
func raw(body func(data []byte) []byte) func(http.ResponseWriter, *http.Request, []byte) {
	return func(w http.ResponseWriter, _ *http.Request, data []byte) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = buf.WriteString("HTTP/1.0 200 OK\r\n\r\n")
		_, _ = buf.Write(body(data))
		_ = buf.Flush()
	}
}

func faults(checks []Check) (n int) {
	for _, c := range checks {
		if c.Fault() {
			n++
		}
	}
	return n
}
