package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var noTime time.Time

// quick are options without waiting; waits, if given, records what the waits would have been.
func quick(s *testServer, waits *[]time.Duration) options {
	return quickly(s.URL, waits)
}

func quickly(hub string, waits *[]time.Duration) options {
	o := Options{Hub: hub}.usual()
	o.stall = 10 * time.Second
	o.after = func(d time.Duration) <-chan time.Time {
		if waits != nil {
			*waits = append(*waits, d)
		}
		return time.After(0)
	}
	return o
}

// mustHold checks that the folder has exactly the server's files.
func mustHold(t *testing.T, s *testServer, folder string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(folder, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		rel, _ := filepath.Rel(folder, p)
		got, err := os.ReadFile(p)
		if err == nil && !bytes.Equal(got, s.files[filepath.ToSlash(rel)]) {
			t.Errorf("%s has other bytes", rel)
		}
		return err
	})
	if err != nil || n != len(s.files) {
		t.Errorf("%d files, %v", n, err)
	}
}

// mustLackFolder checks that a failed pull left nothing that looks like a model.
func mustLackFolder(t *testing.T, c Cache, m *Model) {
	t.Helper()
	if _, err := os.Stat(c.Folder(m)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there after a failure: %v", err)
	}
	if c.Has(m) {
		t.Error("it counts as present")
	}
}

func TestPull(t *testing.T) {
	s := newServer(t, 300_000)
	c, m := Cache{filepath.Join(t.TempDir(), "models")}, s.model()
	if c.State(m) != "no" {
		t.Error("present before")
	}
	last := int64(0)
	o := quick(s, nil)
	o.Progress = func(_ string, done, total int64) {
		if done < last || total != 300_700 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}
	folder, err := c.pull(t.Context(), m, o)
	if err != nil || folder != c.Folder(m) || !c.Has(m) || last != 300_700 {
		t.Fatalf("%s, %v, %d", folder, err, last)
	}
	mustHold(t, s, folder)
	checks, err := c.Verify(t.Context(), m)
	if err != nil || faults(checks) != 0 || len(checks) != 2 || checks[0].Result != right ||
		checks[0].By != "the catalogue" {
		t.Errorf("%+v, %v", checks, err)
	}
	rec := c.record(m)
	if rec == nil || len(rec.Files) != 2 || rec.Files[0].SHA256 != m.Files[0].SHA256 {
		t.Errorf("record %+v", rec)
	}
	if _, err := os.Stat(c.partial(m)); err == nil {
		t.Error("the folder of the download stays")
	}
	before := len(s.log())
	if _, err := c.pull(t.Context(), m, quick(s, nil)); err != nil || len(s.log()) != before {
		t.Errorf("a second pull: %v, %d requests", err, len(s.log())-before)
	}
	if _, err := c.Pull(t.Context(), m, Options{Offline: true}); err != nil {
		t.Errorf("offline, all there: %v", err)
	}
}

// The server misbehaves, then behaves; the pull succeeds.
func TestPullRecovers(t *testing.T) {
	other := noise(300_000, 99)
	for _, c := range []struct {
		name    string
		bad     []func(http.ResponseWriter, *http.Request, []byte)
		request string // that must have been sent
	}{
		{"drops", []func(http.ResponseWriter, *http.Request, []byte){dropAfter(100_000),
			dropAfter(50_000), dropAfter(0)}, "onnx/model.onnx bytes=150000-"},
		{"503", []func(http.ResponseWriter, *http.Request, []byte){status(503, "7"), status(500, ""),
			status(429, "")}, "onnx/model.onnx"},
		{"no range", []func(http.ResponseWriter, *http.Request, []byte){dropAfter(100_000),
			func(w http.ResponseWriter, r *http.Request, data []byte) {
				r.Header.Del("Range")
				whole(w, r, data)
			}}, "onnx/model.onnx bytes=100000-"},
		{"changed, honest", []func(http.ResponseWriter, *http.Request,
			[]byte){func(w http.ResponseWriter, r *http.Request, _ []byte) {
			dropAfter(100_000)(w, r, other)
		}}, "onnx/model.onnx bytes=100000-"},
		{"changed, unnoticed", []func(http.ResponseWriter, *http.Request,
			[]byte){func(w http.ResponseWriter, r *http.Request, _ []byte) {
			dropAfter(100_000)(w, r, other)
		}, func(w http.ResponseWriter, r *http.Request, data []byte) {
			r.Header.Del("If-Range")
			http.ServeContent(w, r, "", noTime, bytes.NewReader(data))
		}}, "onnx/model.onnx"},
		{"changed, other tag", []func(http.ResponseWriter, *http.Request,
			[]byte){func(w http.ResponseWriter, r *http.Request, _ []byte) {
			dropAfter(100_000)(w, r, other)
		}, func(w http.ResponseWriter, r *http.Request, data []byte) {
			r.Header.Del("If-Range")
			whole(w, r, data)
		}}, "onnx/model.onnx"},
		{"wrong range", []func(http.ResponseWriter, *http.Request, []byte){dropAfter(100_000),
			func(w http.ResponseWriter, _ *http.Request, data []byte) {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 5-%d/%d", len(data)-1, len(data)))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(data[5:])
			}}, "onnx/model.onnx"},
		{"nonsense range", []func(http.ResponseWriter, *http.Request, []byte){dropAfter(100_000),
			func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				w.Header().Set("Content-Range", "bytes 100000-1/x")
				w.WriteHeader(http.StatusPartialContent)
			}}, "onnx/model.onnx"},
		{"shrunk", []func(http.ResponseWriter, *http.Request, []byte){dropAfter(100_000),
			func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				w.Header().Set("Content-Range", "bytes */5")
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			}}, "onnx/model.onnx"},
		{"no length", []func(http.ResponseWriter, *http.Request,
			[]byte){raw(func(b []byte) []byte { return b })}, "onnx/model.onnx"},
		{"no length, cut", []func(http.ResponseWriter, *http.Request,
			[]byte){raw(func(b []byte) []byte { return b[:1000] })}, "onnx/model.onnx bytes=1000-"},
		{"declares more", []func(http.ResponseWriter, *http.Request, []byte){declare(1000), dropAfter(0)},
			"onnx/model.onnx bytes=300000-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, 300_000)
			s.next(c.bad...)
			cache := Cache{t.TempDir()}
			m := s.model()
			if c.name == "declares more" || c.name == "no length, cut" {
				m = s.vague()
			}
			folder, err := cache.pull(t.Context(), m, quick(s, nil))
			if err != nil {
				t.Fatalf("%v\n%v", err, s.log())
			}
			mustHold(t, s, folder)
			if !slices.Contains(s.log(), c.request) {
				t.Errorf("requests %q lack %q", s.log(), c.request)
			}
		})
	}
}

// The server misbehaves for good; the error is of the right kind and nothing is left that could be
// used.
func TestPullRefuses(t *testing.T) {
	type bad = func(http.ResponseWriter, *http.Request, []byte)
	to := func(where string) bad {
		return func(w http.ResponseWriter, r *http.Request,
			_ []byte) {
			http.Redirect(w, r, where, http.StatusFound)
		}
	}
	for _, c := range []struct {
		name  string
		bad   bad
		vague bool
		want  error
		text  string
	}{
		{"wrong bytes", func(w http.ResponseWriter, r *http.Request,
			_ []byte) {
			whole(w, r, noise(300_000, 5))
		}, false, errMismatch, "SHA-256"},
		{"other size", declare(-10), false, errMismatch, "299990 bytes"},
		{"other size, declared too long", declare(10), false, errMismatch, "300010 bytes"},
		{"declared too short", declare(-10), true, errMismatch, "SHA-256"},
		{"declared too long", declare(1000), true, errFetch, "attempts"},
		{"declared far too long", declare(1 << 40), true, errTooLarge, "have 300000"},
		{"endless", raw(func([]byte) []byte { return make([]byte, 1<<20) }), false, errTooLarge,
			"more than 300000"},
		{"endless, size not exact", raw(func([]byte) []byte { return make([]byte, 1<<20) }), true,
			errTooLarge, "more than 306000"},
		{"always dropped", dropAfter(0), false, errFetch, "attempts"},
		{"404", status(404, ""), false, errFetch, "404"},
		{"403", status(403, ""), false, errFetch, "not public"},
		{"500 for ever", status(500, ""), false, errFetch, "500"},
		{"teapot", status(418, ""), false, errFetch, "418"},
		{"compressed", func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("x"))
		}, false, errFetch, "gzip"},
		{"to http", to("http://192.0.2.1/model.onnx"), false, errFetch, "not https"},
		{"to a file", to("file:///etc/passwd"), false, errFetch, "not https"},
		{"in circles", func(w http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, false, errFetch, "10 redirections"},
		{"nowhere", func(w http.ResponseWriter, _ *http.Request,
			_ []byte) {
			w.WriteHeader(http.StatusFound)
		}, false, errFetch, "302"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, 300_000)
			s.always(c.bad)
			cache, m := Cache{t.TempDir()}, s.model()
			if c.vague {
				m = s.vague()
			}
			_, err := cache.pull(t.Context(), m, quick(s, nil))
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v; want %v with %q", err, c.want, c.text)
			}
			mustLackFolder(t, cache, m)
			if n := len(s.log()); n > 12 {
				t.Errorf("%d requests", n)
			}
			if c.want == errMismatch || c.want == errTooLarge {
				if parts, _ := filepath.Glob(filepath.Join(cache.partial(m), "*.part*")); len(parts) > 0 {
					t.Errorf("useless parts stay: %q", parts)
				}
			}
		})
	}
}

func TestRedirected(t *testing.T) {
	s, target := newServer(t, 1000), newServer(t, 1000)
	s.next(func(w http.ResponseWriter, r *http.Request, _ []byte) {
		http.Redirect(w, r, target.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	folder, err := Cache{t.TempDir()}.pull(t.Context(), s.model(), quick(s, nil))
	if err != nil || len(target.log()) != 1 {
		t.Fatalf("%v, %q", err, target.log())
	}
	mustHold(t, s, folder)
}

// A file without a hash in the catalogue must have the one that the hub states before it redirects
// to its store. What a server without redirections states counts too.
func TestStatedHash(t *testing.T) {
	for _, c := range []struct {
		name, tag string
		redirect  bool
		good      bool
	}{
		{"right", `"` + sumOf(noise(1000, 1)) + `"`, true, true},
		{"wrong", `"` + strings.Repeat("0", 64) + `"`, true, false},
		{"wrong, from the store itself", strings.Repeat("0", 64), false, false},
		{"no hash", `"abc"`, true, true},
		{"none", "", true, true},
	} {
		s, target := newServer(t, 1000), newServer(t, 1000)
		s.next(func(w http.ResponseWriter, r *http.Request, data []byte) {
			w.Header().Set("X-Linked-Etag", c.tag)
			if !c.redirect {
				whole(w, r, data)
				return
			}
			http.Redirect(w, r, target.URL+r.URL.Path, http.StatusFound)
		})
		m := s.model()
		m.Files[0].SHA256 = ""
		cache := Cache{t.TempDir()}
		_, err := cache.pull(t.Context(), m, quick(s, nil))
		if c.good && err != nil || !c.good && (!errors.Is(err, errMismatch) ||
			!strings.Contains(err.Error(), ", not 0000")) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := cache.Has(m); got != c.good {
			t.Errorf("%s: present is %v", c.name, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	s := newServer(t, 1000)
	s.next(status(503, "7"), status(503, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)),
		status(503, "99999999999"), status(503, "soon"))
	var waits []time.Duration
	if _, err := (Cache{t.TempDir()}).pull(t.Context(), s.model(), quick(s, &waits)); err != nil {
		t.Fatal(err)
	}
	if len(waits) != 4 || waits[0] != 7*time.Second || waits[1] != longestWait ||
		waits[2] != longestWait || waits[3] < 3*time.Second || waits[3] > 5*time.Second {
		t.Errorf("waits %v", waits)
	}
	for fails := 1; fails < 100; fails++ {
		if d := backoff(fails); d < 300*time.Millisecond || d > 19*time.Second {
			t.Errorf("backoff(%d) = %v", fails, d)
		}
	}
}

// A server that sends a byte now and then, or no head, is given up and asked again.
func TestStalled(t *testing.T) {
	for name, head := range map[string]bool{"body": true, "head": false} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, 300_000)
			s.next(func(w http.ResponseWriter, r *http.Request, data []byte) {
				for i := 0; r.Context().Err() == nil && i < len(data); i++ {
					if head {
						_, _ = w.Write(data[i : i+1])
						w.(http.Flusher).Flush()
					}
					time.Sleep(time.Millisecond)
				}
			})
			o := quick(s, nil)
			o.stall = 150 * time.Millisecond
			var notes []string
			o.Log = func(n string) { notes = append(notes, n) }
			folder, err := Cache{t.TempDir()}.pull(t.Context(), s.model(), o)
			if err != nil {
				t.Fatal(err)
			}
			mustHold(t, s, folder)
			if !strings.Contains(strings.Join(notes, "\n"), "stalled") {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// A few wrong bytes in place of a file are not a part of it, whether the server said how long it is,
// or dropped the connection.
func TestWrongBytesAreNoPart(t *testing.T) {
	few := func(w http.ResponseWriter, _ *http.Request, _ []byte) { _, _ = w.Write([]byte("sorry")) }
	for name, c := range map[string]struct {
		vague bool
		bad   func(http.ResponseWriter, *http.Request, []byte)
		want  error
	}{
		"all of it":             {false, few, errMismatch},
		"all of it, size about": {true, few, errMismatch},
		"dropped": {false, func(w http.ResponseWriter, r *http.Request, _ []byte) {
			whole(&cutter{ResponseWriter: w, left: 5}, r, noise(300_000, 99))
		}, errFetch},
	} {
		s := newServer(t, 300_000)
		s.always(c.bad)
		cache, m := Cache{t.TempDir()}, s.model()
		if c.vague {
			m = s.vague()
			m.Files[0].SHA256 = ""
		}
		if _, err := cache.pull(t.Context(), m, quick(s, nil)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if state := cache.State(m); state != "no" {
			t.Errorf("%s: the model is there: %s", name, state)
		}
	}
}

// Ctrl-C keeps what has arrived, and the next pull goes on there.
func TestCancelKeepsThePart(t *testing.T) {
	s := newServer(t, 2_000_000)
	ctx, cancel := context.WithCancel(t.Context())
	s.next(func(w http.ResponseWriter, r *http.Request, data []byte) {
		whole(&cutter{ResponseWriter: w, left: 1_000_000}, r, data)
	}, func(_ http.ResponseWriter, r *http.Request, _ []byte) {
		cancel()
		<-r.Context().Done()
	})
	c, m := Cache{t.TempDir()}, s.model()
	if _, err := c.pull(ctx, m, quick(s, nil)); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	mustLackFolder(t, c, m)
	if c.State(m) != "partly" {
		t.Error("not partly there")
	}
	folder, err := c.pull(t.Context(), m, quick(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, s, folder)
	if log := s.log(); log[2] != "onnx/model.onnx bytes=1000000-" {
		t.Errorf("requests %q", log)
	}
}

// A full disk: the error says so, and what was written is gone on with.
func TestDiskFull(t *testing.T) {
	s := newServer(t, 1_000_000)
	c, m := Cache{t.TempDir()}, s.model()
	o := quick(s, nil)
	o.open = func(path string) (partFile, error) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		return &fullDisk{f, 400_000}, err
	}
	_, err := c.pull(t.Context(), m, o)
	if !errors.Is(err, errStore) || !errors.Is(err, syscall.ENOSPC) ||
		!strings.Contains(err.Error(), "400000 bytes") {
		t.Fatalf("full disk: %v", err)
	}
	mustLackFolder(t, c, m)
	folder, err := c.pull(t.Context(), m, quick(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, s, folder)
	if !slices.Contains(s.log(), "onnx/model.onnx bytes=400000-") {
		t.Errorf("requests %q", s.log())
	}
}

// fullDisk has room for some bytes.
type fullDisk struct {
	*os.File
	left int
}

func (f *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	f.left -= n
	if _, err := f.File.Write(b[:n]); err != nil {
		return 0, err
	}
	if n < len(b) {
		return n, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return n, nil
}
