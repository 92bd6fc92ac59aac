package server

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"infill/server/api"
)

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
