package server

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// bounds are those of the latency histogram, in seconds.
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

// routeCounts are those of a route.
type routeCounts struct {
	codes   map[int]int64
	buckets []int64 // as bounds, and one for all longer ones
	sum     time.Duration
}

func newMetrics(routes []route) *metrics {
	m := &metrics{routes: map[string]*routeCounts{}}
	for _, r := range routes {
		m.routes[r.name()] = &routeCounts{codes: map[int]int64{},
			buckets: make([]int64, len(bounds)+1)}
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

// write writes the counts by route.
func (m *metrics) write(b *strings.Builder, head func(name, kind, help string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for name := range m.routes {
		names = append(names, name)
	}
	slices.Sort(names)
	head("infill_requests_total", "counter", "Requests, by route and status code.")
	for _, name := range names {
		var codes []int
		for code := range m.routes[name].codes {
			codes = append(codes, code)
		}
		slices.Sort(codes)
		for _, code := range codes {
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
