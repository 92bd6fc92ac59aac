package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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
		scorer: &records.Scorer{Model: m, Engine: engine, Ranking: &settings.Ranking{Parts: s.parts}},
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
