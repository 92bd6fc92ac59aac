package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"infill/infill"
	"infill/infill/text"
	"infill/internal/count"
	"infill/internal/testmode"
)

// endless is a request that nobody waits for the end of.
const endless = `{"text": "the [MASK] sleeps in the [MASK] .", "chains": 20, "steps": 1000000, "seed": 1`

// leave begins an endless request. The function it returns goes away.
func leave(t *testing.T, url, more string) func() {
	t.Helper()
	ctx, gone := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/fill", strings.NewReader(endless+more+"}"))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if res, err := http.DefaultClient.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}()
	return gone
}

// A client that goes away in the middle of its steps is gone, whatever notices it first. Its time
// was not over.
func TestGone(t *testing.T) {
	t.Parallel()
	s, _ := start(t, Options{Work: 1 << 40})
	for i := range 40 {
		ctx, gone := context.WithCancel(t.Context())
		tm := s.begin(ctx)
		q, err := decode([]byte(endless+"}"), false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.filled(tm, s.models[0], &q.item, func(_ *text.Template, o *infill.Options) error {
			o.Watch.Trace = func(st infill.Step) error {
				if st.Step == 1+i%3 {
					time.AfterFunc(time.Duration(i)*100*time.Microsecond, gone)
				}
				return nil
			}
			return nil
		})
		if !errors.Is(err, errGone) {
			t.Errorf("%v", err)
		}
		tm.end()
		gone()
	}
}

// With all places taken and the queue full a request is refused at once. Clients that go away free
// their places, whether they wait, work or watch.
func TestQueue(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{Places: 2, Queue: 1, Work: 1 << 40})
	working := leave(t, h.URL, "")
	watching := leave(t, h.URL, `, "stream": true`)
	patient(t, "two work", func() bool { return metric(t, h.URL, "infill_working") == "2" })
	waiting := leave(t, h.URL, "")
	patient(t, "one waits", func() bool { return metric(t, h.URL, "infill_queue") == "1" })
	for range 3 {
		a := ask(t, "POST", h.URL+"/v1/fill", `{"text": "the [MASK] ."}`)
		if f := a.failure(t); a.code != http.StatusTooManyRequests || f.Type != "overloaded" ||
			a.header.Get("Retry-After") == "" {
			t.Errorf("%d %v %s", a.code, a.header, a.body)
		}
	}
	waiting()
	patient(t, "none waits", func() bool { return metric(t, h.URL, "infill_queue") == "0" })
	working()
	patient(t, "one works", func() bool { return metric(t, h.URL, "infill_working") == "1" })
	if a := ask(t, "POST", h.URL+"/v1/fill", `{"text": "the [MASK] .", "steps": 1}`); a.code != http.StatusOK {
		t.Errorf("%d %s", a.code, a.body)
	}
	watching()
	patient(t, "nothing is left", func() bool { return len(s.queue.working) == 0 })
	patient(t, "the clients are counted", func() bool {
		return metric(t, h.URL, `infill_requests_total{route="POST /v1/fill",code="499"}`) == "3"
	})
}

// Lines of batches take places, but not those of requests that wait: as many may wait as ever, and
// they are counted.
func TestQueueBesideBatches(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{Places: 2, Queue: 2, Work: 1 << 40})
	const line = endless + "}\n"
	ctx, end := context.WithCancel(t.Context())
	defer end()
	req, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/v1/batch", strings.NewReader(line+line+line))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}()
	patient(t, "two lines work", func() bool { return metric(t, h.URL, "infill_working") == "2" })
	for _, n := range []string{"1", "2"} {
		defer leave(t, h.URL, "")()
		patient(t, n+" wait", func() bool { return metric(t, h.URL, "infill_queue") == n })
	}
	a := ask(t, "POST", h.URL+"/v1/fill", endless+"}")
	if f := a.failure(t); a.code != http.StatusTooManyRequests || f.Type != "overloaded" {
		t.Errorf("%d %s", a.code, a.body)
	}
	end() // the places of the lines are free, and those who wait take them
	patient(t, "none waits", func() bool {
		return metric(t, h.URL, "infill_queue") == "0" && metric(t, h.URL, "infill_working") == "2"
	})
}

// A request that takes too long ends with what is done by then, also as a stream, and one that waits
// too long says so.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{Places: 1, Queue: 2, Work: 1 << 40, Limit: 400 * time.Millisecond})
	a := ask(t, "POST", h.URL+"/v1/fill", endless+`, "id": "x", "tag": 1}`)
	f := a.failure(t)
	var rec struct {
		ID, Text string
		Line     int
		Steps    int
		Tag      int
		Fillings []struct{ Text string }
	}
	if err := json.Unmarshal(f.Record, &rec); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	if a.code != http.StatusGatewayTimeout || f.Type != "timeout" || rec.ID != "x" || rec.Line != 1 ||
		rec.Tag != 1 || rec.Steps < 1 || rec.Steps >= 1000000 || len(rec.Fillings) == 0 ||
		f.Error != "the time was over after "+count.Of(rec.Steps, "step") {
		t.Errorf("%d %s", a.code, a.body)
	}
	a = ask(t, "POST", h.URL+"/", `{"inputs": "the [MASK] sleeps in the [MASK] .", "parameters": `+
		`{"joint": true, "chains": 20, "steps": 1000000, "seed": 1}}`)
	if f := a.failure(t); a.code != http.StatusGatewayTimeout || f.Type != "timeout" ||
		!strings.HasPrefix(string(f.Record), `{"line":1,`) {
		t.Errorf("joint: %d %s", a.code, a.body)
	}
	a = ask(t, "POST", h.URL+"/v1/fill", endless+`, "stream": true}`)
	list := readEvents(t, a)
	last := list[len(list)-1]
	if a.code != http.StatusOK || last.Event != "error" ||
		!strings.Contains(string(last.Data), `"error_type":"timeout","record":{"line":1,`) {
		t.Errorf("%d %s %s", a.code, last.Event, last.Data)
	}
	// The record of fewer steps equals the record of a run with the same seed up to there. It has the
	// burn-in of the whole run.
	gone := leave(t, h.URL, "")
	defer gone()
	patient(t, "it works", func() bool { return metric(t, h.URL, "infill_working") == "1" })
	if a = ask(t, "POST", h.URL+"/v1/batch", endless+"}"); a.code != http.StatusOK ||
		!strings.Contains(string(a.body), `"error":{"code":"timeout"`) {
		t.Errorf("a line: %d %s", a.code, a.body)
	}
}

// A request that waits until its time is over has no record.
func TestWaitTooLong(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{Places: 1, Queue: 2, Limit: 200 * time.Millisecond})
	free, err := s.queue.work(t.Context()) // somebody has the only place
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	a := ask(t, "POST", h.URL+"/v1/fill", `{"text": "the [MASK] ."}`)
	if f := a.failure(t); a.code != http.StatusGatewayTimeout || f.Type != "timeout" || f.Record != nil {
		t.Errorf("%d %s", a.code, a.body)
	}
}

// Before the model is there, and while the server drains, requests are refused and /ready says why.
func TestReady(t *testing.T) {
	t.Parallel()
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	check := func(status int, code string) {
		t.Helper()
		for _, a := range []answered{
			ask(t, "GET", h.URL+"/ready", ""),
			ask(t, "POST", h.URL+"/v1/fill", `{"text": "the [MASK] .", "steps": 1}`),
			ask(t, "POST", h.URL+"/", `{"inputs": "the [MASK] ."}`),
			ask(t, "POST", h.URL+"/v1/batch", ``),
			ask(t, "GET", h.URL+"/v1/models", ``),
		} {
			if a.code != status || code != "" && (a.failure(t).Type != code || a.header.Get("Retry-After") == "") {
				t.Errorf("%d %s, want %d %s", a.code, a.body, status, code)
			}
		}
		if a := ask(t, "GET", h.URL+"/health", ""); a.code != http.StatusOK {
			t.Errorf("health %d", a.code)
		}
	}
	check(503, "loading")
	if err := s.Add("tiny", tiny(t)); err != nil {
		t.Fatal(err)
	}
	check(503, "loading")
	s.Ready()
	check(200, "")
	s.drain()
	s.Ready()
	check(503, "draining")
	if err := s.Add("tiny", s.models[0].model); err == nil {
		t.Error("two models have one name")
	}
}

// Only a server that was ready says that it drains.
func TestDrainIsLogged(t *testing.T) {
	t.Parallel()
	for _, ready := range []bool{false, true} {
		var log testmode.Buffer
		s, err := New(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if ready {
			s.Ready()
		}
		s.drain()
		s.drain()
		if got := log.String(); (strings.Count(got, "msg=draining") == 1) != ready ||
			strings.Contains(got, "draining") != ready {
			t.Errorf("ready %v: %q", ready, got)
		}
	}
}

// raw sends bytes and returns what comes back until the server closes the connection.
func raw(t *testing.T, addr, bytes string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, bytes); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	b, err := io.ReadAll(c)
	if err != nil {
		t.Errorf("%q: %v", b, err)
	}
	return string(b)
}

// A client that sends half a body, and one that does not read, hold no place for ever.
func TestHalves(t *testing.T) {
	t.Parallel()
	const wait = 300 * time.Millisecond
	var log testmode.Buffer
	s, h := start(t, Options{Work: 1 << 40, Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.bodyTime, s.writeTime = wait, wait
	const head = "POST /v1/fill HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{\"text\": "
	if got := raw(t, h.Listener.Addr().String(), head); !strings.HasPrefix(got, "HTTP/1.1 408 ") ||
		!strings.Contains(got, `"error_type":"slow_request"`) {
		t.Errorf("%q", got)
	}
	const batchHead = "POST /v1/batch?steps=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n" +
		"{\"text\": \"the [MASK] .\"}\n{\"tex"
	if got := raw(t, h.Listener.Addr().String(), batchHead); !strings.HasPrefix(got, "HTTP/1.1 200 ") ||
		!strings.Contains(got, `{"line":1,`) || !strings.Contains(got, `"error_type":"slow_request"`) {
		t.Errorf("%q", got)
	}
	// A long wait is not the client's fault: the time for the body does not end it.
	for range cap(s.queue.working) {
		free, err := s.queue.work(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(3*wait, free)
	}
	if a := ask(t, "POST", h.URL+"/v1/fill", `{"text": "the [MASK] .", "steps": 1}`); a.code != http.StatusOK ||
		!strings.Contains(string(a.body), "fillings") {
		t.Errorf("%d %s", a.code, a.body)
	}
	// One that reads nothing of a long stream: its buffers fill up.
	c, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	body := strings.Repeat(`{"text": "the [MASK] sleeps in the [MASK] .", "steps": 1, "chains": 1, "tag": "`+
		strings.Repeat("x", 50_000)+`"}`+"\n", 400)
	go func() {
		_, _ = fmt.Fprintf(c, "POST /v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}()
	patient(t, "the batch works", func() bool { return len(s.files) == 1 })
	patient(t, "the batch is given up", func() bool { return len(s.files) == 0 && len(s.queue.working) == 0 })
	if strings.Contains(log.String(), "sleeps") || strings.Contains(log.String(), "panic") {
		t.Error(log.String())
	}
}

// A header has to come within its time, and what came until then holds nothing up.
func TestHalfHeader(t *testing.T) {
	t.Parallel()
	s, _ := start(t, Options{})
	s.headerTime = 300 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, 20*time.Second) }()
	if got := raw(t, l.Addr().String(), "POST /v1/fill HTTP/1.1\r\nHost: loc"); got != "" &&
		!strings.HasPrefix(got, "HTTP/1.1 408 ") {
		t.Errorf("%q", got)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What the server cuts off at its end is told so, each in its own form, and so is the log.
func TestCutOff(t *testing.T) {
	t.Parallel()
	var log testmode.Buffer
	// Each text has a place. With fewer, an endless text may keep the short line from its own.
	s, _ := start(t, Options{Places: 6, Work: 1 << 40, Log: slog.New(slog.NewTextHandler(&log, nil))})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, time.Millisecond) }()
	url := "http://" + l.Addr().String()
	const draining = `"error_type":"draining"`
	cases := []struct {
		path, body string
		status     int
		has        string
	}{
		{"/v1/fill", endless + "}", http.StatusServiceUnavailable, draining},
		{"/", `{"inputs": "the [MASK] sleeps in the [MASK] .", "parameters": {"joint": true, ` +
			`"chains": 20, "steps": 1000000}}`, http.StatusServiceUnavailable, draining},
		{"/v1/fill", endless + `, "stream": true}`, http.StatusOK, "event: error\ndata: {"},
		{"/v1/batch", endless + "}\n", http.StatusServiceUnavailable, draining},
		{"/v1/batch", `{"text": "the [MASK] ."}` + "\n" + endless + "}\n", http.StatusOK, draining},
	}
	answers := make([]chan answered, len(cases))
	var begun sync.WaitGroup // waits for the first event or record of each answer that streams
	for i, c := range cases {
		answers[i] = make(chan answered, 1)
		if c.status == http.StatusOK {
			begun.Add(1)
		}
		go func() {
			res, err := http.Post(url+c.path, "application/json", strings.NewReader(c.body))
			if c.status == http.StatusOK {
				begun.Done()
			}
			if err != nil {
				t.Error(c.path, err)
				answers[i] <- answered{}
				return
			}
			defer func() { _ = res.Body.Close() }()
			b, err := io.ReadAll(res.Body)
			if err != nil {
				t.Error(c.path, err)
			}
			answers[i] <- answered{res.StatusCode, res.Header, b}
		}()
	}
	begun.Wait()
	// The short line of the last case is done, and all others are at work.
	patient(t, "all work", func() bool {
		return len(s.queue.working) == 5 && s.counts.texts.Load() == 6
	})
	end()
	for i, c := range cases {
		a := <-answers[i]
		last := string(a.body[max(0, len(a.body)-300):])
		if a.code != c.status || !strings.Contains(last, c.has) || !strings.Contains(last, draining) {
			t.Errorf("%s %.40s: %d …%s", c.path, c.body, a.code, last)
		}
	}
	if err := <-ended; !errors.Is(err, errCutOff) {
		t.Error(err)
	}
	if got := log.String(); strings.Count(got, "status=503") != len(cases) ||
		strings.Contains(got, "status=499") || strings.Contains(got, "internal") {
		t.Error(got)
	}
}

// The log has texts only if asked to.
func TestLogTexts(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		var log testmode.Buffer
		_, h := start(t, Options{LogTexts: asked, Log: slog.New(slog.NewTextHandler(&log, nil))})
		ask(t, "POST", h.URL+"/v1/fill", `{"text": "the [MASK] sleeps .", "steps": 1, "id": "sleeps"}`)
		ask(t, "POST", h.URL+"/v1/fill", `{"text": "sleeps", "steps": 1}`)
		ask(t, "POST", h.URL+"/", `{"inputs": "the [MASK] sleeps ."}`)
		ask(t, "POST", h.URL+"/v1/batch", `{"text": "sleeps"}`)
		if got := log.String(); strings.Contains(got, "sleeps") != asked || strings.Count(got, "msg=request") != 4 {
			t.Errorf("asked %v: %s", asked, got)
		}
	}
}

// /metrics is Prometheus's text: every line is a comment or a sample of a metric that was announced,
// buckets are cumulative and end with the count.
func TestMetrics(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	for range 3 {
		ask(t, "POST", h.URL+"/v1/fill", `{"text": "the [MASK] sleeps .", "steps": 4, "chains": 5}`)
	}
	ask(t, "POST", h.URL+"/v1/fill", `x`)
	for name, want := range map[string]string{
		`infill_requests_total{route="POST /v1/fill",code="200"}`:        "3",
		`infill_requests_total{route="POST /v1/fill",code="400"}`:        "1",
		`infill_request_seconds_count{route="POST /v1/fill"}`:            "4",
		`infill_request_seconds_bucket{route="POST /v1/fill",le="+Inf"}`: "4",
		`infill_chain_steps_total`:                                       "60",
		`infill_texts_total`:                                             "3",
		`infill_ready`:                                                   "1",
		`infill_requests_in_flight`:                                      "1",
	} {
		if got := metric(t, h.URL, name); got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	ask(t, "POST", h.URL+"/v1/fill", `{"text": "the [MASK] sleeps in the [MASK] .", "sampler": "dmala", "steps": 2}`)
	if got := metric(t, h.URL, `infill_model_calls_total{model="tiny",kind="gradient"}`); got == "" || got == "0" {
		t.Errorf("gradient calls %q", got)
	}
	known := map[string]bool{}
	r := bufio.NewScanner(strings.NewReader(string(ask(t, "GET", h.URL+"/metrics", "").body)))
	for r.Scan() {
		line := r.Text()
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ := strings.Cut(rest, " ")
			if known[name] {
				t.Errorf("%s is announced twice", name)
			}
			known[name] = true
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		name := line[:strings.IndexAny(line, "{ ")]
		for _, end := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, end)
		}
		if !known[name] {
			t.Errorf("%q was not announced", line)
		}
	}
}
