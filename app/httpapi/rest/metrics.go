package rest

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// MetricsType is the content type of the Prometheus text format.
const MetricsType = "text/plain; version=0.0.4; charset=utf-8"

// requestMetrics counts the API's answers. The labels are the method, the route's pattern and the class of the status,
// never values from a client.
type requestMetrics struct {
	gauges    func() []Gauge // nil: none
	anonymous *anonymousRequests
	routes    []*opCounter
}

// opCounter counts the answers of one operation and their durations.
//
// The library has such histograms since v1.38.0. But since then every program that links it, including app's commands,
// logs a line to standard error before main if the kernel has no pressure stall information, which is the default on
// Red Hat. The dependency therefore stays at v1.35.1.
type opCounter struct {
	labels  string           // method="GET",route="/account"
	answers [6]atomic.Uint64 // by class of status
	took    [len(bounds) + 1]atomic.Uint64
	seconds atomic.Uint64 // the sum, as the bits of a float64
}

// bounds are the upper bounds of the histogram's buckets, in seconds.
var bounds = [...]float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Gauge is a measurement that can increase and decrease, such as the size of the store, or with Total a counter since
// the service's start.
type Gauge struct {
	Name  string // app_store_bytes: includes the unit; a counter ends in _total
	Help  string // a sentence
	Value float64
	Total bool
	Label [2]string // name and value of the only label, such as the cause of a refusal; empty: no label
}

// of returns the counter of an operation. It is not safe for concurrent use.
func (m *requestMetrics) of(method, path string) *opCounter {
	labels := fmt.Sprintf("method=%q,route=%q", method, path)
	for _, r := range m.routes {
		if r.labels == labels {
			return r
		}
	}
	r := &opCounter{labels: labels}
	m.routes = append(m.routes, r)
	slices.SortFunc(m.routes, func(a, b *opCounter) int { return cmp.Compare(a.labels, b.labels) })
	return r
}

// observe counts an answer.
func (m *opCounter) observe(status int, took time.Duration) {
	m.answers[status/100].Add(1)
	seconds := took.Seconds()
	at, _ := slices.BinarySearch(bounds[:], seconds)
	m.took[at].Add(1)
	for {
		old := m.seconds.Load()
		if m.seconds.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+seconds)) {
			return
		}
	}
}

// observe counts an answer.
func (a *API) observe(rt *Route, status int, took time.Duration) {
	rt.counter.observe(status, took)
}

// prometheus returns all metrics in the Prometheus text format: the API's answers, the appliance and the process.
func (m *requestMetrics) prometheus() []byte {
	var b bytes.Buffer
	list := m.anonymous.gauges()
	if m.gauges != nil {
		list = append(list, m.gauges()...)
	}
	slices.SortStableFunc(list, func(a, b Gauge) int { return strings.Compare(a.Name, b.Name) })
	for i := range list {
		g := &list[i]
		if i == 0 || list[i-1].Name != g.Name {
			head(&b, g.Name, g.Help, map[bool]string{false: "gauge", true: "counter"}[g.Total])
		}
		b.WriteString(g.Name)
		if g.Label[0] != "" {
			fmt.Fprintf(&b, "{%s=%q}", g.Label[0], g.Label[1])
		}
		fmt.Fprintf(&b, " %s\n", number64(g.Value))
	}
	head(&b, "app_http_requests_total", "Requests answered.", "counter")
	for _, r := range m.routes {
		for class := range r.answers {
			if n := r.answers[class].Load(); n > 0 {
				fmt.Fprintf(&b, "app_http_requests_total{%s,status=\"%dxx\"} %d\n", r.labels, class, n)
			}
		}
	}
	head(&b, "app_http_request_duration_seconds", "Time from a request's headers to its answer.", "histogram")
	for _, r := range m.routes {
		r.histogram(&b)
	}
	metrics.WriteProcessMetrics(&b)
	return b.Bytes()
}

// Metrics returns all metrics in the Prometheus text format.
func (c *Call) Metrics() []byte { return c.api.metrics.prometheus() }

func (m *opCounter) histogram(b *bytes.Buffer) {
	const name = "app_http_request_duration_seconds"
	sum, count := math.Float64frombits(m.seconds.Load()), uint64(0)
	for i := range m.took {
		count += m.took[i].Load()
		bound := "+Inf"
		if i < len(bounds) {
			bound = number64(bounds[i])
		}
		fmt.Fprintf(b, "%s_bucket{%s,le=%q} %d\n", name, m.labels, bound, count)
	}
	fmt.Fprintf(b, "%s_sum{%s} %s\n%s_count{%s} %d\n", name, m.labels, number64(sum), name, m.labels, count)
}

func head(b *bytes.Buffer, name, help, kind string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func number64(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
