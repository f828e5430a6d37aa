package serve

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/weftgraph/weft"
)

// Metrics are the numbers of a server for Prometheus.
type Metrics struct {
	Registry *prometheus.Registry

	queries *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	waited  prometheus.Histogram
	rows    *prometheus.CounterVec
	bytes   *prometheus.CounterVec
	refusal *prometheus.CounterVec
	wrong   prometheus.Counter
}

func newMetrics(s *Server) *Metrics {
	buckets := prometheus.ExponentialBuckets(0.0005, 4, 12)
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		queries:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "weft_queries_total", Help: "Queries that ended, by the reason for which they were cut short."}, []string{"kind", "protocol", "cut"}),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "weft_query_seconds", Help: "Time of queries, without waiting.", Buckets: buckets}, []string{"kind"}),
		waited:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "weft_query_waiting_seconds", Help: "Time that queries waited for their turn.", Buckets: buckets}),
		rows:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "weft_rows_total", Help: "Rows of results."}, []string{"protocol"}),
		bytes:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "weft_result_bytes_total", Help: "Bytes of rows that were written."}, []string{"protocol"}),
		refusal:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "weft_refused_total", Help: "Requests that were refused, by the reason."}, []string{"code"}),
		wrong:    prometheus.NewCounter(prometheus.CounterOpts{Name: "weft_wrong_credentials_total", Help: "Attempts with wrong credentials."}),
	}
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	m.Registry.MustRegister(
		m.queries, m.seconds, m.waited, m.rows, m.bytes, m.refusal, m.wrong,
		gauge("weft_queries_running", "Queries that run now.", func() float64 { n, _ := s.queue.counts(); return float64(n) }),
		gauge("weft_queries_waiting", "Queries that wait for their turn now.", func() float64 { _, n := s.queue.counts(); return float64(n) }),
		gauge("weft_graphs", "Graphs that are open.", func() float64 { return float64(len(s.Catalog.List())) }),
		gauge("weft_graphs_replaced", "Open graphs whose file was replaced.", func() (n float64) {
			for _, g := range s.Catalog.List() {
				if g.Replaced {
					n++
				}
			}
			return n
		}),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// ended counts a run that was closed.
func (m *Metrics) ended(r *Run) {
	s := r.Summary()
	kind, protocol, cut := string(r.Request.Kind), r.Request.Protocol, string(s.Cut)
	if cut == "" && s.Err != nil {
		cut = "error"
	}
	m.queries.WithLabelValues(kind, protocol, cut).Inc()
	m.seconds.WithLabelValues(kind).Observe(s.Total.Seconds())
	m.waited.Observe(s.Waited.Seconds())
	m.rows.WithLabelValues(protocol).Add(float64(s.Rows))
	m.bytes.WithLabelValues(protocol).Add(float64(r.sent.Load()))
}

// refused counts a request that no run was made of.
func (m *Metrics) refused(err error) {
	code := "query"
	var e *Error
	switch {
	case errors.As(err, &e):
		code = string(e.Code)
	case errors.Is(err, weft.ErrUsage):
		code = "usage"
	}
	m.refusal.WithLabelValues(code).Inc()
}

// Refused counts a request that a protocol refused, as for wrong credentials.
func (m *Metrics) Refused(err error) {
	m.refused(err)
	var e *Error
	if errors.As(err, &e) && e.Code == Credentials {
		m.wrong.Inc()
	}
}
