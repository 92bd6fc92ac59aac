package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A report is what came of a load.
type report struct {
	codes   map[int]int // answers to cheap requests
	lost    int         // requests without an answer
	took    []time.Duration
	wall    time.Duration
	memory  []int64 // resident bytes, at tenths of the requests
	bad     int     // clients that behaved badly
	drained int     // answers to requests that were sent around the signal
	refused int     // connections that were not taken after it
}

func (r *report) String() string {
	slices.Sort(r.took)
	at := func(share float64) time.Duration {
		if len(r.took) == 0 {
			return 0
		}
		return r.took[min(int(share*float64(len(r.took))), len(r.took)-1)]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests in %.1f s, %.0f a second, by status %v, without an answer %d\n",
		len(r.took), r.wall.Seconds(), float64(len(r.took))/r.wall.Seconds(), r.codes, r.lost)
	fmt.Fprintf(&b, "p50 %.2f ms, p99 %.2f ms, longest %.1f ms\n", ms(at(.5)), ms(at(.99)), ms(at(1)))
	b.WriteString("resident memory, MB:")
	for _, m := range r.memory {
		fmt.Fprintf(&b, " %.1f", float64(m)/1e6)
	}
	fmt.Fprintf(&b, "\n%d clients that left, read slowly or sent half a body\n", r.bad)
	fmt.Fprintf(&b, "around the signal: %d requests answered, %d connections not taken\n", r.drained,
		r.refused)
	return b.String()
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

const cheap = `{"text": "the [MASK] sleeps in the [MASK] .", "steps": 1, "chains": 1, "seed": 1}`

// load makes n cheap requests by some clients at a time, with others that behave badly between
// them, and then has the server end under load. The error says what must not be.
func load(ctx context.Context, t *target, n, clients int) (*report, error) {
	r := &report{codes: map[int]int{}}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// Bad manners go on all the time.
	var rude sync.WaitGroup
	var left atomic.Int64
	bad, quiet := context.WithCancel(ctx)
	for i, manner := range []func(context.Context, *target){leaves, reads, halves} {
		rude.Go(func() {
			for bad.Err() == nil {
				manner(bad, t)
				left.Add(1)
				sleep(bad, time.Duration(20*(i+1))*time.Millisecond)
			}
		})
	}
	r.crowd(ctx, t, n, clients)
	quiet()
	rude.Wait()
	r.bad = int(left.Load())
	err := r.end(ctx, t, clients)
	switch first, last := r.memory[len(r.memory)/3], r.memory[len(r.memory)-1]; {
	case err != nil:
		return r, err
	case r.lost > 0:
		return r, fmt.Errorf("%d requests have no answer", r.lost)
	case r.codes[http.StatusOK]+r.codes[http.StatusTooManyRequests] != n:
		return r, fmt.Errorf("answers by status: %v", r.codes)
	case last > first+first/5:
		return r, fmt.Errorf("memory grew from %d to %d bytes", first, last)
	}
	return r, nil
}

// crowd makes the cheap requests.
func (r *report) crowd(ctx context.Context, t *target, n, clients int) {
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer web.CloseIdleConnections()
	var mu sync.Mutex
	var next atomic.Int64
	r.took = make([]time.Duration, 0, n) // so that its growth is not the server's in a test
	begin := time.Now()
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for next.Add(1) <= int64(n) {
				start := time.Now()
				code, err := post(ctx, web, t.url)
				d := time.Since(start)
				mu.Lock()
				if err != nil {
					r.lost++
				} else {
					r.codes[code]++
				}
				r.took = append(r.took, d)
				if len(r.took)%max(1, n/10) == 0 {
					r.memory = append(r.memory, resident(t.pid))
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	r.wall = time.Since(begin)
}

// post makes a cheap request and reads the whole answer.
func post(ctx context.Context, web *http.Client, url string) (int, error) {
	req, err := request(ctx, url, cheap)
	if err != nil {
		return 0, err
	}
	res, err := web.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err == nil && !bytes.HasSuffix(b, []byte("}\n")) {
		err = fmt.Errorf("half an answer: %q", b)
	}
	return res.StatusCode, err
}

func request(ctx context.Context, url, body string) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/fill", strings.NewReader(body))
}

// end tells the server to end while requests come, each with a connection of its own. What the
// server has begun it has to answer. After the signal it takes no more.
func (r *report) end(ctx context.Context, t *target, clients int) error {
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	sleep(ctx, time.Second) // until the server has seen the others go
	before := t.begun.Load()
	late, stop := context.WithCancel(ctx)
	defer stop()
	var answered, refused atomic.Int64
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for late.Err() == nil {
				code, err := post(ctx, web, t.url)
				switch {
				case err != nil:
					refused.Add(1)
					sleep(late, 10*time.Millisecond)
				case code != http.StatusOK && code != http.StatusTooManyRequests &&
					code != http.StatusServiceUnavailable:
					refused.Add(1 << 30) // not an answer that is allowed
				default:
					answered.Add(1)
				}
			}
		})
	}
	sleep(ctx, 500*time.Millisecond)
	err := t.finish()
	stop()
	group.Wait()
	r.drained, r.refused = int(answered.Load()), int(refused.Load())
	begun := t.begun.Load() - before
	switch {
	case err != nil:
		return fmt.Errorf("the server ended badly: %w", err)
	case begun != answered.Load():
		return fmt.Errorf("the server answered %d requests, and %d answers arrived", begun,
			answered.Load())
	case r.drained == 0 || r.refused == 0 || r.refused >= 1<<30:
		return fmt.Errorf("%d answers around the signal, %d refused", r.drained, r.refused)
	}
	return nil
}

// head is a request with the length of its body, and the body.
const head = "POST /v1/fill HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"

// leaves asks for a long stream and goes away in the middle.
func leaves(ctx context.Context, t *target) {
	ctx, stop := context.WithTimeout(ctx, 30*time.Millisecond)
	defer stop()
	body := strings.Replace(cheap, `"steps": 1`, `"steps": 3000, "stream": true`, 1)
	req, err := request(ctx, t.url, body)
	if err != nil {
		return
	}
	if res, err := http.DefaultClient.Do(req); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
}

// reads takes the answer byte by byte and loses patience.
func reads(ctx context.Context, t *target) {
	c := dial(t)
	if c == nil {
		return
	}
	defer func() { _ = c.Close() }()
	_, _ = fmt.Fprintf(c, head, len(cheap), cheap)
	one := make([]byte, 1)
	for range 20 {
		if _, err := c.Read(one); err != nil {
			return
		}
		sleep(ctx, 5*time.Millisecond)
	}
}

// halves sends half a body and goes away.
func halves(ctx context.Context, t *target) {
	c := dial(t)
	if c == nil {
		return
	}
	defer func() { _ = c.Close() }()
	_, _ = fmt.Fprintf(c, head, 2*len(cheap), cheap)
	sleep(ctx, 50*time.Millisecond)
}

func dial(t *target) net.Conn {
	c, err := net.Dial("tcp", strings.TrimPrefix(t.url, "http://"))
	if err != nil {
		return nil
	}
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	return c
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// resident is the memory of a process in bytes, 0 where the system does not say.
func resident(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
