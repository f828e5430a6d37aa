package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft"
)

// serveMetrics serves the latest status to Prometheus until stop is called.
//
// It answers requests by itself. Package net/http would add 6 MB to the program, and to the start of every command.
func (a *app) serveMetrics(address string, latest *atomic.Pointer[weft.FollowStatus]) (stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", address)
	if err != nil {
		return nil, usagef("--metrics %s: %v", address, err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // of this connection, or too many are open
				time.Sleep(10 * time.Millisecond)
				continue
			}
			open.Go(func() { answerMetrics(c, latest) })
		}
	})
	fmt.Fprintf(a.stderr, "weft: metrics are at http://%s/metrics\n", l.Addr())
	return func() {
		_ = l.Close()
		open.Wait() // each connection has a deadline
	}, nil
}

// answerMetrics answers one request of a connection, and closes it.
func answerMetrics(c net.Conn, latest *atomic.Pointer[weft.FollowStatus]) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	r := bufio.NewScanner(io.LimitReader(c, 64<<10))
	if !r.Scan() {
		return
	}
	request := strings.Fields(r.Text())
	for r.Scan() && r.Text() != "" { // its headers
	}
	status, kind, body := "200 OK", "text/plain; version=0.0.4; charset=utf-8", ""
	switch s := latest.Load(); {
	case len(request) != 3 || !strings.HasPrefix(request[2], "HTTP/1."):
		status, kind, body = "400 Bad Request", "text/plain", "this is not a request of HTTP/1\n"
	case request[0] != "GET":
		status, kind, body = "405 Method Not Allowed", "text/plain", "only GET is answered\n"
	case request[1] != "/metrics":
		status, kind, body = "404 Not Found", "text/plain", "there is /metrics only\n"
	case s != nil:
		body = metricsText(s)
	}
	fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, kind, len(body), body)
}

// metricsText is a status in the text format of Prometheus.
func metricsText(s *weft.FollowStatus) string {
	var b strings.Builder
	metric := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP weft_watch_%s %s\n# TYPE weft_watch_%s %s\n", name, help, name, kind)
	}
	value := func(name, kind, help string, x any) {
		metric(name, kind, help)
		fmt.Fprintf(&b, "weft_watch_%s %v\n", name, x)
	}
	value("updates_total", "counter", "Updates so far.", s.Updates)
	value("updates_per_second", "gauge", "Updates in a second, lately.", s.Rate)
	value("waiting_updates", "gauge", "Updates that were read and wait.", s.Waiting)
	value("source_offset_bytes", "gauge", "Bytes of the source that were read.", s.Offset)
	value("memory_bytes", "gauge", "Memory of the process.", s.Memory)
	value("duplicate_updates_total", "counter", "Updates that the graph had already.", s.Duplicates)
	value("absent_updates_total", "counter", "Updates of edges and vertices that the graph did not have.", s.Absent)
	value("self_loop_updates_total", "counter", "Updates whose ends are one vertex.", s.SelfLoops)
	metric("mistakes_total", "counter", "Updates with mistakes that were passed over.")
	for _, kind := range []string{"malformed", "bad_id", "bad_time", "bad_text", "late"} {
		fmt.Fprintf(&b, "weft_watch_mistakes_total{kind=%q} %d\n", kind, s.Mistakes[kind])
	}
	if g := s.GPU; g != nil {
		value("gpu_busy_ratio", "gauge", "The share of the time in which the GPU's warps searched, lately.", g.Busy)
		value("gpu_lists_bytes", "gauge", "Memory of the GPU that neighbour lists take.", g.Lists)
		value("gpu_lists_most_bytes", "gauge", "The most memory of the GPU that neighbour lists took.", g.Most)
		value("gpu_lists_room_bytes", "gauge", "Memory of the GPU that there is for neighbour lists.", g.Room)
	}
	metric("response_seconds", "summary", "Time from reading an update to writing its changes.")
	for _, q := range []struct {
		share string
		d     time.Duration
	}{{"0.5", s.P50}, {"0.95", s.P95}, {"0.99", s.P99}} {
		fmt.Fprintf(&b, "weft_watch_response_seconds{quantile=%q} %g\n", q.share, q.d.Seconds())
	}
	metric("matches_total", "counter", "Matches that updates added and removed.")
	for _, q := range s.Queries {
		name := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(q.Name)
		if q.Added != nil {
			fmt.Fprintf(&b, "weft_watch_matches_total{query=\"%s\",op=\"added\"} %v\n", name, q.Added)
		}
		if q.Removed != nil {
			fmt.Fprintf(&b, "weft_watch_matches_total{query=\"%s\",op=\"removed\"} %v\n", name, q.Removed)
		}
	}
	return b.String()
}
