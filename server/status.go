package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"infill/server/api"
)

// health says that the server is alive.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, []byte("{\"status\":\"ok\"}\n"))
}

// isReady says that the server takes requests.
func (s *Server) isReady(w http.ResponseWriter, _ *http.Request) error {
	if _, err := s.find(""); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, []byte("{\"status\":\"ready\"}\n"))
}

// A modelAnswer is what GET /v1/models says of a model.
type modelAnswer struct {
	Name         string   `json:"name"`
	Default      bool     `json:"default"`
	SHA256       string   `json:"sha256"`
	Architecture string   `json:"architecture"`
	Parameters   int64    `json:"parameters"`
	Vocab        int      `json:"vocab"`
	MaxLength    int      `json:"max_length"`
	Mask         string   `json:"mask"`
	Gradients    bool     `json:"gradients"`
	Warnings     []string `json:"warnings,omitempty"`
}

// listModels answers GET /v1/models.
func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) error {
	if _, err := s.find(""); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []modelAnswer
	for i, m := range s.models {
		info := m.model.Info()
		_, gradients := m.model.Gradients()
		list = append(list, modelAnswer{
			Name: m.name, Default: i == 0, SHA256: info.SHA256, Architecture: info.Architecture,
			Parameters: info.Parameters, Vocab: info.Vocab, MaxLength: info.MaxLength, Mask: info.Mask,
			Gradients: gradients, Warnings: info.Warnings,
		})
	}
	return writeValue(w, map[string]any{"models": list})
}

// metrics answers GET /metrics in Prometheus's text format, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) error {
	var b strings.Builder
	head := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
	}
	one := func(name, kind, help string, value int64) {
		head(name, kind, help)
		fmt.Fprintf(&b, "%s %d\n", name, value)
	}
	s.counts.write(&b, head)
	one("infill_queue", "gauge", "Requests that wait for a place, without lines of batches.",
		int64(s.queue.waiting()))
	one("infill_working", "gauge", "Requests and lines of batches that have a place.",
		int64(len(s.queue.working)))
	one("infill_places", "gauge", "Places to work in.", int64(cap(s.queue.working)))
	one("infill_requests_in_flight", "gauge", "Requests that have no whole answer yet.",
		s.counts.underWay.Load())
	one("infill_chain_steps_total", "counter", "Steps of chains.", s.counts.chainSteps.Load())
	one("infill_search_rows_total", "counter", "Rows of models that searches asked for.",
		s.counts.searchRows.Load())
	one("infill_texts_total", "counter", "Texts that were filled or scored.", s.counts.texts.Load())
	isReady := int64(0)
	if s.state.Load() == ready {
		isReady = 1
	}
	one("infill_ready", "gauge", "1 if the server takes requests.", isReady)
	s.mu.RLock()
	defer s.mu.RUnlock()
	head("infill_model_calls_total", "counter", "Calls of a model, by what they compute.")
	for _, m := range s.models {
		energies, conditionals, gradients := m.model.Work()
		for _, k := range []struct {
			kind string
			n    int64
		}{{"energy", energies.Runs}, {"conditional", conditionals.Runs}, {"gradient", gradients.Runs}} {
			fmt.Fprintf(&b, "infill_model_calls_total{model=%s,kind=%q} %d\n", label(m.name), k.kind, k.n)
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, err := w.Write([]byte(b.String()))
	return err
}

// bounds are the upper bounds of the latency histogram, in seconds.
var bounds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120}

// metrics are the counts of a server, for Prometheus.
type metrics struct {
	underWay   atomic.Int64
	chainSteps atomic.Int64
	searchRows atomic.Int64
	texts      atomic.Int64

	mu     sync.Mutex
	routes map[string]*routeCounts
}

// routeCounts are the counts of a route.
type routeCounts struct {
	codes   map[int]int64
	buckets []int64 // as bounds, and one for all longer ones
	sum     time.Duration
}

func newMetrics() *metrics {
	m := &metrics{routes: map[string]*routeCounts{}}
	for _, r := range api.Routes {
		m.routes[r.Name()] = &routeCounts{codes: map[int]int64{}, buckets: make([]int64, len(bounds)+1)}
	}
	m.routes[otherRoute] = &routeCounts{codes: map[int]int64{}, buckets: make([]int64, len(bounds)+1)}
	return m
}

// otherRoute is what the metrics call requests for which there is no route.
const otherRoute = "other"

// add counts a request.
func (m *metrics) add(route string, code int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.routes[route]
	r.codes[code]++
	r.buckets[sort.SearchFloat64s(bounds, took.Seconds())]++
	r.sum += took
}

// write writes the counts by route.
func (m *metrics) write(b *strings.Builder, head func(name, kind, help string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.routes))
	head("infill_requests_total", "counter", "Requests, by route and status code.")
	for _, name := range names {
		for _, code := range slices.Sorted(maps.Keys(m.routes[name].codes)) {
			fmt.Fprintf(b, "infill_requests_total{route=%s,code=\"%d\"} %d\n", label(name), code,
				m.routes[name].codes[code])
		}
	}
	const latency = "infill_request_seconds"
	head(latency, "histogram", "Time until the end of the answer.")
	for _, name := range names {
		r, n := m.routes[name], int64(0)
		for i, count := range r.buckets {
			n += count
			bound := "+Inf"
			if i < len(bounds) {
				bound = strconv.FormatFloat(bounds[i], 'g', -1, 64)
			}
			fmt.Fprintf(b, "%s_bucket{route=%s,le=%q} %d\n", latency, label(name), bound, n)
		}
		fmt.Fprintf(b, "%s_sum{route=%s} %g\n%[1]s_count{route=%[2]s} %[4]d\n", latency, label(name),
			r.sum.Seconds(), n)
	}
}

// label is the value of a label, quoted as Prometheus wants.
func label(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
