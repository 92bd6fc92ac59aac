package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	stallBytes  = 4096    // fewer in options.stall is a stalled connection
	goodAttempt = 1 << 20 // bytes that show that going on is worth it
	longestWait = 2 * time.Minute
	// listingStalls is how many times options.stall the answer of the API may take: a listing is
	// short, and one that drips would go on for hours.
	listingStalls = 4
)

// errStalled ends a connection that brings next to nothing.
var errStalled = errors.New("the connection stalled")

// errDrips ends an answer of the API that takes too long as a whole.
var errDrips = errors.New("the listing of the files comes too slowly")

// A temporary error is worth another attempt.
type temporary struct {
	err   error
	after time.Duration // the server's wish, 0 if it has none
}

func (t *temporary) Error() string { return t.err.Error() }
func (t *temporary) Unwrap() error { return t.err }

func again(format string, args ...any) error { return &temporary{err: fmt.Errorf(format, args...)} }

// A trials counts attempts in a row that failed.
type trials struct {
	o     *options
	what  string // is tried
	fails int
}

// again waits until it is time for another attempt. It returns an error if there is none.
func (t *trials) again(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var temp *temporary
	if !errors.As(err, &temp) {
		return err
	}
	if t.fails++; t.fails >= t.o.attempts {
		return fmt.Errorf("%w: %s: %w (%d attempts)", ErrFetch, t.what, temp.err, t.fails)
	}
	wait := backoff(t.fails)
	if temp.after > 0 {
		wait = min(temp.after, longestWait)
	}
	t.o.Log(fmt.Sprintf("%s: %v; trying again in %v", t.what, temp.err,
		wait.Round(100*time.Millisecond)))
	return t.o.sleep(ctx, wait)
}

// startOver forgets what has arrived and asks for another attempt.
func startOver(p *part, why string) error {
	if err := p.restart(); err != nil {
		return err
	}
	return again("%s; from the start", why)
}

// A fetcher downloads the files of one model.
type fetcher struct {
	o     *options
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
	t := trials{o: f.o, what: address}
	for differing := 0; ; {
		err := f.attempt(ctx, file, address, p)
		if err == nil {
			err = f.compare(file, want, address, p)
		}
		if err == nil {
			return p.hash(), p.n, p.finish()
		}
		if errors.Is(err, ErrMismatch) && want != "" && p.mixed && differing < 2 {
			// The bytes may be of two versions of the file. A whole second fetch shows it.
			differing++
			err = startOver(p, "what arrived in pieces has another SHA-256 than it should")
		}
		if p.n-best >= goodAttempt { // more than ever, so this cannot go on for ever
			t.fails, best = 0, p.n
		}
		err = t.again(ctx, err)
		switch {
		case err == nil:
		case errors.Is(err, ErrMismatch), errors.Is(err, errTooLarge):
			p.discard()
			return "", 0, err
		case t.fails >= f.o.attempts:
			return "", 0, fmt.Errorf("%w; the %d bytes that arrived are kept, pull again to go on", err, p.n)
		default:
			return "", 0, err
		}
	}
}

// compare is an error if a file that has arrived is not what it should be.
func (f *fetcher) compare(file *File, want, address string, p *part) error {
	says := "it should have"
	if want == "" {
		want, says = f.stated, "the hub says"
	}
	if want != "" && p.hash() != want {
		return fmt.Errorf("%w: %s has SHA-256 %s (%d bytes), %s %s", ErrMismatch, address, p.hash(), p.n,
			says, want)
	}
	if file.Git != "" {
		got, err := p.gitHash()
		if err != nil {
			return p.storeError(err)
		}
		if got != file.Git {
			return fmt.Errorf("%w: %s has git's hash %s (%d bytes), the hub says %s", ErrMismatch, address,
				got, p.n, file.Git)
		}
	}
	return nil
}

// backoff is half a second, doubled with every failure up to 15 s, a quarter more or less.
func backoff(fails int) time.Duration {
	d := min(500*time.Millisecond<<min(fails-1, 10), 15*time.Second)
	return d*3/4 + rand.N(d/2)
}

// attempt sends one request and takes what it brings.
func (f *fetcher) attempt(ctx context.Context, file *File, address string, p *part) error {
	header := http.Header{}
	if p.n > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", p.n))
		if p.from.ETag != "" {
			header.Set("If-Range", p.from.ETag)
		}
	}
	resp, err := f.o.get(ctx, address, header)
	if err != nil {
		return err
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
	case file.Bytes == 0 && total > file.limit():
		return fmt.Errorf("%w: %s has %d bytes, it should have about %d", errTooLarge, address, total,
			file.About)
	case total >= 0 && !file.fits(total):
		return fmt.Errorf("%w: %s has %d bytes, it should have %d", ErrMismatch, address, total,
			file.Size())
	case total < 0 && file.Bytes == 0 && file.SHA256 == "":
		return fmt.Errorf("%w: %s: the server does not say how long the file is, and neither its "+
			"size nor its hash is known", ErrFetch, address)
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return nil // all of it is there
	}
	if err := f.copy(resp.Body, file, p); err != nil {
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
	}
	return 0, denied(resp, address, f.o)
}

// copy takes the body.
func (f *fetcher) copy(body io.Reader, file *File, p *part) error {
	buf := make([]byte, 128<<10)
	for {
		n, err := body.Read(buf)
		if p.n+int64(n) > file.limit() {
			return fmt.Errorf("%w: more than %d bytes arrived", errTooLarge, file.limit())
		}
		if werr := p.write(buf[:n]); werr != nil {
			return werr
		}
		f.o.Progress(file.Path, f.done+p.n, f.model.Size())
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return again("after %d bytes: %w", p.n, err)
		}
	}
}

// rangeForm is "bytes 5-9/10", "bytes 5-9/*" or "bytes */10".
var rangeForm = regexp.MustCompile(`^bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)$`)

// contentRange reads where a body begins in its file, 0 for none, and how long that is, -1 if the
// header does not say.
func contentRange(s string) (start, total int64, ok bool) {
	m := rangeForm.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, false
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(cmp.Or(s, "0"), 10, 64)
		ok = ok && err == nil
		return n
	}
	ok, total = true, -1
	if m[3] != "*" {
		total = number(m[3])
	}
	start = number(m[1])
	end := number(m[2])
	if m[1] == "" {
		return 0, total, ok && total >= 0
	}
	return start, total, ok && start <= end && (total < 0 || end < total)
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
