// Package server answers requests over HTTP: it fills blanks, scores texts and says how it is.
//
// A [Server] has one or more models. It answers in the wire format of package jsonl, with the
// settings of package settings, and makes records with package records: a request is a JSON line of
// a batch file, and its answer is the record of that line. [Server.Handler] has the routes, which
// [Server.Serve] answers, and /openapi.json describes them.
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

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"infill/infill"
	"infill/infill/energies"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/mlm"
)

// Bounds that no option changes.
const (
	// maxBody is the greatest length of a request's body in bytes. A batch has as many lines of
	// this length as it likes.
	maxBody = 1 << 20

	headerTime = 10 * time.Second // for the header of a request
	bodyTime   = 20 * time.Second // for a body, or the next piece of a batch
	writeTime  = 20 * time.Second // to take what is written at once
	idleTime   = 2 * time.Minute  // between two requests of a connection
	// overTime is how long after its limit a request that makes no steps is cut off.
	overTime = 5 * time.Second
)

// Options say how a [Server] works. The zero value is a sensible default for this machine alone.
type Options struct {
	Places int           // requests worked on at the same time; 0: one per processor
	Queue  int           // requests that wait for a place; 0: 64
	Limit  time.Duration // of a request, the wait included; 0: a minute
	// Work is at most chains × (steps + 1) × blanks of a text, and the rows of a search. 0 is
	// 210,000, which takes 25 chains of 20 steps on 400 blanks, and of 50 steps on 160.
	Work int
	// Keys are tokens, and a request must have one of them. Without any, requests need none, and
	// are answered only if they are addressed to this machine or to one of Hosts.
	Keys []string
	// Origins are the origins of other pages that may ask, such as https://example.org.
	Origins []string
	Hosts   []string // names by which the server may be asked, see Keys
	// Engine makes the engine of a model, for each one its own; nil: [infill.New].
	Engine  func(*mlm.Model) *infill.Engine
	Version string       // of the program, for records
	Log     *slog.Logger // nil: no log
	// LogTexts lets the log have the texts of users.
	LogTexts bool
}

// A Server answers requests with its models. It is safe for concurrent use.
type Server struct {
	opt     Options
	handler http.Handler
	origins *http.CrossOriginProtection
	queue   *queue
	files   chan struct{} // a place for each batch
	counts  *metrics
	state   atomic.Int32
	leaving chan struct{} // closed when the server drains
	// The bounds of the constants of these names, which tests lower.
	maxAnswer                       int
	headerTime, bodyTime, writeTime time.Duration

	mu     sync.RWMutex
	models []*model // the first is the default
	parts  *energies.Parts
}

// The states of a server.
const (
	loading int32 = iota
	ready
	draining
)

// A model is an open model and what makes records with it.
type model struct {
	name   string
	model  *mlm.Model
	filler *records.Filler
	scorer *records.Scorer
}

// Steer lets requests add parts to their energies that are made from files. It is called before
// models are added, and the parts stay the caller's to close. Without it, or with nil, requests
// have the parts that need no file.
func (s *Server) Steer(parts *energies.Parts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = parts
}

// Add gives the server an open model, which stays the caller's to close after the server has ended.
// The first one answers requests that name none. Errors: errMissing without a model, or two models
// of one name.
func (s *Server) Add(name string, m *mlm.Model) error {
	if m == nil {
		return fmt.Errorf("%w: no model %q to add; open one with mlm.Open", errMissing, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.models {
		if other.name == name {
			return fmt.Errorf("two models are called %q", name)
		}
	}
	engine := s.opt.Engine(m)
	usual := settings.Defaults()
	usual.Words.Parts = s.parts
	filling, err := usual.Prepare(m.Tokenizer())
	if err != nil {
		return err
	}
	s.models = append(s.models, &model{
		name: name, model: m,
		filler: &records.Filler{Model: m, Engine: engine, Filling: filling, Version: s.opt.Version},
		scorer: &records.Scorer{Model: m, Engine: engine,
			Ranking: &settings.Ranking{Energies: settings.Energies{Parts: s.parts}}},
	})
	return nil
}

// Ready says that all models are there. Before, requests for a model are refused with status 503.
func (s *Server) Ready() { s.state.CompareAndSwap(loading, ready) }

// find returns the model of a name, the default for "".
func (s *Server) find(name string) (*model, error) {
	switch s.state.Load() {
	case loading:
		return nil, fail(codeLoading, "the model is being loaded; ask again in a moment")
	case draining:
		return nil, fail(codeDraining, "the server is about to end; ask another one")
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var names []string
	for _, m := range s.models {
		if name == "" || m.name == name {
			return m, nil
		}
		names = append(names, m.name)
	}
	return nil, fail(codeUnknownModel, "no model is called %q; there is %s", short([]byte(name)),
		strings.Join(names, ", "))
}

// errMissing is returned for a model, a listener or a context that is nil.
var errMissing = errors.New("missing argument")

// Complete returns the options as a server has them, with defaults in place of what is not chosen.
func (opt Options) Complete() Options {
	if opt.Places <= 0 {
		opt.Places = runtime.NumCPU()
	}
	if opt.Queue <= 0 {
		opt.Queue = 64
	}
	if opt.Limit <= 0 {
		opt.Limit = time.Minute
	}
	if opt.Work <= 0 {
		opt.Work = 210_000
	}
	if opt.Engine == nil {
		opt.Engine = infill.New
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return opt
}

// New makes a server without models, which is not ready. The error is of an origin that makes no
// sense.
func New(opt Options) (*Server, error) {
	opt = opt.Complete()
	s := &Server{opt: opt, queue: newQueue(opt.Places, opt.Queue), leaving: make(chan struct{}),
		files: make(chan struct{}, opt.Queue), maxAnswer: maxAnswer,
		headerTime: headerTime, bodyTime: bodyTime, writeTime: writeTime, counts: newMetrics()}
	var err error
	s.handler, err = s.guarded(s.mux())
	return s, err
}

// Handler answers requests, for a program that listens by itself.
func (s *Server) Handler() http.Handler { return s.handler }

// errCutOff is returned by Serve when requests had not ended within the time they were given.
var errCutOff = errors.New("requests were cut off")

// Serve answers the connections of a listener until ctx ends. Then it takes no new ones, is not
// ready any more, lets running requests end for at most the time of grace, and returns nil. If some
// have not ended by then, they are cut off and the error is errCutOff. It is errMissing without a
// context or a listener. Other errors are the listener's.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	switch {
	case ctx == nil:
		return fmt.Errorf("%w: the context is nil; pass context.Background()", errMissing)
	case l == nil:
		return fmt.Errorf("%w: there is no listener; make one with net.Listen", errMissing)
	}
	base, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: s.headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    1 << 16,
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.drain()
	end, stop := context.WithTimeout(context.Background(), grace)
	defer stop()
	if err := srv.Shutdown(end); err == nil {
		return nil
	}
	n := s.counts.underWay.Load()
	cut(errCut) // what still works ends now, and has a moment to say so
	last, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = srv.Shutdown(last)
	return errors.Join(fmt.Errorf("%w: %d after %v", errCutOff, n, grace), srv.Close())
}

// drain says that the server is about to end.
func (s *Server) drain() {
	was := s.state.Swap(draining)
	if was == draining {
		return
	}
	close(s.leaving)
	if was == ready { // before, nothing was begun
		s.opt.Log.Info("draining", "requests", s.counts.underWay.Load())
	}
}
