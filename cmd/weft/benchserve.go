package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	weftmemory "github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/regex"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/rest"
)

// benchServeFlags are those of bench serve.
type benchServeFlags struct {
	commonFlags
	path, query, rows string
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
  latency  the median time of a count by the library and over HTTP, in turns, one client
  again    the first count of the query over HTTP, and the median of --runs further ones: the
           whole time, its search, and what is not search
  clients  --clients clients ask for --during; errors, times, and memory before and after
  rows     all rows of --rows as Arrow: by the library to a pipe, and over HTTP
  start    from the start of weft serve, a process of its own, to its first answer

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
	fs.StringSliceVar(&f.measure, "measure", benchServeParts, "`PARTS` to measure, with commas")
	fs.IntVar(&f.requests, "requests", 2000, "requests of latency")
	fs.IntVar(&f.clients, "clients", 256, "clients at the same time")
	fs.DurationVar(&f.during, "during", 10*time.Second, "how long they ask")
	fs.IntVar(&f.runs, "runs", 5, "runs of again, rows and start; the median is shown")
	return cmd
}

var benchServeParts = []string{"latency", "again", "clients", "rows", "start"}

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
	graph  *weft.Graph
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
			more, err = f.arrow(a.ctx, s)
		case "start":
			more, err = f.start(a.ctx)
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
	handler := rest.New(rest.Options{Server: serve.New(serve.Options{Catalog: catalog})})
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = web.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: f.clients}}
	return &served{"http://" + l.Addr().String(), lease.Graph, client, func() {
		client.CloseIdleConnections()
		_ = web.Close()
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

// quantile is the value at a share of sorted times.
func quantile(sorted []time.Duration, share float64) time.Duration {
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func inMillis(d time.Duration) float64 { return float64(d) / 1e6 }

func (f *benchServeFlags) latency(ctx context.Context, s *served, q *weft.Query) ([]figure, error) {
	body := f.counting()
	options := []weft.Option{weft.WithEngine(f.engine), weft.WithDevice(f.device)}
	var library, web []time.Duration
	for i := range f.requests + 100 {
		start := time.Now()
		if _, err := s.graph.Count(ctx, q, options...); err != nil {
			return nil, err
		}
		first := time.Since(start)
		start = time.Now()
		if _, err := s.count(ctx, body); err != nil {
			return nil, err
		}
		if i >= 100 { // after warming up
			library, web = append(library, first), append(web, time.Since(start))
		}
	}
	slices.Sort(library)
	slices.Sort(web)
	a, b := quantile(library, 0.5), quantile(web, 0.5)
	return []figure{
		{Name: "library_p50", Value: inMillis(a), Unit: "ms"}, {Name: "http_p50", Value: inMillis(b), Unit: "ms"}, {Name: "http_adds", Value: inMillis(b - a), Unit: "ms"},
		{Name: "http_p99", Value: inMillis(quantile(web, 0.99)), Unit: "ms"},
	}, nil
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

func (f *benchServeFlags) many(ctx context.Context, s *served) ([]figure, error) {
	body := f.counting()
	var mu sync.Mutex
	var all []time.Duration
	var failed int
	var first error
	run := func(d time.Duration, keep bool) {
		end := time.Now().Add(d)
		var clients sync.WaitGroup
		for range f.clients {
			clients.Go(func() {
				var mine []time.Duration
				for time.Now().Before(end) && ctx.Err() == nil {
					start := time.Now()
					_, err := s.count(ctx, body)
					mine = append(mine, time.Since(start))
					if err != nil {
						mu.Lock()
						failed++
						first = cmp.Or(first, err)
						mu.Unlock()
					}
				}
				if keep {
					mu.Lock()
					all = append(all, mine...)
					mu.Unlock()
				}
			})
		}
		clients.Wait()
	}
	run(f.during/10, false) // until all connections are open, and memory is as it will be
	before := weftmemory.InUse()
	run(f.during, true)
	after := weftmemory.InUse()
	if len(all) == 0 {
		return nil, context.Cause(ctx)
	}
	slices.Sort(all)
	p50, p99 := quantile(all, 0.5), quantile(all, 0.99)
	if first != nil {
		return nil, fmt.Errorf("%d of %d requests failed; the first: %w", failed, len(all), first)
	}
	return []figure{
		{Name: "clients", Value: float64(f.clients), Unit: ""}, {Name: "requests", Value: float64(len(all)), Unit: ""}, {Name: "errors", Value: float64(failed), Unit: ""},
		{Name: "requests_per_s", Value: float64(len(all)) / f.during.Seconds(), Unit: "1/s"},
		{Name: "p50", Value: inMillis(p50), Unit: "ms"}, {Name: "p99", Value: inMillis(p99), Unit: "ms"}, {Name: "p99_to_p50", Value: float64(p99) / float64(p50), Unit: ""},
		{Name: "memory_before", Value: float64(before) / (1 << 20), Unit: "MiB"}, {Name: "memory_after", Value: float64(after) / (1 << 20), Unit: "MiB"},
	}, nil
}

func (f *benchServeFlags) arrow(ctx context.Context, s *served) ([]figure, error) {
	q, err := weft.Parse(f.rows)
	if err != nil {
		return nil, err
	}
	var pipe, web []time.Duration
	var bytes, rows float64
	for range f.runs + 1 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		start := time.Now()
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, r)
		}()
		_, err = s.graph.List(ctx, q, w, "arrow")
		w.Close()
		<-read
		r.Close()
		if err != nil {
			return nil, err
		}
		pipe = append(pipe, time.Since(start))
		start = time.Now()
		answer, trailer, err := s.ask(ctx, "/v1/match", "application/vnd.apache.arrow.stream", f.listing())
		if err != nil {
			return nil, err
		}
		n, err := io.Copy(io.Discard, answer)
		answer.Close()
		if err != nil {
			return nil, err
		}
		if trailer.Get("Weft-Complete") != "true" {
			return nil, fmt.Errorf("the result was cut short: %s", trailer.Get("Weft-Cut"))
		}
		bytes = float64(n)
		_, _ = fmt.Sscan(trailer.Get("Weft-Rows"), &rows)
		web = append(web, time.Since(start))
	}
	pipe, web = pipe[1:], web[1:] // the first warms up
	slices.Sort(pipe)
	slices.Sort(web)
	a, b := quantile(pipe, 0.5), quantile(web, 0.5)
	return []figure{
		{Name: "rows", Value: rows, Unit: ""}, {Name: "bytes", Value: bytes, Unit: "B"},
		{Name: "pipe_rows_per_s", Value: rows / a.Seconds(), Unit: "1/s"}, {Name: "http_rows_per_s", Value: rows / b.Seconds(), Unit: "1/s"},
		{Name: "http_to_pipe", Value: float64(a) / float64(b), Unit: ""},
	}, nil
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
