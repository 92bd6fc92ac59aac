package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	// Hub replaces [DefaultHub]: the address of a mirror, https or, on the same machine, http.
	Hub string
	// Token is the user's, for private repositories, "" for none. It goes to Hub alone, to no server
	// that Hub redirects to.
	Token string
	// Int8 says that products of 8-bit integers are fast on this processor, see [Cache.Look].
	Int8 bool
	// Offline forbids downloads; what the cache has is still checked.
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
	sleep    func(context.Context, time.Duration) error
	open     func(path string) (partFile, error)
}

func (o Options) usual() options {
	return options{o, defaultClient(), 30 * time.Second, 6, sleep, openPart}
}

// ready checks and completes the options.
func (o *options) ready() error {
	o.Hub = cmp.Or(o.Hub, DefaultHub)
	if err := checkHub(o.Hub); err != nil {
		return err
	}
	o.client = guarded(o.client, o.Hub, o.Token)
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
	if err := m.check(); err != nil { // it need not come from Parse
		return "", fmt.Errorf("%w: model %s: %w", ErrUsage, m.Name, err)
	}
	if err := c.readRecord(m).contradicts(m, c.recordPath(m)); err != nil {
		return "", err
	}
	folder := c.Folder(m)
	whole, err := c.whole(ctx, m)
	switch {
	case err != nil:
		return "", err
	case whole:
		return folder, c.writeRef(m)
	}
	if o.Offline {
		return "", c.offline(ctx, m, &o)
	}
	parent := filepath.Dir(folder)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("%w: %w", errStore, err)
	}
	unlock, err := lock(ctx, filepath.Join(parent, "."+m.Key()+".lock"), &o)
	if err != nil {
		return "", err
	}
	defer unlock()
	// The process that had the lock may have done the work.
	whole, err = c.whole(ctx, m)
	if err == nil && !whole {
		err = c.download(ctx, m, &o)
	}
	if err == nil {
		err = c.writeRef(m)
	}
	if err != nil {
		return "", err
	}
	return folder, nil
}

// whole reports whether every file of the model is there and right. A folder that was filled
// by hand has no record yet and gets one.
func (c Cache) whole(ctx context.Context, m *Model) (bool, error) {
	if !c.Has(m) {
		return false, nil
	}
	checks, err := c.Verify(ctx, m)
	if err != nil || faults(checks) > 0 {
		return false, err
	}
	if c.readRecord(m) != nil {
		return true, nil
	}
	rec := newRecord(m)
	for i, f := range m.Files {
		rec.Files = append(rec.Files, sum{Path: f.Path, From: "put there by hand", Bytes: checks[i].Bytes,
			SHA256: checks[i].SHA256, FirstUse: !m.pinned(f)})
	}
	err = c.writeRecord(m, rec)
	if !slices.ContainsFunc(rec.Files, func(s sum) bool { return s.FirstUse }) {
		return true, nil // with every hash in the catalogue nothing has to be recorded
	}
	return true, err
}

// offline says what is missing, or does not belong, and where.
func (c Cache) offline(ctx context.Context, m *Model, o *options) error {
	checks, err := c.Verify(ctx, m)
	if err != nil {
		return err
	}
	var missing, others []string
	for i, check := range checks {
		switch check.Result {
		case absent:
			missing = append(missing, check.Path+" from "+m.Files[i].address(o.Hub))
		case differs:
			missing = append(missing, check.Path+" (it is damaged) from "+m.Files[i].address(o.Hub))
		case extra:
			others = append(others, check.Path)
		}
	}
	if missing == nil {
		return fmt.Errorf("%w: %s has files that are not of %s: %s; remove them, or pull it again with "+
			"a network, which removes them", errOffline, c.Folder(m), m.Name, strings.Join(others, ", "))
	}
	return fmt.Errorf("%w: %s needs\n  %s\nput it into %s, or copy that folder from a machine that "+
		"has it, and pull it again, which checks it", errOffline, m.Name, strings.Join(missing, "\n  "),
		c.Folder(m))
}

// lock waits until this process is the only one that downloads this version.
func lock(ctx context.Context, path string, o *options) (unlock func(), err error) {
	unlock, err = disk.Lock(ctx, path, func() { o.Log("another process is downloading it; waiting") })
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w; choose a folder on another disk with %s", errStore, err, disk.EnvCache)
	}
	return unlock, err
}

// download fetches what is missing and puts the folder in place. It holds the lock.
func (c Cache) download(ctx context.Context, m *Model, o *options) error {
	folder, partial := c.Folder(m), c.partial(m)
	ready := filepath.Join(partial, "ready")
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	// A damaged or incomplete folder goes back to work; its good files are kept.
	rec := c.readRecord(m)
	if err := merge(ctx, m, rec, folder, ready); err != nil {
		return err
	}
	now := newRecord(m)
	f := fetcher{o: o, model: m}
	for i, file := range m.Files {
		got := sum{Path: file.Path, From: file.address(o.Hub), FirstUse: !m.pinned(file)}
		dest := filepath.Join(ready, filepath.FromSlash(file.Path))
		var err error
		if got.SHA256, got.Bytes, err = kept(ctx, dest, rec.expected(file)); err != nil {
			return err
		}
		if got.SHA256 == "" {
			part := filepath.Join(partial, fmt.Sprintf("%02d-%s.part", i, filepath.Base(dest)))
			if got.SHA256, got.Bytes, err = f.fetch(ctx, file, rec.expected(file), part); err != nil {
				return fmt.Errorf("%s: %w", file.Path, explain(err, file, rec, c.recordPath(m)))
			}
			if err := moveTo(part, dest); err != nil {
				return fmt.Errorf("%w: %w", errStore, err)
			}
		}
		f.done += got.Bytes
		now.Files = append(now.Files, got)
	}
	if err := prune(ready, m); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	if err := c.writeRecord(m, now); err != nil {
		return err
	}
	if err := errors.Join(disk.SyncDir(ready), disk.Rename(ready, folder)); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	_ = os.RemoveAll(partial) // of no use any more; if it stays it does no harm
	return nil
}

// merge moves what a folder has of a model to where an earlier download left some files, which stay
// if they are right, and removes the folder.
func merge(ctx context.Context, m *Model, rec *record, folder, ready string) error {
	for _, file := range m.Files {
		path := filepath.FromSlash(file.Path)
		src, dest := filepath.Join(folder, path), filepath.Join(ready, path)
		if _, err := os.Lstat(src); err != nil {
			continue
		}
		sum, _, err := kept(ctx, dest, rec.expected(file))
		if err != nil {
			return err
		}
		if sum == "" {
			if err := moveTo(src, dest); err != nil {
				return fmt.Errorf("%w: %w", errStore, err)
			}
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	return nil
}

// explain adds the remedy to a mismatch with a recorded hash.
func explain(err error, f *File, rec *record, path string) error {
	if errors.Is(err, ErrMismatch) && f.SHA256 == "" && rec.find(f.Path) != nil {
		return fmt.Errorf("%w; its hash was recorded at the first download, in %s: remove that file "+
			"only if you know why the model changed", err, path)
	}
	return err
}

// kept returns hash and size of a file of an earlier download if it is as it should be; otherwise
// it removes it and returns "".
func kept(ctx context.Context, path, want string) (string, int64, error) {
	f, err := disk.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", 0, nil
	case errors.Is(err, disk.ErrNotRegular): // it makes room like any damaged file
	case err != nil:
		return "", 0, fmt.Errorf("%w: %w", errStore, err)
	default:
		sum, n, err := hashOf(ctx, f)
		_ = f.Close()
		if err != nil && ctx.Err() != nil {
			return "", 0, err
		}
		if err == nil && want != "" && sum == want {
			return sum, n, nil
		}
	}
	if err := os.RemoveAll(path); err != nil {
		return "", 0, fmt.Errorf("%w: %w", errStore, err)
	}
	return "", 0, nil
}

func moveTo(part, dest string) error {
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	return disk.Rename(part, dest)
}

// prune removes what is not of the model.
func prune(dir string, m *Model) error {
	extra, err := extraFiles(os.DirFS(dir), m)
	for _, p := range extra {
		err = errors.Join(err, os.Remove(filepath.Join(dir, filepath.FromSlash(p))))
	}
	return err
}

// writeRecord replaces the record in one step.
func (c Cache) writeRecord(m *Model, r *record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := disk.Write(c.recordPath(m), append(data, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
