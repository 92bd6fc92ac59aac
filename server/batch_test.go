package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"infill/infill/batch/input"
	"infill/infill/settings"
	"infill/server/api"
)

// A batch has the records of a batch file, in the order of its lines, bad lines among them.
func TestBatch(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{Work: 1000})
	var in strings.Builder
	for i := range 30 {
		fmt.Fprintf(&in, `{"text": "the [MASK] sleeps in the [MASK] .", "id": %d, "top": 1, "tag": "é"}`+"\n", i)
	}
	in.WriteString("\n{\n" + `{"text": "the dog ."}` + "\n" + `{"text": "the [MASK] .", "steps": 500}` + "\n" +
		`{"text": "the [MASK] sleeps .", "steps": 2}`)
	a := ask(t, "POST", h.URL+"/v1/batch?seed=5&steps=4&chains=3&ban=dog,cow", in.String())
	if a.code != http.StatusOK || a.header.Get("Content-Type") != api.JSONLines {
		t.Fatalf("%d %v %s", a.code, a.header, a.body)
	}
	fill, err := s.models[0].forFile(map[string][]string{"seed": {"5"}, "steps": {"4"},
		"chains": {"3"}, "ban": {"dog,cow"}})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(a.body), "\n"), "\n")
	lines := input.Lines("x", strings.NewReader(in.String()), settings.FormatJSONL)
	for i := 0; ; i++ {
		it, err := lines.Next()
		if err == io.EOF {
			if i != len(got) {
				t.Errorf("%d records, want %d", len(got), i)
			}
			break
		}
		if err != nil || i == len(got) {
			t.Fatalf("record %d: %v", i, err)
		}
		want, err := fill.Record(t.Context(), &it)
		if err != nil {
			t.Fatal(err)
		}
		if it.Line == 34 { // whose work is above the cap
			if !strings.Contains(got[i], `"error":{"code":"too_much_work","message":"\"chains\" × `) ||
				!strings.HasPrefix(got[i], `{"line":34,"text":"the [MASK] ."`) {
				t.Errorf("line 34: %s", got[i])
			}
			continue
		}
		if got[i] != string(want.JSON) {
			t.Errorf("record %d\n%s\nwant\n%s", i, got[i], want.JSON)
		}
	}
}

// converse begins a batch whose body is written line by line.
func converse(t *testing.T, url string) (*io.PipeWriter, *bufio.Scanner, *http.Response) {
	t.Helper()
	r, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/v1/batch?steps=1&chains=1", r)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(w, `{"text": "the [MASK] ."}`+"\n") }()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(); _ = res.Body.Close() })
	return w, bufio.NewScanner(res.Body), res
}

// A record comes before the next line is sent.
func TestBatchStreams(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	w, lines, _ := converse(t, h.URL)
	for i := 1; i < 5; i++ {
		if !lines.Scan() || !bytes.HasPrefix(lines.Bytes(), fmt.Appendf(nil, `{"line":%d,`, i)) {
			t.Fatalf("line %d: %s %v", i, lines.Bytes(), lines.Err())
		}
		if _, err := io.WriteString(w, `{"text": "the [MASK] ."}`+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines.Scan() {
		n++
	}
	if n != 1 || lines.Err() != nil {
		t.Errorf("%d further records, %v", n, lines.Err())
	}
}

// The end of an answer has its own time, however long ago the last record was written.
func TestBatchEndsLate(t *testing.T) {
	t.Parallel()
	s, _ := start(t, Options{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = body{r.Body, func() { // as if the time for the record before were over
			_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
		}}
		s.handler.ServeHTTP(w, r)
	}))
	defer h.Close()
	w, lines, _ := converse(t, h.URL)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() || lines.Err() != nil {
		t.Errorf("%s %v", lines.Bytes(), lines.Err())
	}
}

// A server that is about to end ends a batch after the lines it has, and says so in the last line.
func TestBatchDrains(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{})
	_, lines, _ := converse(t, h.URL)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	s.drain()
	if !lines.Scan() || !strings.Contains(lines.Text(), `"error_type":"draining"`) || lines.Scan() {
		t.Errorf("%s %v", lines.Text(), lines.Err())
	}
}

// A body tells when it was read as a whole.
type body struct {
	io.ReadCloser
	whole func()
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.whole()
	}
	return n, err
}

// A batch whose body the server has as a whole is finished, although the server is about to end.
// Its last line may lack its end.
func TestBatchIsFinished(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", ""} {
		s, _ := start(t, Options{})
		var places []func()
		for range cap(s.queue.working) { // so that the lines wait while the server begins to drain
			free, err := s.queue.work(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, free)
		}
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = body{r.Body, sync.OnceFunc(func() {
				s.drain()
				for _, free := range places {
					free()
				}
			})}
			s.handler.ServeHTTP(w, r)
		}))
		defer h.Close()
		const line = `{"text": "the [MASK] ."}`
		a := ask(t, "POST", h.URL+"/v1/batch?steps=1", line+"\n"+line+"\n"+line+end)
		if n := bytes.Count(a.body, []byte(`"fillings"`)); a.code != http.StatusOK || n != 3 ||
			bytes.Contains(a.body, []byte("error")) {
			t.Errorf("end %q: %d, %d records: %s", end, a.code, n, a.body)
		}
	}
}

// deadlines counts the deadlines that are set for reading.
type deadlines struct {
	http.ResponseWriter
	n int
}

func (d *deadlines) SetReadDeadline(time.Time) error { d.n++; return nil }

// After the end of a body the server waits for the news that the client has gone. No later read
// sets a deadline for that wait: it would pass for such news, and the batch would be lost.
func TestBatchEndsOnce(t *testing.T) {
	t.Parallel()
	w := &deadlines{ResponseWriter: httptest.NewRecorder()}
	in := &slowly{r: httptest.NewRequest("POST", "/v1/batch", strings.NewReader("no line end")),
		c: http.NewResponseController(w), wait: bodyTime, leaving: make(chan struct{}), gone: func() {}}
	if b, err := io.ReadAll(in); err != nil || string(b) != "no line end" {
		t.Fatalf("%q %v", b, err)
	}
	before := w.n
	if n, err := in.Read(make([]byte, 9)); n != 0 || err != io.EOF || before == 0 || w.n != before {
		t.Errorf("%d bytes, %v, %d deadlines, %d after the end", n, err, before, w.n-before)
	}
}

// The memory of a batch does not grow with its length. No test runs beside it: theirs would count.
func TestBatchMemory(t *testing.T) {
	_, h := start(t, Options{})
	line := `{"text": "no blank", "tag": "` + strings.Repeat("x", 50_000) + `"}` + "\n"
	const many = 1000 // 50 MB
	r, w := io.Pipe()
	go func() {
		for range many {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
		_ = w.Close()
	}()
	req, err := http.NewRequestWithContext(t.Context(), "POST", h.URL+"/v1/batch", r)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var begin, mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&begin)
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		if n++; n%500 != 0 {
			continue
		}
		runtime.GC()
		if runtime.ReadMemStats(&mem); mem.HeapAlloc > begin.HeapAlloc+20<<20 {
			t.Fatalf("after %d records %d bytes, %d at the start", n, mem.HeapAlloc, begin.HeapAlloc)
		}
	}
	if n != many || lines.Err() != nil {
		t.Errorf("%d records, %v", n, lines.Err())
	}
}

// One more batch than the queue is long is refused.
func TestBatchesAtOnce(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{Queue: 1})
	_, lines, _ := converse(t, h.URL)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	a := ask(t, "POST", h.URL+"/v1/batch", "")
	if a.code != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.code, a.body)
	}
}

// Clients that leave their batches free the places of all lines, those that are next among them.
func TestBatchIsAbandoned(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{Places: 2, Work: 1 << 40})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for range 4 {
		req, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/v1/batch",
			strings.NewReader(endless+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if res, err := http.DefaultClient.Do(req); err == nil {
				_ = res.Body.Close()
			}
		}()
	}
	patient(t, "all places are taken", func() bool {
		return len(s.files) == 4 && len(s.queue.working) == 2
	})
	leave()
	patient(t, "all places are free", func() bool {
		return len(s.files) == 0 && len(s.queue.working) == 0
	})
	patient(t, "the clients are gone", func() bool {
		return metric(t, h.URL, `infill_requests_total{route="POST /v1/batch",code="499"}`) == "4"
	})
}
