package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	goodAttempt = 1 << 20 // bytes that show that going on is worth it
	longestWait = 2 * time.Minute
)

// retry tries until it succeeds, fails for good, or has failed too often in a row. Attempts that
// say that they got on do not count.
func (o *options) retry(ctx context.Context, what string,
	try func() (gotOn bool, err error)) error {
	for fails := 1; ; fails++ {
		gotOn, err := try()
		var temp *temporary
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.As(err, &temp):
			return err
		case gotOn:
			fails = 1
		}
		if fails >= o.attempts {
			return fmt.Errorf("%w: %s: %w (%d attempts)", errFetch, what, temp.err, fails)
		}
		wait := backoff(fails)
		if temp.after > 0 {
			wait = min(temp.after, longestWait)
		}
		o.Log(fmt.Sprintf("%s: %v; trying again in %v", what, temp.err, wait.Round(100*time.Millisecond)))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-o.after(wait):
		}
	}
}

// backoff is half a second, doubled with every failure up to 15 s, a quarter more or less.
func backoff(fails int) time.Duration {
	d := min(500*time.Millisecond<<min(fails-1, 10), 15*time.Second)
	return d*3/4 + rand.N(d/2)
}

// A partFile is the file of a part; tests put in ones that fail.
type partFile interface {
	io.WriteSeeker
	Truncate(size int64) error
	Sync() error
	Close() error
}

func openPart(path string) (partFile, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
}

// A fetcher downloads one file into a part, which is what has arrived of it.
type fetcher struct {
	o       *options
	file    *File
	address string
	want    string // SHA-256, "" if nothing says
	stated  string // the one that the hub says with the file, "" if it does not
	report  func(bytes int64)

	path string
	part partFile
	n    int64  // bytes that have arrived
	tag  string // the strong entity tag of their version, "" if the server gave none
	// mixed: they are of more than one answer, which may have been of different versions.
	mixed bool
}

// known reports whether a hash shows that all of the file is of one version.
func (f *fetcher) known() bool { return f.want != "" || f.file.Git != "" }

// fetch brings the file, and compares what arrived with what it should be. What an earlier call
// left of a file without a known hash may be of any version, and is not gone on with.
func (f *fetcher) fetch(ctx context.Context) (check Check, err error) {
	if f.part, err = f.o.open(f.path); err != nil {
		return check, stored(err)
	}
	defer func() { _ = f.part.Close() }()
	if f.n, err = f.part.Seek(0, io.SeekEnd); err != nil {
		return check, stored(err)
	}
	if f.n > f.file.limit() || !f.known() {
		if err = f.restart(); err != nil {
			return check, err
		}
	}
	if f.mixed = f.n > 0; f.mixed {
		f.o.Log(fmt.Sprintf("%s: going on after %d bytes", f.file.Path, f.n))
	}
	best, differing := f.n, 0
	err = f.o.retry(ctx, f.address, func() (bool, error) {
		err := f.attempt(ctx)
		if err == nil {
			check, err = f.compare(ctx)
		}
		if errors.Is(err, errMismatch) && f.known() && f.mixed && differing < 2 {
			// The bytes may be of two versions of the file. A whole second fetch shows it.
			differing++
			err = f.startOver("what arrived in pieces has another hash than it should")
		}
		gotOn := f.n-best >= goodAttempt // more than ever, so this cannot go on for ever
		if gotOn {
			best = f.n
		}
		return gotOn, err
	})
	switch {
	case errors.Is(err, errMismatch):
		_ = f.part.Close()
		_ = os.Remove(f.path)
	case err != nil && ctx.Err() == nil && f.n > 0:
		err = fmt.Errorf("%w; the %d bytes that arrived are kept, pull again to go on", err, f.n)
	}
	return check, err
}

// restart forgets what has arrived.
func (f *fetcher) restart() error {
	f.n, f.mixed, f.tag = 0, false, ""
	if err := f.part.Truncate(0); err != nil {
		return stored(err)
	}
	_, err := f.part.Seek(0, io.SeekStart)
	return stored(err)
}

// startOver forgets what has arrived and asks for another attempt.
func (f *fetcher) startOver(why string) error {
	if err := f.restart(); err != nil {
		return err
	}
	return again("%s; from the start", why)
}

// compare makes what arrived last, and is an error if it is not what it should be.
func (f *fetcher) compare(ctx context.Context) (Check, error) {
	if err := f.part.Sync(); err != nil {
		return Check{}, stored(err)
	}
	check, err := f.file.compare(ctx, f.path, cmp.Or(f.want, f.stated))
	if err == nil && check.Fault() {
		err = fmt.Errorf("%w: %s has %s", errMismatch, f.address, check.why)
	}
	return check, err
}

// attempt sends one request and takes what it brings.
func (f *fetcher) attempt(ctx context.Context) error {
	header := http.Header{}
	if f.n > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", f.n))
		if f.tag != "" {
			header.Set("If-Range", f.tag)
		}
	}
	resp, err := f.o.get(ctx, f.address, header)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	f.stated = cmp.Or(statedHash(resp), f.stated)
	total, err := f.begin(resp)
	if err != nil {
		return err
	}
	kind := errMismatch
	if total > f.file.limit() {
		kind = errTooLarge
	}
	switch {
	case total >= 0 && !f.file.fits(total):
		return fmt.Errorf("%w: %s has %d bytes, it should have %d", kind, f.address, total,
			f.file.Bytes)
	case total < 0 && f.file.About && !f.known():
		return fmt.Errorf("%w: %s: the server does not say how long the file is, and neither its "+
			"size nor its hash is known", errFetch, f.address)
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return nil // all of it is there
	}
	if _, err := io.Copy(f, resp.Body); err != nil {
		return err
	}
	if total < 0 { // then the end of the connection looks like the end of the file
		total = f.file.Bytes - f.file.slack()
	}
	if f.n < total {
		return again("the connection ended after %d of %d bytes", f.n, total)
	}
	return nil
}

// Write takes what arrives.
func (f *fetcher) Write(b []byte) (int, error) {
	if limit := f.file.limit(); f.n+int64(len(b)) > limit {
		return 0, fmt.Errorf("%w: more than %d bytes arrived", errTooLarge, limit)
	}
	n, err := f.part.Write(b)
	f.n += int64(n)
	f.report(f.n)
	return n, stored(err)
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
func (f *fetcher) begin(resp *http.Response) (int64, error) {
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return 0, fmt.Errorf("%w: %s: the server sends it as %q though asked not to", errFetch,
			f.address, printable(enc))
	}
	tag := resp.Header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) { // W/"…" does not promise the same bytes
		tag = ""
	}
	start, total, ok := contentRange(resp.Header.Get("Content-Range"))
	switch resp.StatusCode {
	case http.StatusOK:
		n := resp.ContentLength
		if f.n > 0 && n >= 0 && !f.file.fits(n) { // the page of a proxy, say, costs what arrived
			return 0, again("the server sends %d bytes, which is not the file", n)
		}
		err := f.restart()
		f.tag = tag
		return n, err
	case http.StatusPartialContent:
		if !ok || start != f.n || differ(tag, f.tag) {
			return 0, f.startOver("the answer does not go on where it should")
		}
		f.mixed, f.tag = true, tag
		return total, nil
	case http.StatusRequestedRangeNotSatisfiable:
		if !ok || total != f.n || f.n == 0 {
			return 0, f.startOver("the server has less than what arrived before")
		}
		return total, nil
	}
	return 0, f.o.denied(resp, f.address)
}

// contentRange reads "bytes 5-9/10" or "bytes */10": where a body begins in its file, and how long
// that is.
func contentRange(s string) (start, total int64, ok bool) {
	if _, err := fmt.Sscanf(s, "bytes */%d", &total); err == nil {
		return 0, total, true
	}
	var end int64
	_, err := fmt.Sscanf(s, "bytes %d-%d/%d", &start, &end, &total)
	return start, total, err == nil && 0 <= start && start <= end && end < total
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
