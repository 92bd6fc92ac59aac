// Package hub knows ONNX exports of masked language models in public places, fetches them into a
// cache, and compares what lies there with what it should be.
//
// A [Catalogue] is a list of models. Each file of a model has the address of one immutable version
// and, as a rule, its SHA-256. A file without a hash is trusted on first use: what arrives is
// recorded beside the download and compared ever after. Where the hub itself states the hash of
// such a file, which it does of large ones, what arrives must have it. Callers are told which of
// the two it is ([File.Pinned]) and should say so. The catalogue that is part of the package has
// entries of both kinds.
//
// A [Cache] holds one folder for each version of a model:
//
//	NAME/KEY/          the files, complete and checked; it appears by one rename
//	NAME/KEY.json      its record: what was fetched from where, sizes and hashes
//	NAME/.KEY.partial/ a download under way or interrupted
//	NAME/.KEY.lock     held by the process that downloads
//
// KEY is made of the paths and hashes of the files, so that a new version never meets the files of
// an old one.
package hub

import (
	"errors"
	"fmt"
)

var (
	// ErrCatalogue is a catalogue that cannot be used; errors are of type *CatalogueError.
	ErrCatalogue = errors.New("bad catalogue of models")
	// ErrUnknown is a name that no catalogue has.
	ErrUnknown = errors.New("no such model")
	// errOffline is a download that is needed while downloads are forbidden.
	errOffline = errors.New("offline, and the model is not in the cache")
	// ErrMismatch is a file that is not what it should be: another hash or another size.
	ErrMismatch = errors.New("the file is not the one that was expected")
	// errTooLarge is a file that is larger than the catalogue allows.
	errTooLarge = errors.New("the file is larger than the catalogue says")
	// ErrFetch is a server that does not hand out the file: refused, missing, or failing again and
	// again.
	ErrFetch = errors.New("download failed")
	// ErrNotPublic is a server that hands out the file to users it knows only. It wraps ErrFetch.
	ErrNotPublic = fmt.Errorf("%w: the model is not public there", ErrFetch)
	// ErrNoNetwork is a server whose name is not known here. It wraps ErrFetch.
	ErrNoNetwork = fmt.Errorf("%w: no network, or no such server", ErrFetch)
	// errStore is trouble with the cache's folder: no room, no permission.
	errStore = errors.New("cannot store the download")
	// errUnverified is a folder for which nothing says what it should hold.
	errUnverified = errors.New("nothing to compare with")
)
