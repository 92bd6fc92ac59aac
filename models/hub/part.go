package hub

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"infill/internal/disk"
)

// A partFile is the file of a part; tests put in ones that fail.
type partFile interface {
	io.Reader
	io.Writer
	io.Seeker
	Truncate(size int64) error
	Sync() error
	Close() error
}

func openPart(path string) (partFile, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
}

// A part is what has arrived of a file. Beside it lies PATH.json, which names its
// version.
type part struct {
	f    partFile
	path string
	n    int64     // bytes that have arrived
	sum  hash.Hash // of these
	from origin
	// mixed: the bytes are of more than one answer, which may have been of different versions.
	mixed bool
}

type origin struct {
	Address string `json:"address"`
	ETag    string `json:"etag,omitempty"` // strong entity tag, "" if there was none
}

// newPart opens what an earlier attempt left. Without a hash to check the whole by, only bytes of a
// known version of the same address can be gone on with.
func newPart(o *options, path, address string, pinned bool) (*part, error) {
	f, err := o.open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStore, err)
	}
	p := &part{f: f, path: path, sum: sha256.New()}
	if data, err := disk.Read(path+".json", 1<<16); err == nil {
		_ = json.Unmarshal(data, &p.from) // what is not readable says nothing
	}
	if p.from.Address != address {
		if !pinned {
			return p, p.restart()
		}
		p.from = origin{Address: address}
	}
	if !pinned && p.from.ETag == "" {
		return p, p.restart()
	}
	if p.n, err = io.Copy(p.sum, f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w: %w", errStore, err)
	}
	p.mixed = p.n > 0
	return p, nil
}

// restart forgets what has arrived.
func (p *part) restart() error {
	p.n, p.mixed = 0, false
	p.sum.Reset()
	_, err := p.f.Seek(0, io.SeekStart)
	if err = errors.Join(p.f.Truncate(0), err); err != nil {
		return p.storeError(err)
	}
	return nil
}

// answers notes the version of the bytes that come now.
func (p *part) answers(o origin) error {
	if o == p.from {
		return nil
	}
	p.from = o
	data, err := json.Marshal(o)
	if err == nil {
		err = disk.Write(p.path+".json", data)
	}
	if err != nil {
		return p.storeError(err)
	}
	return nil
}

func (p *part) write(b []byte) error {
	n, err := p.f.Write(b)
	_, _ = p.sum.Write(b[:n])
	p.n += int64(n)
	if err != nil {
		return p.storeError(err)
	}
	return nil
}

func (p *part) storeError(err error) error {
	return fmt.Errorf("%w: %w; the %d bytes that arrived are kept, make room and pull again", errStore,
		err, p.n)
}

func (p *part) hash() string { return hex.EncodeToString(p.sum.Sum(nil)) }

// gitHash is the hash that git has of what has arrived.
func (p *part) gitHash() (string, error) {
	if _, err := p.f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return gitHashOf(p.f, p.n)
}

// gitHashOf is the hash that git has of a file of n bytes: SHA-1 of its length and what it has.
func gitHashOf(r io.Reader, n int64) (string, error) {
	h := sha1.New()
	_, _ = fmt.Fprintf(h, "blob %d\x00", n)
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), err
}

// finish makes the bytes last and removes the note beside them.
func (p *part) finish() error {
	if err := p.f.Sync(); err != nil {
		return p.storeError(err)
	}
	_ = os.Remove(p.path + ".json")
	return nil
}

// discard removes a part that is of no use.
func (p *part) discard() {
	_ = p.f.Close()
	_ = os.Remove(p.path)
	_ = os.Remove(p.path + ".json")
}
