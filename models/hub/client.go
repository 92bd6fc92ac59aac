package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// guarded is a client that follows redirections with care, and gives the token to the hub alone.
func guarded(c *http.Client, hub, token string) *http.Client {
	client := *c
	client.CheckRedirect = redirect(hub)
	if token != "" {
		client.Transport = &bearer{client.Transport, hub, token}
	}
	return &client
}

// A bearer adds a token to the requests for one server. Redirected requests come here, too, so that
// none to another server has it: not to a server below its name, and not to another port or scheme.
type bearer struct {
	next       http.RoundTripper // nil for the usual one
	hub, token string
}

func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	if sameHost(req.URL.String(), b.hub) {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	next := b.next
	if next == nil {
		next = http.DefaultTransport
	}
	return next.RoundTrip(req)
}

// get asks for what is at an address. The answer's body is to be closed.
func (o *options) get(ctx context.Context, address string, header http.Header) (*http.Response,
	error) {
	ctx, cancel := context.WithCancelCause(ctx)
	b := &body{ctx: ctx, stop: func() { cancel(nil) }}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		b.stop()
		return nil, fmt.Errorf("%w: %w", ErrFetch, err)
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "infill")
	req.Header.Set("Accept-Encoding", "identity")
	go watch(ctx, cancel, o.stall, &b.arrived)
	resp, err := o.client.Do(req)
	if err != nil {
		defer b.stop()
		return nil, sendError(ctx, err)
	}
	b.ReadCloser, resp.Body = resp.Body, b
	return resp, nil
}

// A body is the body of an answer. If the connection brings too little, the body ends and says why.
type body struct {
	io.ReadCloser
	ctx     context.Context
	arrived atomic.Int64 // bytes
	stop    func()       // of the watch
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.arrived.Add(int64(n))
	if cause := context.Cause(b.ctx); cause != nil && err != nil && !errors.Is(err, io.EOF) {
		err = cause
	}
	return n, err
}

func (b *body) Close() error {
	b.stop()
	return b.ReadCloser.Close()
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
	var at *url.Error
	if errors.As(err, &at) {
		at.URL, _, _ = strings.Cut(at.URL, "?") // which may be a signature, as good as a password
	}
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
		to := req.URL.Scheme + "://" + req.URL.Host + req.URL.Path
		return &redirectError{"redirected to " + printable(to) + ", which is not https"}
	}
}

// checkHub accepts https, and http on the machine itself.
func checkHub(hub string) error {
	u, err := url.Parse(hub)
	if err == nil && u.Host != "" && u.User == nil &&
		(u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())) {
		return nil
	}
	if strings.Contains(hub, "@") {
		return fmt.Errorf("%w: the hub's address %q must not hold a name and password; put a token "+
			"into %s", ErrUsage, Redacted(hub), envToken)
	}
	return fmt.Errorf("%w: the hub's address %q is not https://HOST (http only on the machine itself)",
		ErrUsage, hub)
}

// Redacted is an address for people, without the name and password in it. It need not be a valid
// one, in which [url.URL.Redacted] would find them.
func Redacted(address string) string {
	at := strings.LastIndex(address, "@")
	if at < 0 {
		return address
	}
	scheme := ""
	for _, s := range []string{"https://", "http://"} {
		if strings.HasPrefix(address, s) {
			scheme = s
		}
	}
	return scheme + "xxxxx" + address[at:]
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
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
