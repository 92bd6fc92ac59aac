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
	"regexp"
	"strings"
	"time"
)

// stallBytes is how many bytes a connection has to bring in options.stall.
const stallBytes = 4096

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

// get asks for what is at an address of the hub. The answer's body is to be closed.
func (o *options) get(ctx context.Context, address string, header http.Header) (*http.Response,
	error) {
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("%w: %w", errFetch, err)
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "infill")
	req.Header.Set("Accept-Encoding", "identity")
	if o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+o.Token)
	}
	timer := time.AfterFunc(o.stall, func() {
		cancel(fmt.Errorf("%w: fewer than %d bytes in %v", errStalled, stallBytes, o.stall))
	})
	resp, err := o.client.Do(req)
	if err != nil {
		err = sendError(ctx, err)
		timer.Stop()
		cancel(nil)
		return nil, err
	}
	timer.Reset(o.stall)
	resp.Body = &body{resp.Body, ctx, cancel, timer, o.stall, 0}
	return resp, nil
}

// A body is the body of an answer. Its errors, but for the end, are temporary. It ends if the
// connection brings too little.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // ends it
	stall  time.Duration
	fresh  int // bytes since the timer was set
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.fresh += n; b.fresh >= stallBytes {
		b.fresh = 0
		b.timer.Reset(b.stall)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if cause := context.Cause(b.ctx); cause != nil {
		err = cause
	}
	return n, again("the connection broke: %w", err)
}

func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// sendError sorts the errors of a request that got no answer.
func sendError(ctx context.Context, err error) error {
	var cert *tls.CertificateVerificationError
	var dns *net.DNSError
	var at *url.Error
	if errors.As(err, &at) {
		at.URL, _, _ = strings.Cut(at.URL, "?") // which may be a signature, as good as a password
	}
	switch {
	case errors.Is(err, errRedirect), errors.As(err, &cert):
		return fmt.Errorf("%w: %w", errFetch, err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("%w: %w", errNoNetwork, err)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return again("%w", err)
}

// errRedirect is a redirection that is not followed.
var errRedirect = errors.New("the redirection is not followed")

// redirect allows redirections to https, and on the machine itself, for mirrors and tests, from
// http to http. The token goes to no other server, not to one below the hub's name, and not to
// another port or scheme.
func (o *options) redirect(req *http.Request, via []*http.Request) error {
	if !sameHost(req.URL.String(), o.Hub) {
		req.Header.Del("Authorization")
	}
	local := func(u *url.URL) bool { return u.Scheme == "http" && loopback(u.Hostname()) }
	switch {
	case len(via) >= 10:
		return fmt.Errorf("%w: more than 10 redirections", errRedirect)
	case req.URL.Scheme == "https", local(via[0].URL) && local(req.URL):
		return nil
	}
	to := req.URL.Scheme + "://" + req.URL.Host + req.URL.Path
	return fmt.Errorf("%w: redirected to %s, which is not https", errRedirect, printable(to))
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

var password = regexp.MustCompile(`(?s)^(https?://)?.*@`)

// Redacted is an address for people, without the name and password in it. It need not be a valid
// one, in which [url.URL.Redacted] would find them.
func Redacted(address string) string { return password.ReplaceAllString(address, "${1}xxxxx@") }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
