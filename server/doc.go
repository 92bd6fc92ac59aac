// Package server answers requests over HTTP: it fills blanks, scores texts and says how it is.
//
// A [Server] has one or more models. It answers in the wire format of package jsonl, with the
// settings of package settings, and makes records with package records: a request is a JSON line of
// a batch file, and its answer is the record of that line. [Server.Handler] has the routes, and
// /openapi.json describes them.
//
// # Load
//
// A bounded number of requests is worked on at the same time, and a bounded number waits. One more
// is refused at once with status 429. A client that goes away frees its place. A request that takes
// longer than its limit ends with status 504 and what is done by then.
//
// # Safety
//
// Without keys a server answers only requests to this machine's own names, so that no page of
// another site reaches it through a name that leads here. Requests from pages of other origins are
// refused. Texts of users do not appear in the log unless asked for.
package server
