package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"infill/internal/disk"
)

// Options steer [Cache.Pull]; the zero value fetches from the hub with default bounds.
type Options struct {
	// Hub replaces the usual hub: the address of a mirror, https or, on the same machine, http.
	Hub string
	// Token is the user's, for private repositories, "" for none. It goes to Hub alone, to no server
	// that Hub redirects to.
	Token string
	// Offline forbids downloads. What the cache has is still checked.
	Offline bool
	// Progress is told, often, how far the download of a model is: the file, and the bytes of all
	// files that are there, and that were said to be. nil is told nothing.
	Progress func(file string, done, total int64)
	// Log is told what is worth a line: waiting, retrying, resuming; nil is told nothing.
	Log func(string)
}

// options are the options of a call, and the settings that only tests change.
type options struct {
	Options
	client *http.Client
	// stall ends a connection that brings less than stallBytes in that time.
	stall time.Duration
	// attempts is how many in a row may bring less than goodAttempt before a file is given up.
	attempts int
	after    func(time.Duration) <-chan time.Time // as time.After
	open     func(path string) (partFile, error)
}

func (o Options) usual() options {
	return options{o, &http.Client{}, 30 * time.Second, 6, time.After, openPart}
}

// ready checks and completes the options.
func (o *options) ready() error {
	o.Hub = cmp.Or(o.Hub, defaultHub)
	if err := checkHub(o.Hub); err != nil {
		return err
	}
	client := *o.client
	client.CheckRedirect = o.redirect
	o.client = &client
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	return nil
}

// Pull makes sure that the cache holds a model, whole, and returns its folder. What is there
// already is hashed, what is missing or damaged is fetched, a download that was interrupted goes on
// where it stopped. The folder appears under its name when every file has been checked. Several
// processes may pull the same model at once: one downloads, the others wait for it.
//
// When ctx ends, what has arrived stays for the next call. Errors wrap one of the Err values of
// this package, or ctx's cause.
func (c Cache) Pull(ctx context.Context, m *Model, o Options) (string, error) {
	return c.pull(ctx, m, o.usual())
}

func (c Cache) pull(ctx context.Context, m *Model, o options) (string, error) {
	if err := o.ready(); err != nil {
		return "", err
	}
	if err := m.check(); err != nil { // it need not come from Look
		return "", fmt.Errorf("%w: model %s: %w", ErrUsage, m.Name, err)
	}
	if err := c.contradicted(m); err != nil {
		return "", err
	}
	whole, err := c.whole(ctx, m)
	switch {
	case err != nil || whole:
	case o.Offline:
		err = c.offline(m.String(), m.Name)
	default:
		err = c.alone(ctx, m, &o)
	}
	if err == nil {
		err = c.name(m)
	}
	if err != nil {
		return "", err
	}
	return c.Folder(m), nil
}

// whole reports whether every file of the model is there and right, and recorded if it is of a
// repository.
func (c Cache) whole(ctx context.Context, m *Model) (bool, error) {
	if !c.Has(m) || m.Commit != "" && c.record(m) == nil {
		return false, nil
	}
	checks, err := c.Verify(ctx, m)
	return err == nil && !slices.ContainsFunc(checks, Check.Fault), err
}

// offline says what helps without a network. what is to be pulled.
func (c Cache) offline(what, name string) error {
	return fmt.Errorf("%w, or not whole: pull %s on a machine with a network, and copy its folder, %s",
		errOffline, what, filepath.Join(c.Dir, folderOf(name)))
}

// alone downloads what is missing while no other process downloads this version.
func (c Cache) alone(ctx context.Context, m *Model, o *options) error {
	if err := os.MkdirAll(filepath.Dir(c.partial(m)), 0o755); err != nil {
		return stored(err)
	}
	lock := strings.TrimSuffix(c.partial(m), ".partial") + ".lock"
	unlock, err := disk.Lock(ctx, lock, func() { o.Log("another process is downloading it; waiting") })
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return fmt.Errorf("%w; choose a folder on another disk with %s", stored(err), disk.EnvCache)
	}
	defer unlock()
	// The process that had the lock may have done the work.
	if whole, err := c.whole(ctx, m); err != nil || whole {
		return err
	}
	return c.download(ctx, m, o)
}

// download fetches what is missing and puts the folder in place.
func (c Cache) download(ctx context.Context, m *Model, o *options) error {
	folder, ready := c.Folder(m), filepath.Join(c.partial(m), "ready")
	var files []*File
	done := int64(0)
	for i, f := range m.Files {
		found, err := c.bring(ctx, m, i, ready, o, func(n int64) { o.Progress(f.Path, done+n, m.Size()) })
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		done += found.Bytes
		file := *f
		file.Bytes, file.About, file.SHA256 = found.Bytes, false, found.SHA256
		files = append(files, &file)
	}
	others, err := others(ready, m) // a listing that had more files for the same commit, say
	for _, p := range others {
		err = errors.Join(err, stored(os.Remove(filepath.Join(ready, filepath.FromSlash(p)))))
	}
	if err != nil {
		return err
	}
	record := *m
	if was := c.record(m); was != nil {
		record.Revisions = was.Revisions
	}
	if err := c.write(&record, files); err != nil {
		return err
	}
	err = errors.Join(disk.SyncDir(ready), os.RemoveAll(folder), disk.Rename(ready, folder))
	if err == nil {
		_ = os.RemoveAll(c.partial(m)) // of no use any more; if it stays it does no harm
	}
	return stored(err)
}

// bring puts a file into the folder of those that are ready. One that is right is taken from there,
// where an earlier download left it, or from a folder that is damaged or was filled by hand.
func (c Cache) bring(ctx context.Context, m *Model, i int, ready string, o *options,
	report func(int64)) (Check, error) {
	f := m.Files[i]
	record := c.record(m)
	want := f.wanted(record)
	dest := filepath.Join(ready, filepath.FromSlash(f.Path))
	for _, path := range []string{dest, c.at(m, f)} {
		if found, err := f.compare(ctx, path, want); err != nil || !found.Fault() {
			return found, cmp.Or(err, place(path, dest))
		}
	}
	if err := os.MkdirAll(ready, 0o755); err != nil {
		return Check{}, stored(err)
	}
	part := filepath.Join(c.partial(m), fmt.Sprintf("%02d-%s.part", i, filepath.Base(dest)))
	found, err := (&fetcher{o: o, file: f, address: f.address(o.Hub), want: want, report: report,
		path: part}).fetch(ctx)
	if errors.Is(err, errMismatch) && f.SHA256 == "" && want != "" {
		err = fmt.Errorf("%w; its hash was recorded at the first download, in %s: remove that file "+
			"only if you know why the model changed", err, c.recordPath(m))
	}
	if err != nil {
		return found, err
	}
	return found, place(part, dest)
}

// place moves a file to where it belongs, and removes what is there.
func place(from, to string) error {
	if from == to {
		return nil
	}
	err := errors.Join(os.RemoveAll(to), os.MkdirAll(filepath.Dir(to), 0o755))
	return stored(errors.Join(err, disk.Rename(from, to)))
}
