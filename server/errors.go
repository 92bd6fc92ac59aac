package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/server/api"
)

// The codes of errors that only a server knows. [jsonl.Code] has the others.
const (
	codeUnauthorized = "unauthorized"
	codeOrigin       = "forbidden_origin"
	codeHost         = "forbidden_host"
	codeNotFound     = "not_found"
	codeMethod       = "method_not_allowed"
	codeUnknownModel = "unknown_model"
	codeTooMuchWork  = "too_much_work"
	codeTooManyTexts = "too_many_texts"
	codeOverloaded   = "overloaded"
	codeLoading      = "loading"
	codeDraining     = "draining"
	codeTimeout      = "timeout"
	codeSlow         = "slow_request"
	codeInternal     = "internal"
)

// tooLong is the code of a body, or of a text, that is too long.
const tooLong = "too_long"

// meanings say for clients what errors mean, in the order of their statuses. too_long has two: of a
// body, and of a text, which is one of the codes of [jsonl.Code].
var meanings = []struct {
	Status      int
	Code, Means string
}{
	{http.StatusBadRequest, "bad_json", "the body is not the object it has to be"},
	{http.StatusUnauthorized, codeUnauthorized,
		"a key is needed, in the header Authorization: Bearer KEY"},
	{http.StatusForbidden, codeOrigin, "a page of another site asks"},
	{http.StatusForbidden, codeHost, "the server is asked by a name that is not its own"},
	{http.StatusNotFound, codeNotFound, "there is no such path"},
	{http.StatusNotFound, codeUnknownModel, "there is no such model"},
	{http.StatusMethodNotAllowed, codeMethod,
		"the path takes another method; Allow names those that it takes"},
	{http.StatusRequestTimeout, codeSlow,
		fmt.Sprintf("the body, or the next piece of that of a batch, took more than %v", bodyTime)},
	{http.StatusRequestEntityTooLarge, tooLong,
		fmt.Sprintf("the body has more than %d bytes", maxBody)},
	{http.StatusUnprocessableEntity, codeTooMuchWork,
		"chains × (steps + 1) × tokens in the blanks are above the server's limit " +
			"([MASK*1-3] counts three), chains × these tokens × the vocabulary above 268,435,456, which " +
			"is not asked of a search, or the answers to inputs would be too large"},
	{http.StatusUnprocessableEntity, codeTooManyTexts,
		fmt.Sprintf("there are more than %d inputs", api.MaxTexts)},
	{http.StatusUnprocessableEntity, "no_blank, bad_option, …",
		"the text or a setting is at fault, as the codes of records say"},
	{http.StatusTooManyRequests, codeOverloaded,
		"the queue is full; Retry-After says when to ask again"},
	{http.StatusInternalServerError, codeInternal,
		"the server failed; the line of its log with the trace of this answer says more"},
	{http.StatusServiceUnavailable, codeLoading, "the model is not there yet"},
	{http.StatusServiceUnavailable, codeDraining, "the server is about to end"},
	{http.StatusGatewayTimeout, codeTimeout,
		"the time was over; record has the best up to then, with ended: stopped"},
}

// statusGone is what the log and the metrics have of a request whose client went away.
const statusGone = 499

// A failure is an error with the code that clients read.
type failure struct {
	code    string
	message string
	record  *jsonl.Filled // what is done by then, nil for nothing
	answers []any         // of the texts that were done before, for several texts
	wait    time.Duration // after which to ask again, 0 for no advice
	large   bool          // it is about the body as a whole
}

func (f *failure) Error() string { return f.message }

func (f *failure) status() int {
	if f.large {
		return http.StatusRequestEntityTooLarge
	}
	for _, m := range meanings {
		if m.Code == f.code && m.Code != tooLong {
			return m.Status
		}
	}
	return http.StatusUnprocessableEntity // the text's or the setting's fault
}

func fail(code, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

// errGone is the end of a request whose client went away.
var errGone = errors.New("the client went away")

// errCut is the end of a request that the server does not wait for any longer.
var errCut = fail(codeDraining, "the server ended before this request did; ask another one")

// asFailure finds out what to tell the client of an error. Errors of the program itself keep their
// text for the log.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	var line *jsonl.Error
	code := jsonl.Code(err)
	switch {
	case errors.As(err, &line):
		return fail(code, "%s", line.Reason)
	case code != "":
		return fail(code, "%s", err)
	case errors.Is(err, settings.ErrSetting):
		return fail("bad_option", "%s", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fail(codeTimeout, "the request took longer than it may")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fail(codeSlow, "the request came too slowly")
	}
	return fail(codeInternal, "an error of the server; its log says more")
}

// answer is the JSON of a failure.
type answer struct {
	Error string `json:"error"`
	Type  string `json:"error_type"`
	// Record is the record of what is done by then.
	Record rawRecord `json:"record,omitempty"`
	// Answers holds the answers for the texts before the one that failed, in a request with several.
	Answers []any `json:"answers,omitempty"`
}

func (f *failure) answer() answer {
	a := answer{Error: f.message, Type: f.code, Answers: f.answers}
	if f.record != nil {
		a.Record, _ = jsonl.Append(nil, f.record) // without, if it has no JSON
	}
	return a
}

// A rawRecord is a record that is encoded already.
type rawRecord []byte

// MarshalJSON returns the record.
func (r rawRecord) MarshalJSON() ([]byte, error) { return r, nil }

// short is the beginning of a value for an error.
func short(b []byte) string {
	const most = 60
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + "…"
	}
	return string(b)
}
