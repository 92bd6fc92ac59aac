// Package hub fetches ONNX exports of masked language models from Hugging Face's hub into a cache,
// and compares what lies there with what it should be.
//
// A [Model] is one of the [Catalogue], which is part of the package, or what [Cache.Look] finds in
// a repository of the hub. [Cache.Pull] fetches both. Each file of a model has the address of one
// immutable version. The catalogue has SHA-256 sums of most files. All others are trusted on first
// use: what arrives is recorded beside the download and compared ever after. Where the hub states a
// hash of such a file, what arrives must have it.
//
// A [Cache] holds one folder for each version of a model:
//
//	NAME/KEY/          the files, complete and checked; it appears by one rename
//	NAME/KEY.json      its record: the model as it was fetched
//	NAME/.KEY.partial/ a download under way or interrupted
//	NAME/.KEY.lock     held by the process that downloads
//
// NAME is a name in the catalogue, or OWNER--NAME of a repository. KEY is made of the paths and
// hashes of the files, or of the commit, so that a new version never meets the files of an old one.
package hub

import (
	"errors"
	"fmt"
)

var (
	// ErrUsage is an address of a hub, or a description of a model, that makes no sense.
	ErrUsage = errors.New("not usable")
	// ErrUnknown is a name that the catalogue does not have.
	ErrUnknown = errors.New("no such model")
	// errOffline is a download that is needed while downloads are forbidden.
	errOffline = errors.New("offline, and the model is not in the cache")
	// errMismatch is a file that is not what it should be: another hash or another size.
	errMismatch = errors.New("the file is not the one that was expected")
	// errTooLarge is a file that is larger than it may be. It wraps errMismatch.
	errTooLarge = fmt.Errorf("%w: it is larger than was said", errMismatch)
	// errFetch is a server that does not hand out the file: refused, missing, or failing again and
	// again.
	errFetch = errors.New("download failed")
	// errNotPublic is a server that hands out the file to users it knows only. It wraps errFetch.
	errNotPublic = fmt.Errorf("%w: the model is not public there", errFetch)
	// errNoNetwork is a server whose name is not known here. It wraps errFetch.
	errNoNetwork = fmt.Errorf("%w: no network, or no such server", errFetch)
	// errNoRepository is a repository, or a revision of one, that the hub does not have. It wraps
	// errFetch.
	errNoRepository = fmt.Errorf("%w: no such repository", errFetch)
	// errNoExport is a repository without an ONNX file and its tokenizer, or without the one named.
	errNoExport = errors.New("the repository has no ONNX export")
	// ErrFile is a repository whose ONNX file is taken only by its name.
	ErrFile = errors.New("the ONNX file has to be named")
	// errNotMasked is a repository of a model that does something else than to predict masked words.
	errNotMasked = errors.New("not a masked language model")
	// errAnswer is an answer of the hub about a repository that cannot be one.
	errAnswer = errors.New("the hub's answer makes no sense")
	// errToken is a token of the user that cannot be read or cannot be one.
	errToken = errors.New("the token for the hub cannot be used")
	// errStore is trouble with the cache's folder: no room, no permission.
	errStore = errors.New("cannot store the download")
)

// stored is an error about the cache's folder, nil for nil.
func stored(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", errStore, err)
	}
	return err
}
