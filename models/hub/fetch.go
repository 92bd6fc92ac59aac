package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	stallBytes  = 4096    // fewer in Options.Stall is a stalled connection
	goodAttempt = 1 << 20 // bytes that show that going on is worth it
	longestWait = 2 * time.Minute
)

// errStalled ends a connection that brings next to nothing.
var errStalled = errors.New("the connection stalled")

// A temporary error is worth another attempt.
type temporary struct {
	err   error
	after time.Duration // the server's wish, 0 if it has none
}

func (t *temporary) Error() string { return t.err.Error() }
func (t *temporary) Unwrap() error { return t.err }

func again(format string, args ...any) error { return &temporary{err: fmt.Errorf(format, args...)} }

// startOver forgets what has arrived and asks for another attempt.
func startOver(p *part, why string) error {
	if err := p.restart(); err != nil {
		return err
	}
	return again("%s; from the start", why)
}

// A fetcher downloads the files of one model.
type fetcher struct {
	o     *Options
	model *Model
	done  int64 // bytes of the files before this one
	// stated is the SHA-256 that the hub says the file has, "" if it does not say.
	stated string
}

// fetch brings one file to the path of its part and returns hash and size of what arrived, which is
// checked against want unless that is "".
func (f *fetcher) fetch(ctx context.Context, file *File, want, path string) (string, int64, error) {
	address := file.address(f.o.Hub)
	f.stated = ""
	p, err := newPart(f.o, path, address, want != "")
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = p.f.Close() }()
	if p.n > file.limit() {
		if err := p.restart(); err != nil {
			return "", 0, err
		}
	}
	if p.n > 0 {
		f.o.Log(fmt.Sprintf("%s: going on after %d bytes", file.Path, p.n))
	}
	best := p.n
	for fails, differing := 0, 0; ; {
		err := f.attempt(ctx, file, address, p)
		if err == nil && want != "" && p.hash() != want {
			if differing++; p.mixed && differing < 3 {
				// The bytes may be of two versions of the file. A whole second fetch shows it.
				err = startOver(p, "what arrived in pieces has another SHA-256 than it should")
			} else {
				err = fmt.Errorf("%w: %s has SHA-256 %s (%d bytes), it should have %s", ErrMismatch, address,
					p.hash(), p.n, want)
			}
		}
		if err == nil && want == "" && f.stated != "" && p.hash() != f.stated {
			err = fmt.Errorf("%w: %s has SHA-256 %s (%d bytes), the hub says %s", ErrMismatch, address,
				p.hash(), p.n, f.stated)
		}
		if err == nil {
			return p.hash(), p.n, p.finish()
		}
		if ctx.Err() != nil {
			return "", 0, context.Cause(ctx)
		}
		var t *temporary
		if !errors.As(err, &t) {
			if errors.Is(err, ErrMismatch) || errors.Is(err, errTooLarge) {
				p.discard()
			}
			return "", 0, err
		}
		if p.n-best >= goodAttempt { // more than ever, so this cannot go on for ever
			fails, best = 0, p.n
		}
		if fails++; fails >= f.o.Attempts {
			return "", 0, fmt.Errorf("%w: %s: %w (%d attempts); the %d bytes that arrived are kept, "+
				"pull again to go on", ErrFetch, address, t.err, fails, p.n)
		}
		wait := backoff(fails)
		if t.after > 0 {
			wait = min(t.after, longestWait)
		}
		f.o.Log(fmt.Sprintf("%s: %v; trying again in %v", file.Path, t.err,
			wait.Round(100*time.Millisecond)))
		if err := f.o.sleep(ctx, wait); err != nil {
			return "", 0, err
		}
	}
}

// backoff is half a second, doubled with every failure up to 15 s, a quarter more or less.
func backoff(fails int) time.Duration {
	d := min(500*time.Millisecond<<min(fails-1, 10), 15*time.Second)
	return d*3/4 + rand.N(d/2)
}

// attempt sends one request and takes what it brings.
func (f *fetcher) attempt(ctx context.Context, file *File, address string, p *part) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var arrived atomic.Int64
	go watch(ctx, cancel, f.o.Stall, &arrived)

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFetch, err)
	}
	req.Header.Set("User-Agent", "infill")
	req.Header.Set("Accept-Encoding", "identity")
	if p.n > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.n))
		if p.from.ETag != "" {
			req.Header.Set("If-Range", p.from.ETag)
		}
	}
	resp, err := f.o.Client.Do(req)
	if err != nil {
		return sendError(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if s := statedHash(resp); s != "" {
		f.stated = s
	}
	n, all := resp.ContentLength, resp.StatusCode == http.StatusOK
	if p.n > 0 && all && n >= 0 && !file.fits(n) { // the page of a proxy, say, costs what arrived
		return again("the server sends %d bytes, which is not the file", n)
	}
	total, err := f.begin(resp, address, p)
	if err != nil {
		return err
	}
	switch {
	case file.Bytes > 0 && total >= 0 && total != file.Bytes:
		return fmt.Errorf("%w: %s has %d bytes, the catalogue says %d", ErrMismatch, address, total,
			file.Bytes)
	case total > file.limit():
		return fmt.Errorf("%w: %s has %d bytes, the catalogue says about %d", errTooLarge, address, total,
			file.About)
	case total < 0 && file.Bytes == 0 && file.SHA256 == "":
		return fmt.Errorf("%w: %s: the server does not say how long the file is, and the catalogue "+
			"knows neither its size nor its hash", ErrFetch, address)
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return nil // all of it is there
	}
	if err := f.copy(ctx, resp.Body, file, p, &arrived); err != nil {
		return err
	}
	if total < 0 { // then the end of the connection looks like the end of the file
		total = max(file.Bytes, file.About-file.About/50)
	}
	if p.n < total {
		return again("the connection ended after %d of %d bytes", p.n, total)
	}
	return nil
}

// statedHash is the hash of a file that the hub stores apart from its repository, as the hub's own
// answer, before it redirects to the store, states it in X-Linked-Etag. "" if there is none.
func statedHash(resp *http.Response) string {
	for resp.Request != nil && resp.Request.Response != nil {
		resp = resp.Request.Response // the answer that redirected to this one
	}
	tag := strings.Trim(resp.Header.Get("X-Linked-Etag"), `"`)
	if !goodHash.MatchString(tag) {
		return ""
	}
	return tag
}

// begin looks at the head of an answer, sets the part to where its body goes on, and returns the
// size of the whole file, -1 if the answer does not say.
func (f *fetcher) begin(resp *http.Response, address string, p *part) (int64, error) {
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return 0, fmt.Errorf("%w: %s: the server sends it as %q though asked not to", ErrFetch, address,
			printable(enc))
	}
	from := origin{Address: address}
	// W/"…" does not promise the same bytes
	if tag := resp.Header.Get("ETag"); strings.HasPrefix(tag, `"`) && len(tag) < 1000 {
		from.ETag = tag
	}
	switch resp.StatusCode {
	case http.StatusOK:
		if p.n > 0 {
			f.o.Log("the server starts from the beginning")
			if err := p.restart(); err != nil {
				return 0, err
			}
		}
		return resp.ContentLength, p.answers(from)
	case http.StatusPartialContent:
		start, total, ok := contentRange(resp.Header.Get("Content-Range"))
		changed := from.ETag != "" && p.from.ETag != "" && from.ETag != p.from.ETag
		if !ok || start != p.n || changed {
			return 0, startOver(p, "the answer does not go on where it should")
		}
		p.mixed = true
		return total, p.answers(from)
	case http.StatusRequestedRangeNotSatisfiable:
		if _, total, ok := contentRange(resp.Header.Get("Content-Range")); ok && total == p.n && p.n > 0 {
			return total, nil
		}
		return 0, startOver(p, "the server has less than what arrived before")
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return 0, &temporary{fmt.Errorf("the server says %s", printable(resp.Status)),
			retryAfter(resp.Header.Get("Retry-After"))}
	case http.StatusUnauthorized, http.StatusForbidden:
		return 0, fmt.Errorf("%w: %s: the server says %s; fetch it by hand and put it into its folder",
			ErrNotPublic, address, printable(resp.Status))
	}
	return 0, fmt.Errorf("%w: %s: the server says %s", ErrFetch, address, printable(resp.Status))
}

// copy takes the body.
func (f *fetcher) copy(ctx context.Context, body io.Reader, file *File, p *part,
	arrived *atomic.Int64) error {
	buf := make([]byte, 128<<10)
	for {
		n, err := body.Read(buf)
		if p.n+int64(n) > file.limit() {
			return fmt.Errorf("%w: more than %d bytes arrived", errTooLarge, file.limit())
		}
		if werr := p.write(buf[:n]); werr != nil {
			return werr
		}
		arrived.Add(int64(n))
		f.o.Progress(Progress{f.model.Name, file.Path, f.done + p.n, f.model.Size()})
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return again("after %d bytes: %w", p.n, err)
		}
	}
}

// watch ends a connection that brings too little.
func watch(ctx context.Context, cancel context.CancelCauseFunc, window time.Duration,
	arrived *atomic.Int64) {
	tick := time.NewTicker(window)
	defer tick.Stop()
	for last := int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := arrived.Load()
			if now-last < stallBytes {
				cancel(fmt.Errorf("%w: %d bytes in %v", errStalled, now-last, window))
				return
			}
			last = now
		}
	}
}

// sendError sorts the errors of a request that got no answer.
func sendError(ctx context.Context, err error) error {
	var refused *redirectError
	var cert *tls.CertificateVerificationError
	var dns *net.DNSError
	switch {
	case errors.As(err, &refused), errors.As(err, &cert):
		return fmt.Errorf("%w: %w", ErrFetch, err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("%w: %w", ErrNoNetwork, err)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return again("%w", err)
}

// A redirectError is a redirection that is not followed.
type redirectError struct{ msg string }

func (e *redirectError) Error() string { return e.msg }

// redirect allows redirections to https, and on the machine itself, for mirrors and tests, from
// http to http.
func redirect(hub string) func(*http.Request, []*http.Request) error {
	start, err := url.Parse(hub)
	local := err == nil && start.Scheme == "http" && loopback(start.Hostname())
	return func(req *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= 10:
			return &redirectError{"more than 10 redirections"}
		case req.URL.Scheme == "https", local && req.URL.Scheme == "http" && loopback(req.URL.Hostname()):
			return nil
		}
		return &redirectError{"redirected to " + printable(req.URL.Redacted()) + ", which is not https"}
	}
}

// checkHub accepts https, and http on the machine itself.
func checkHub(hub string) error {
	u, err := url.Parse(hub)
	if err == nil && u.Host != "" && u.User == nil &&
		(u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())) {
		return nil
	}
	return fmt.Errorf("%w: the hub's address %q is not https://HOST (http only on the machine itself)",
		ErrCatalogue, hub)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// contentRange reads "bytes 5-9/10", "bytes 5-9/*" (total -1) and "bytes */10" (start 0).
func contentRange(s string) (start, total int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	span, all, slash := strings.Cut(s, "/")
	if !ok || !slash {
		return 0, 0, false
	}
	var err error
	if total = -1; all != "*" {
		if total, err = strconv.ParseInt(all, 10, 64); err != nil || total < 0 {
			return 0, 0, false
		}
	}
	if span == "*" {
		return 0, total, total >= 0
	}
	a, b, dash := strings.Cut(span, "-")
	start, err = strconv.ParseInt(a, 10, 64)
	end, err2 := strconv.ParseInt(b, 10, 64)
	if !dash || err != nil || err2 != nil || start < 0 || end < start || total >= 0 && end >= total {
		return 0, 0, false
	}
	return start, total, true
}

// retryAfter reads the header: seconds or a date; 0 if it says nothing.
func retryAfter(s string) time.Duration {
	if n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64); err == nil {
		return time.Duration(min(max(n, 0), int64(longestWait/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return min(max(time.Until(at), 0), longestWait)
	}
	return 0
}

// printable keeps what a server says from commanding a terminal.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 200)]
}

// defaultClient honours the proxies of the environment. Silent servers are given up by [watch].
func defaultClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 20 * time.Second}).DialContext,
		TLSHandshakeTimeout: 20 * time.Second,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
	}}
}
