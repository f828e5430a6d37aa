package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/regex"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
	"github.com/weftgraph/weft/internal/serve/boltserver"
	"github.com/weftgraph/weft/internal/serve/rest"
)

// benchServeFlags are those of bench serve.
type benchServeFlags struct {
	commonFlags
	path, query, rows string
	long              string
	measure           []string
	requests          int
	clients           int
	during            time.Duration
	runs              int
}

func (a *app) benchServeCmd() *cobra.Command {
	var f benchServeFlags
	cmd := &cobra.Command{
		Use:   "serve -g FILE [flags] [QUERY]",
		Short: "measure what the server adds to the library",
		Long: `Start a server of the graph on this machine, and measure it. Server and clients share the
process, and so the cores, except for start. The query is a small one, which is counted; without
one it is a triangle.

Parts (--measure):
  latency  the median time of a count by the library, over HTTP and over Bolt, in turns, one
           client. Bolt takes no engine and no device, and is left out if either is named
  again    the first count of the query over HTTP, and the median of --runs further ones: the
           whole time, its search, and what is not search
  clients  --clients clients ask for --during over HTTP; errors and times; the process's memory
           and Go's objects in it, before and after each quarter of the time
  rows     all rows of --rows: as Arrow by the library to a pipe and over HTTP, and over Bolt in
           batches of 1000, of which the client decodes each value
  start    from the start of weft serve, a process of its own, to its first answer
  gone     from the end of a client's connection to the end of its search, --runs times: the
           median and the longest, of a count and of rows over HTTP, and of rows over Bolt. Only
           if named, because it needs a long query: --long

Columns: the part, the name of the figure, the value and its unit.

` + exitCodesNoTimeout,
		Example: `  weft bench serve -g graph.weft
  weft bench serve -g graph.weft --measure clients --clients 256 --during 10m
  weft bench serve -g graph.weft --measure rows --rows 'MATCH (a)--(b)--(c)' --to json`,
		RunE: func(_ *cobra.Command, args []string) error { return a.benchServe(&f, args) },
	}
	f.addWriting(cmd)
	fs := cmd.Flags()
	fs.StringVarP(&f.path, "graph", "g", "", "graph `FILE`")
	fs.StringVar(&f.engine, "engine", "auto", "engine of the counts of latency, again and clients: auto, "+engineNames())
	fs.StringVar(&f.device, "device", "auto", "device of these counts: cpu, or gpu:0 for a GPU")
	fs.IntVar(&f.threads, "threads", 0, "threads of a query; 0 means one for each core")
	fs.StringVar(&f.rows, "rows", "MATCH (a)--(b)--(c)--(a)", "`QUERY` whose rows are sent")
	fs.StringVar(&f.long, "long", "MATCH (a)--(b)--(c)--(d)--(e)--(a), (a)--(c), (b)--(d), (c)--(e)", "`QUERY` whose clients go, for gone")
	fs.StringSliceVar(&f.measure, "measure", benchServeUsual, "`PARTS` to measure, with commas")
	fs.IntVar(&f.requests, "requests", 2000, "requests of latency")
	fs.IntVar(&f.clients, "clients", 256, "clients at the same time")
	fs.DurationVar(&f.during, "during", 10*time.Second, "how long they ask")
	fs.IntVar(&f.runs, "runs", 5, "runs of again, rows, start and gone; the median is shown")
	return cmd
}

// benchServeUsual are the parts that any graph has figures for.
var benchServeUsual = []string{"latency", "again", "clients", "rows", "start"}

var benchServeParts = append(slices.Clone(benchServeUsual), "gone")

// figure is a line of the output.
type figure struct {
	Part  string  `json:"part"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

func (f *benchServeFlags) checkBench(ctx context.Context, args []string) error {
	for _, m := range f.measure {
		if !slices.Contains(benchServeParts, m) {
			return usagef("--measure %q: want %s", m, strings.Join(benchServeParts, ", "))
		}
	}
	switch {
	case f.path == "":
		return errNoGraph
	case len(args) > 1:
		return usagef("one query at a time")
	case f.requests < 1 || f.clients < 1 || f.during <= 0 || f.runs < 1:
		return usagef("--requests, --clients, --during and --runs must be above 0")
	}
	if f.query = "MATCH (a)--(b)--(c)--(a) RETURN count(*)"; len(args) == 1 {
		f.query = args[0]
	}
	formats := []string{"ndjson", "json", "csv", "table"}
	if f.to != "" && !slices.Contains(formats, f.to) {
		return usagef("--to %q: want %s", f.to, strings.Join(formats, ", "))
	}
	f.progress = "none"
	return f.checkValues(ctx)
}

// served is a server of this process.
type served struct {
	url    string
	bolt   string // address
	graph  *weft.Graph
	server *serve.Server
	client *http.Client
	close  func()
}

func (a *app) benchServe(f *benchServeFlags, args []string) error {
	if err := f.checkBench(a.ctx, args); err != nil {
		return err
	}
	q, err := weft.Parse(f.query)
	if err != nil {
		return err
	}
	var out []figure
	for _, part := range f.measure {
		var more []figure
		var s *served
		if part != "start" {
			if s, err = a.served(f); err != nil {
				return err
			}
		}
		switch part {
		case "latency":
			more, err = f.latency(a.ctx, s, q)
		case "again":
			more, err = f.again(a.ctx, s)
		case "clients":
			more, err = f.many(a.ctx, s)
		case "rows":
			more, err = f.sending(a.ctx, s)
		case "start":
			more, err = f.start(a.ctx)
		case "gone":
			more, err = f.gone(a.ctx, s)
		}
		if s != nil {
			s.close()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
		for i := range more {
			more[i].Part = part
		}
		out = append(out, more...)
	}
	to, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	return to.finish(writeFigures(to, f.outFormat(), out))
}

func writeFigures(w io.Writer, to string, all []figure) error {
	switch to {
	case "json":
		return json.NewEncoder(w).Encode(all)
	case "ndjson":
		e := json.NewEncoder(w)
		for _, x := range all {
			if err := e.Encode(x); err != nil {
				return err
			}
		}
		return nil
	}
	format, head := "%-8s %-24s %14.4g %s\n", "%-8s %-24s %14s %s\n"
	if to == "csv" {
		format, head = "%s,%s,%g,%s\n", "%s,%s,%s,%s\n"
	}
	if _, err := fmt.Fprintf(w, head, "part", "name", "value", "unit"); err != nil {
		return err
	}
	for _, x := range all {
		if _, err := fmt.Fprintf(w, format, x.Part, x.Name, x.Value, x.Unit); err != nil {
			return err
		}
	}
	return nil
}

// served starts a server of the graph.
func (a *app) served(f *benchServeFlags) (*served, error) {
	rt := weft.NewRuntime(weft.RuntimeOptions{Threads: f.threads})
	catalog := serve.NewCatalog(serve.CatalogOptions{Runtime: rt})
	if err := catalog.Open(a.ctx, serve.Source{Name: "g", Path: f.path}); err != nil {
		return nil, err
	}
	lease, err := catalog.Acquire("g")
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", "localhost:0")
	if err != nil {
		return nil, err
	}
	b, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", "localhost:0")
	if err != nil {
		l.Close()
		return nil, err
	}
	server := serve.New(serve.Options{Catalog: catalog})
	drivers := bolt.New(boltserver.New(server), bolt.Options{Version: weft.Version()})
	go func() { _ = drivers.Serve(b) }()
	handler := rest.New(rest.Options{Server: server})
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = web.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: f.clients}}
	return &served{"http://" + l.Addr().String(), b.Addr().String(), lease.Graph, server, client, func() {
		client.CloseIdleConnections()
		_ = web.Close()
		now, cancel := context.WithCancel(a.ctx)
		cancel()
		drivers.Shutdown(now)
		handler.Close()
		lease.Release()
		catalog.Close()
		_ = rt.Close()
	}}, nil
}

// ask sends a request, and returns the answer's body to read.
func (s *served) ask(ctx context.Context, path, accept string, body []byte) (io.ReadCloser, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	resp, err := s.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		return nil, nil, fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(text))
	}
	return resp.Body, resp.Trailer, nil
}

// count asks for a count, and returns the whole answer.
func (s *served) count(ctx context.Context, body []byte) ([]byte, error) {
	answer, _, err := s.ask(ctx, "/v1/count", "application/json", body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	return io.ReadAll(answer)
}

// counting is the body of a request that counts the query.
func (f *benchServeFlags) counting() []byte {
	b, _ := json.Marshal(map[string]string{"graph": "g", "query": f.query, "engine": f.engine, "device": f.device})
	return b
}

// listing is the body of a request for rows.
func (f *benchServeFlags) listing() []byte {
	b, _ := json.Marshal(map[string]string{"graph": "g", "query": f.rows})
	return b
}

// boltBatch is the number of rows that drivers ask for at a time.
const boltBatch = 1000

// quantile is the value at a share of sorted times.
func quantile(sorted []time.Duration, share float64) time.Duration {
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func inMillis(d time.Duration) float64 { return float64(d) / 1e6 }

// overBolt is the text of the query over Bolt, where RETURN alone asks for a count.
func (f *benchServeFlags) overBolt(q *weft.Query) (string, error) {
	if _, counts := q.AsksCount(); counts {
		return f.query, nil
	}
	text := f.query + " RETURN count(*)"
	if with, err := weft.Parse(text); err == nil {
		if _, counts := with.AsksCount(); counts {
			return text, nil
		}
	}
	return "", usagef("latency: over Bolt a count ends with RETURN count(*)")
}

// latency asks in turns, so that what else the machine does slows all ways alike.
func (f *benchServeFlags) latency(ctx context.Context, s *served, q *weft.Query) ([]figure, error) {
	type way struct {
		name string
		ask  func() error
		took []time.Duration
	}
	body := f.counting()
	options := []weft.Option{weft.WithEngine(f.engine), weft.WithDevice(f.device)}
	ways := []*way{
		{name: "library", ask: func() error { _, err := s.graph.Count(ctx, q, options...); return err }},
		{name: "http", ask: func() error { _, err := s.count(ctx, body); return err }},
	}
	if f.engine == "auto" && f.device == "auto" {
		text, err := f.overBolt(q)
		if err != nil {
			return nil, err
		}
		c, err := bolt.Dial(ctx, s.bolt)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		ways = append(ways, &way{name: "bolt", ask: func() error {
			rows := 0
			_, err := c.Rows("g", text, nil, boltBatch, func([]any) { rows++ })
			if err == nil && rows != 1 {
				err = fmt.Errorf("the count over Bolt has %d rows", rows)
			}
			return err
		}})
	}
	for i := range f.requests + 100 {
		for _, w := range ways {
			start := time.Now()
			if err := w.ask(); err != nil {
				return nil, err
			}
			if i >= 100 { // after warming up
				w.took = append(w.took, time.Since(start))
			}
		}
	}
	var out []figure
	var library time.Duration
	for i, w := range ways {
		slices.Sort(w.took)
		p50 := quantile(w.took, 0.5)
		out = append(out, figure{Name: w.name + "_p50", Value: inMillis(p50), Unit: "ms"})
		if i == 0 {
			library = p50
			continue
		}
		out = append(out, figure{Name: w.name + "_adds", Value: inMillis(p50 - library), Unit: "ms"}, figure{Name: w.name + "_p99", Value: inMillis(quantile(w.took, 0.99)), Unit: "ms"})
	}
	return out, nil
}

// again is what a query costs that the server has answered before: the difference of the whole time, as the client sees it, and of the
// search that the answer states.
func (f *benchServeFlags) again(ctx context.Context, s *served) ([]figure, error) {
	body := f.counting()
	var first time.Duration
	var whole, search, rest []time.Duration
	for i := range f.runs + 1 {
		start := time.Now()
		text, err := s.count(ctx, body)
		if err != nil {
			return nil, err
		}
		took := time.Since(start)
		var answer struct {
			Result struct {
				Seconds struct {
					Search float64 `json:"search"`
				} `json:"seconds"`
			} `json:"result"`
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			return nil, err
		}
		if i == 0 {
			first = took
			continue
		}
		searching := time.Duration(answer.Result.Seconds.Search * 1e9)
		whole, search, rest = append(whole, took), append(search, searching), append(rest, took-searching)
	}
	for _, all := range [][]time.Duration{whole, search, rest} {
		slices.Sort(all)
	}
	return []figure{
		{Name: "first", Value: inMillis(first), Unit: "ms"}, {Name: "again_p50", Value: inMillis(quantile(whole, 0.5)), Unit: "ms"},
		{Name: "search_p50", Value: inMillis(quantile(search, 0.5)), Unit: "ms"}, {Name: "besides_p50", Value: inMillis(quantile(rest, 0.5)), Unit: "ms"},
	}, nil
}

// sending is the part rows.
func (f *benchServeFlags) sending(ctx context.Context, s *served) ([]figure, error) {
	q, err := weft.Parse(f.rows)
	if err != nil {
		return nil, err
	}
	var bytes, rows int64
	ways := []struct {
		name string
		send func() error
	}{
		{"pipe", func() error { return s.toPipe(ctx, q) }},
		{"http", func() (err error) { bytes, rows, err = s.arrow(ctx, f.listing()); return err }},
		{"bolt", func() error {
			n, err := s.boltRows(ctx, f.rows)
			if err == nil && n != rows {
				err = fmt.Errorf("%d rows over HTTP, and %d over Bolt", rows, n)
			}
			return err
		}},
	}
	took := make([][]time.Duration, len(ways))
	for run := range f.runs + 1 {
		for i, w := range ways {
			start := time.Now()
			if err := w.send(); err != nil {
				return nil, err
			}
			if run > 0 { // the first warms up
				took[i] = append(took[i], time.Since(start))
			}
		}
	}
	out := []figure{{Name: "rows", Value: float64(rows), Unit: ""}, {Name: "bytes", Value: float64(bytes), Unit: "B"}}
	for i, w := range ways {
		slices.Sort(took[i])
		out = append(out, figure{Name: w.name + "_rows_per_s", Value: float64(rows) / quantile(took[i], 0.5).Seconds(), Unit: "1/s"})
	}
	return append(out, figure{Name: "http_to_pipe", Value: float64(quantile(took[0], 0.5)) / float64(quantile(took[1], 0.5)), Unit: ""}), nil
}

// toPipe lists matches as Arrow to a pipe, whose other end drops them.
func (s *served) toPipe(ctx context.Context, q *weft.Query) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, r)
	}()
	_, err = s.graph.List(ctx, q, w, "arrow")
	w.Close()
	<-read
	return err
}

// arrow asks for all rows as Arrow over HTTP.
func (s *served) arrow(ctx context.Context, body []byte) (bytes, rows int64, err error) {
	answer, trailer, err := s.ask(ctx, "/v1/match", "application/vnd.apache.arrow.stream", body)
	if err != nil {
		return 0, 0, err
	}
	bytes, err = io.Copy(io.Discard, answer)
	answer.Close()
	if err != nil {
		return 0, 0, err
	}
	if trailer.Get("Weft-Complete") != "true" {
		return 0, 0, fmt.Errorf("the result was cut short: %s", trailer.Get("Weft-Cut"))
	}
	rows, err = strconv.ParseInt(trailer.Get("Weft-Rows"), 10, 64)
	return bytes, rows, err
}

// boltRows asks for all rows over a new connection of Bolt.
func (s *served) boltRows(ctx context.Context, text string) (rows int64, err error) {
	c, err := bolt.Dial(ctx, s.bolt)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	_, err = c.Rows("g", text, nil, boltBatch, func([]any) { rows++ })
	return rows, err
}

// answeringAt is what weft serve says when it listens.
var answeringAt = regex.Once(`answering at (\S+)`)

func (f *benchServeFlags) start(ctx context.Context) ([]figure, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []time.Duration
	for range f.runs {
		took, err := f.startOnce(ctx, program)
		if err != nil {
			return nil, err
		}
		all = append(all, took)
	}
	slices.Sort(all)
	return []figure{{Name: "first_answer", Value: inMillis(quantile(all, 0.5)), Unit: "ms"}}, nil
}

// startOnce is the time from the start of a server to its first answer.
func (f *benchServeFlags) startOnce(ctx context.Context, program string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, program, "serve", "-g", "g="+f.path, "--listen", "localhost:0", "--log", "none")
	messages, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines, text := bufio.NewScanner(messages), ""
	for lines.Scan() {
		text += lines.Text() + "\n"
		m := answeringAt().FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		s := &served{url: m[1], client: &http.Client{}}
		_, err := s.count(ctx, f.counting())
		took := time.Since(start)
		s.client.CloseIdleConnections()
		return took, err
	}
	return 0, fmt.Errorf("weft serve ended: %s", strings.TrimSpace(text))
}
