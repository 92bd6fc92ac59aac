package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer bounds the answer of the hub's API, in bytes.
const maxAnswer = 16 << 20

// Look finds the model of a name for [Cache.Pull]. Of a repository it asks the hub for the files
// and chooses those of its masked language model: the given ONNX file, or for "" the usual one,
// with its external data and its tokenizer. A commit that the cache has is not asked for, and
// nothing is with [Options.Offline]. Errors wrap [ErrUnknown], [ErrFile], or others of this
// package.
func (c Cache) Look(ctx context.Context, name, file string, o Options) (*Model, error) {
	return c.look(ctx, name, file, o.usual())
}

func (c Cache) look(ctx context.Context, name, file string, o options) (*Model, error) {
	if err := o.ready(); err != nil {
		return nil, err
	}
	r, ok := parseRepo(name)
	if !ok {
		if m := find(name); m != nil {
			return m, nil
		}
		return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	if here := c.Find(name, file); here != nil && (o.Offline || here.Commit == r.Revision) {
		return here, nil
	}
	if o.Offline {
		return nil, c.offline(r.String(), r.ID)
	}
	data, err := o.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	m, err := readListing(data, r, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	return m, nil
}

// listingStalls is how many times options.stall the answer of the API may take: a listing is
// short, and one that drips would go on for hours.
const listingStalls = 4

// errDrips ends an answer of the API that takes too long as a whole.
var errDrips = errors.New("the listing of the files comes too slowly")

// ask is the answer of the hub's API about a repository.
func (o *options) ask(ctx context.Context, r repo) (data []byte, err error) {
	address := fmt.Sprintf("%s/api/models/%s/revision/%s?blobs=true", strings.TrimRight(o.Hub, "/"),
		r.ID, url.PathEscape(r.Revision))
	err = o.retry(ctx, r.String(), func() (bool, error) {
		var err error
		data, err = o.answer(ctx, r, address)
		return false, err
	})
	return data, err
}

// answer sends one request to the API.
func (o *options) answer(ctx context.Context, r repo, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listingStalls*o.stall, errDrips)
	defer cancel()
	resp, err := o.get(ctx, address, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, fmt.Errorf("%w: %s (the server says %s): it has no revision %s, or see the name's "+
			"spelling on its page, %s/%s", errNoRepository, r, printable(resp.Status), r.Revision,
			strings.TrimRight(o.Hub, "/"), r.ID)
	default:
		return nil, o.denied(resp, r.String())
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("%w: %s: more than %d bytes", errAnswer, r, maxAnswer)
	case errors.Is(err, errDrips):
		return nil, fmt.Errorf("%w: %s: %w; try again, or name a mirror with %s", errFetch, r, errDrips,
			envEndpoint)
	}
	return data, err
}

// denied is the error of an answer without content, for a repository or a file.
func (o *options) denied(resp *http.Response, what string) error {
	says := printable(resp.Status)
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait := resp.Header.Get("Retry-After")
		if wait != "" {
			says += ", to be asked again after " + printable(wait)
		}
		return &temporary{fmt.Errorf("the server says %s", says), retryAfter(wait)}
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %s: the server says %s; %s", errNotPublic, what, says, o.permit(resp))
	}
	return fmt.Errorf("%w: %s: the server says %s", errFetch, what, says)
}

// permit says what helps against a refusal.
func (o *options) permit(resp *http.Response) string {
	const terms = "accept its terms on its page on the hub, "
	token := tokenPlaces
	if !sameHost(o.Hub, defaultHub) {
		token += ", which a mirror gets if " + envEndpoint + " names it"
	}
	switch gated := resp.Header.Get("X-Error-Code") == "GatedRepo"; {
	case o.Token == "" && gated:
		return terms + "then give your token: " + token
	case o.Token == "":
		return "there is no such repository, or it is private and wants your token: " + token
	case gated || resp.StatusCode == http.StatusForbidden:
		return terms + "as the user of your token, or take a token that may read it"
	}
	return "there is no such repository, or your token may not read it or is not valid any more"
}
