package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/route"
	weftruntime "github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/vfs"
	"github.com/weftgraph/weft/internal/watch"
)

// benchWatchFlags are those of bench watch.
type benchWatchFlags struct {
	queryFlags
	commonFlags
	path, source, updates string
	batches               []int
	runs                  int
	each                  bool
	load, usage           string
	arrive                load // what load says
}

func (a *app) benchWatchCmd() *cobra.Command {
	var f benchWatchFlags
	cmd := &cobra.Command{
		Use:   "watch -g FILE --source UPDATES [flags] [QUERY]",
		Short: "measure how fast updates of a graph are matched",
		Long: `Make all updates of a stream, for each query alone, and count the matches that come and
go. The updates are read before, and each query and run begins with the graph as the
file has it. Matches are counted and not listed, as by weft watch --summary.

With --load the updates are made once more, and arrive at a steady rate: N a second, or
a share of updates_per_s, as 50%. Those that have arrived are made together, up to the
size of batches. Response times are then from the arrival of an update to its answer.
With --each they are made once more at the full rate, and response times are from the
begin of an update to its answer. Answers come in the order of updates, and those of the
first updates of a batch may come before the last ones are made.

Columns:
  batch       updates that are made together, at most
  added, removed
              embeddings that came and that went
  search_ms   finding matches, the least of the runs; one thread looks at the clock for
              one of eleven changes, and takes it for the others
  update_ms   changing the graph, of the same run
  late_ms     changes that no query looks at, as far as they were put off until after the
              last update, of the same run; --engine-opt host.late=off puts none off
  add_ms      planning the query and relating it to the graph, before the updates; of the
              same run
  searches_per_s
              updates divided by search_ms
  updates_per_s
              updates divided by both times
  load_per_s  updates that arrived in a second, with --load
  gpu_busy    the share of the time in which the GPU's warps searched, with engine pipeline;
              of the same run
  gpu_lists_bytes
              the most memory of the GPU that neighbour lists took, with engine pipeline
  p50_us, p95_us, p99_us
              times from the begin of a batch to the answer of all its updates, of the
              same run; with --each or --load response times of single updates
The last lines, "all", have the sums over the queries.

` + exitCodesNoTimeout,
		Example: `  weft bench watch -g graph.weft --source updates.txt --pattern triangle
  weft bench watch -g graph.weft --source updates.gz -f queries --batch 1,64,4096 --threads 1 --to ndjson
  weft bench watch -g graph.weft --source updates.txt --pattern triangle --batch 4096 --load 50%`,
		RunE: func(_ *cobra.Command, args []string) error { return a.benchWatch(&f, args) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&f.path, "graph", "g", "", "graph `FILE`")
	f.queryFlags.add(cmd)
	f.addLoading(cmd)
	f.addWriting(cmd)
	fs.StringVar(&f.engine, "engine", "host", "engine: auto, "+watchEngineNames())
	fs.StringVar(&f.device, "device", "auto", "device: cpu, or gpu:0 for a GPU; auto as the engine needs it")
	fs.StringVar(&f.gpuMemory, "gpu-memory", "", "have at most `MEMORY` of lists on the GPU (10G); default: half of what is free")
	fs.StringArrayVar(&f.engineOpts, "engine-opt", nil, "`NAME=VALUE`, a switch of an engine of watches (repeatable); see weft help engine-options")
	f.addProduct(cmd)
	fs.StringVar(&f.source, "source", "", "`FILE` of updates, plain, .gz or .zst")
	fs.StringVar(&f.updates, "updates", "auto", "format of the updates, as for weft watch")
	fs.IntSliceVar(&f.batches, "batch", []int{1, 4096}, "make `N` updates together (several numbers with commas)")
	fs.IntVar(&f.runs, "runs", 3, "runs of each query with each number")
	fs.BoolVar(&f.each, "each", false, "also measure response times of single updates at the full rate")
	fs.StringVar(&f.usage, "usage", "", "also write how busy the GPU was, and the memory of its lists, over time to `FILE`, as NDJSON (engine pipeline)")
	fs.StringVar(&f.load, "load", "", "also let `RATE` updates arrive in a second; 50% is half of the full rate")
	return cmd
}

// watchRun is a query over the whole stream, by batches of one size.
type watchRun struct {
	query          string
	batch, updates int
	added, removed *big.Int
	search, update time.Duration
	late           time.Duration // changes that are left at the end
	add            time.Duration
	latency        watch.Latency
	arriving       time.Duration // how long updates arrived; 0: they were all there
	work           string        // of a GPU
	usage          *nest.Usage   // of a GPU; nil: it is not known
}

// load is a rate at which updates arrive.
type load struct {
	value   float64
	isShare bool // of the full rate
}

func parseLoad(text string) (load, error) {
	number, isShare := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x > 0) || x > 1e12 {
		return load{}, usagef("--load: want updates a second, or a share of the full rate as 50%%: %q", text)
	}
	if isShare {
		x /= 100
	}
	return load{x, isShare}, nil
}

// rate returns the updates a second, for a query that was replayed at the full rate. 0 means all at once.
func (l load) rate(r *watchRun) float64 {
	if !l.isShare {
		return l.value
	}
	return l.value * float64(r.updates) / max(r.search+r.update, 1).Seconds()
}

// arrivals says how many updates have arrived. The zero rate means all.
type arrivals struct {
	clock stream.Clock
	start time.Time
	rate  float64 // in a second
}

// exactClock wakes at a time and not up to a millisecond after it: it sleeps until shortly before, and then looks at the clock again and again.
//
// Why: timers of Go wait for the system in whole milliseconds if nothing else runs. In a millisecond hundreds of updates arrive, and all of them would wait for
// the timer, so that response times would be those of the timer.
type exactClock struct{ stream.Clock }

// early is how long before a time exactClock wakes.
const early = 2 * time.Millisecond

// Sleep implements stream.Clock.
func (c exactClock) Sleep(ctx context.Context, until time.Time) error {
	if wake := until.Add(-early); wake.After(c.Now()) {
		if err := c.Clock.Sleep(ctx, wake); err != nil {
			return err
		}
	}
	for until.After(c.Now()) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		runtime.Gosched()
	}
	return nil
}

// due is when update i arrives.
func (x *arrivals) due(i int) time.Time {
	return x.start.Add(time.Duration(float64(i) / x.rate * 1e9))
}

// wait waits for update i, and returns how many of n updates have arrived from i on, at most limit.
func (x *arrivals) wait(ctx context.Context, i, n, limit int) (int, error) {
	n = min(n-i, limit)
	if x.rate == 0 {
		return n, nil
	}
	if due := x.due(i); due.After(x.clock.Now()) {
		if err := x.clock.Sleep(ctx, due); err != nil {
			return 0, err
		}
	}
	now := x.clock.Now()
	k := 1
	for k < n && !x.due(i+k).After(now) {
		k++
	}
	return k, nil
}

// answered adds the response times of k updates from i on, which were begun together.
func (x *arrivals) answered(to *watch.Latency, begun time.Time, i, k int) {
	now := x.clock.Now()
	if x.rate == 0 {
		to.Add(now.Sub(begun), uint64(k))
		return
	}
	for ; k > 0; k-- {
		to.Add(now.Sub(x.due(i)), 1)
		i++
	}
}

// responses is a sink that counts the response times of the updates of a batch.
type responses struct {
	at    *arrivals
	to    *watch.Latency
	base  uint64 // the number of the update before the batch
	from  int    // its first update in the stream
	begun []time.Time
	done  int // updates of the batch that are answered
}

// Emit implements nest.Sink: matches are counted.
func (x *responses) Emit([]nest.Delta) error { return nil }

// Answered implements nest.Following.
func (x *responses) Answered(seq uint64) {
	n := int(seq - x.base)
	if x.at.rate > 0 {
		x.at.answered(x.to, time.Time{}, x.from+x.done, n-x.done)
	} else if n > x.done {
		now := x.at.clock.Now()
		for _, begun := range x.begun[x.done:n] {
			x.to.Add(now.Sub(begun), 1)
		}
	}
	x.done = max(x.done, n)
}

// batch begins a batch of updates, of which the first has a place in the stream.
func (x *responses) batch(base uint64, from int) {
	x.base, x.from, x.done, x.begun = base, from, 0, x.begun[:0]
}

func (f *benchWatchFlags) check() (stream.Format, error) {
	switch {
	case f.path == "":
		return "", errNoGraph
	case f.source == "":
		return "", usagef("no updates: give a file with --source")
	case f.path == "-" || f.source == "-":
		return "", usagef("-: the graph and the updates are read before anything is measured: give files")
	case route.CheckWatch(f.engine) != nil:
		return "", usagef("--engine: %v", route.CheckWatch(f.engine))
	case f.each && f.load != "":
		return "", usagef("--each is about the full rate, and --load about another one: give one of them")
	case f.runs < 1:
		return "", usagef("--runs must be at least 1")
	case len(f.batches) == 0 || slices.Min(f.batches) < 1:
		return "", usagef("--batch: want numbers of updates, from 1 on")
	}
	if f.load != "" {
		var err error
		if f.arrive, err = parseLoad(f.load); err != nil {
			return "", err
		}
	}
	form, err := stream.ParseFormat(f.updates)
	if err != nil {
		return "", usagef("--updates: %v", err)
	}
	return form, nil
}

func (a *app) benchWatch(f *benchWatchFlags, args []string) error {
	a.answers = true
	form, err := f.check()
	if err != nil {
		return err
	}
	queries, err := f.queries(a.ctx, args)
	if err != nil {
		return err
	}
	var patterns []*pattern.Pattern
	for _, q := range queries {
		p, err := gql.ParseText(q.String())
		if err != nil {
			return err
		}
		if !f.product {
			if err := p.CheckConnected(); err != nil {
				return kindf(weft.ErrQuery, "%w", err)
			}
		}
		patterns = append(patterns, p.Pattern)
	}
	memory, err := parseBytes(f.memory)
	if err != nil {
		return err
	}
	files := vfs.From(a.ctx)
	data, err := format.Read(a.ctx, f.path, format.ReadOptions{Threads: f.threads, Memory: memory, Files: files}, nil)
	if err != nil {
		return a.whileReading(a.ctx, f.path, kindf(weft.ErrInput, "%w", err))
	}
	defer data.Close()
	updates, err := allUpdates(a.ctx, files, f.source, stream.Options{Format: form, TextIDs: !data.IDs.Numeric(), Lateness: -1})
	if err != nil {
		return a.whileReading(a.ctx, f.source, kindf(weft.ErrInput, "%w", err))
	}
	gpuMemory, err := parseBytes(f.gpuMemory)
	if err != nil {
		return err
	}
	engine := route.WatchRequest{
		Runtime: weftruntime.New(weftruntime.Options{}), Engine: f.engine, Device: f.device, Workers: f.threads, Memory: memory, GPUMemory: gpuMemory, Switches: map[string]string{},
	}
	for _, s := range f.engineOpts {
		name, value, _ := strings.Cut(s, "=")
		engine.Switches[name] = value
	}
	var all []*watchRun
	for _, batch := range f.batches {
		sum := &watchRun{query: "all", batch: batch, added: new(big.Int), removed: new(big.Int)}
		for i, p := range patterns {
			var best *watchRun
			for range f.runs {
				r, err := replayed(a.ctx, data, p, updates, batch, engine, 0, false)
				if err != nil {
					return fmt.Errorf("%s: %w", queries[i].Name(), err)
				}
				if best != nil && (r.added.Cmp(best.added) != 0 || r.removed.Cmp(best.removed) != 0) {
					return fmt.Errorf("%s: runs differ: %v added and %v removed, and %v and %v", queries[i].Name(), r.added, r.removed, best.added, best.removed)
				}
				if best == nil || r.search < best.search {
					best = r
				}
			}
			if f.load != "" || f.each {
				rate := 0.0
				if f.load != "" {
					rate = f.arrive.rate(best)
				}
				r, err := replayed(a.ctx, data, p, updates, batch, engine, rate, true)
				if err != nil {
					return fmt.Errorf("%s: %w", queries[i].Name(), err)
				}
				best.latency, best.arriving = r.latency, r.arriving
			}
			best.query = queries[i].Name()
			if best.work != "" {
				fmt.Fprintf(a.stderr, "weft: %s, batches of %d: %s\n", best.query, batch, best.work)
			}
			all = append(all, best)
			sum.sum(best)
		}
		all = append(all, sum)
	}
	if f.usage != "" {
		out, err := a.open(f.usage, 0)
		if err != nil {
			return err
		}
		if err := out.finish(writeUsage(out, all)); err != nil {
			return err
		}
	}
	out, err := a.open(f.out, 0)
	if err != nil {
		return err
	}
	return out.finish(writeWatchRuns(out, f.outFormat(), all))
}

// allUpdates reads a stream to its end.
func allUpdates(ctx context.Context, files vfs.FS, path string, o stream.Options) (all []stream.Update, err error) {
	src, err := stream.Open(ctx, files, path, nil, o, nil)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	for {
		var u stream.Update
		switch err := src.Next(&u); {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, u)
	}
}

// replayed makes all updates in a copy of g, and counts what they change. They arrive at a rate in a second; 0 means that all are there.
// each says that response times are those of single updates, and not of batches.
func replayed(ctx context.Context, g *graph.Graph, p *pattern.Pattern, updates []stream.Update, batch int, engine route.WatchRequest, rate float64, each bool) (*watchRun, error) {
	d, err := dynamic.From(ctx, g)
	if err != nil {
		return nil, err
	}
	engine.Graph, engine.Batch = d, batch
	m, err := route.Watch(ctx, engine)
	if err != nil {
		return nil, watchError(err, nil)
	}
	defer m.Close()
	r := &watchRun{batch: batch, added: new(big.Int), removed: new(big.Int)}
	start := time.Now()
	if _, err := m.Add("q", p, nest.WatchOptions{CountsOnly: true}); err != nil {
		return nil, watchError(err, weft.ErrQuery)
	}
	r.add = time.Since(start)
	if rate > 0 {
		r.arriving = time.Duration(float64(len(updates)) / rate * 1e9)
	}
	runtime.GC() // what the building of the graph left is not to be collected while updates are made
	at := &arrivals{exactClock{stream.SystemClock{}}, time.Now(), rate}
	var sink nest.Sink
	times := &responses{at: at, to: &r.latency}
	if each {
		sink = times
	}
	for from := 0; from < len(updates); {
		n, err := at.wait(ctx, from, len(updates), batch)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		i := from
		times.batch(m.Seq(), from)
		var res nest.Result
		if x, ok := m.Matcher.(nest.Batcher); ok && !(each && rate == 0) {
			res, err = x.Apply(ctx, updates[from:from+n], sink)
		} else {
			res, err = m.Steps(ctx, func() (done dynamic.Result, ok bool, err error) {
				if ok = i < from+n; ok {
					if each && rate == 0 {
						times.begun = append(times.begun, time.Now())
					}
					done, err = stream.Apply(d, &updates[i])
					i++
				}
				return done, ok, err
			}, sink)
		}
		if !each {
			at.answered(&r.latency, start, from, n)
		}
		from += n
		if wrong := (*nest.UpdateError)(nil); errors.As(err, &wrong) {
			return nil, kindf(weft.ErrInput, "update %d: %w", r.updates+wrong.Index+1, wrong.Err)
		}
		if err != nil {
			return nil, watchError(err, nil)
		}
		r.updates += res.Updates
		r.search += res.Match
		r.update += res.Update
		for _, c := range res.Counts {
			r.added.Add(r.added, c.Added.Big())
			r.removed.Add(r.removed, c.Removed.Big())
		}
	}
	if x, ok := m.Matcher.(nest.Batcher); ok {
		start := time.Now()
		x.Late()
		r.late = time.Since(start)
	}
	if x, ok := m.Matcher.(interface{ Work() string }); ok {
		r.work = x.Work()
	}
	if x, ok := m.Matcher.(interface{ Usage() (nest.Usage, bool) }); ok {
		if u, ok := x.Usage(); ok {
			r.usage = &u
		}
	}
	if p.Mode == pattern.Iso { // these were subgraphs
		each := p.Automorphisms().Order()
		r.added.Mul(r.added, each)
		r.removed.Mul(r.removed, each)
	}
	return r, nil
}

// watchError gives an error of an engine its kind. other is that of an error that says none; it may be nil.
func watchError(err, other error) error {
	of := map[kind.Kind]error{kind.Usage: weft.ErrUsage, kind.Query: weft.ErrQuery, kind.Memory: weft.ErrMemory, kind.Device: weft.ErrDevice}
	if is := of[kind.Of(search.Classify(err))]; is != nil {
		other = is
	}
	if other == nil {
		return err
	}
	return kindf(other, "%w", err)
}

// sum adds another query to the sums.
func (r *watchRun) sum(x *watchRun) {
	r.updates += x.updates
	r.search += x.search
	r.update += x.update
	r.late += x.late
	r.add += x.add
	r.arriving += x.arriving
	r.added.Add(r.added, x.added)
	r.removed.Add(r.removed, x.removed)
	r.latency.Merge(&x.latency)
}

func writeWatchRuns(out io.Writer, to string, all []*watchRun) error {
	rate := func(i int, took time.Duration) any {
		if took <= 0 {
			return nil
		}
		return math.Round(float64(all[i].updates) / took.Seconds())
	}
	us := func(i int, q float64) any { return thousandths(float64(all[i].latency.Quantile(q)) / 1e3) }
	columns := []sink.Column{
		column("query", sink.String, func(i int) any { return all[i].query }),
		column("batch", sink.Int, func(i int) any { return int64(all[i].batch) }),
		column("updates", sink.Int, func(i int) any { return int64(all[i].updates) }),
		column("added", sink.Count, func(i int) any { return all[i].added }),
		column("removed", sink.Count, func(i int) any { return all[i].removed }),
		column("search_ms", sink.Float, func(i int) any { return inMS(all[i].search) }),
		column("update_ms", sink.Float, func(i int) any { return inMS(all[i].update) }),
		column("late_ms", sink.Float, func(i int) any { return inMS(all[i].late) }),
		column("add_ms", sink.Float, func(i int) any { return inMS(all[i].add) }),
		column("searches_per_s", sink.Float, func(i int) any { return rate(i, all[i].search) }),
		column("updates_per_s", sink.Float, func(i int) any { return rate(i, all[i].search+all[i].update) }),
		column("load_per_s", sink.Float, func(i int) any { return rate(i, all[i].arriving) }),
		column("p50_us", sink.Float, func(i int) any { return us(i, 0.5) }),
		column("p95_us", sink.Float, func(i int) any { return us(i, 0.95) }),
		column("p99_us", sink.Float, func(i int) any { return us(i, 0.99) }),
	}
	if slices.ContainsFunc(all, func(r *watchRun) bool { return r.usage != nil }) {
		of := func(value func(u *nest.Usage) any) func(i int) any {
			return func(i int) any {
				if u := all[i].usage; u != nil {
					return value(u)
				}
				return nil
			}
		}
		columns = append(columns,
			column("gpu_busy", sink.Float, of(func(u *nest.Usage) any { return math.Round(u.Busy*1e4) / 1e4 })),
			column("gpu_lists_bytes", sink.Int, of(func(u *nest.Usage) any { return u.Most })))
	}
	return writeRows(out, to, len(all), columns)
}

// writeUsage writes the samples of all runs.
func writeUsage(out io.Writer, all []*watchRun) error {
	type row struct {
		of     *watchRun
		sample nest.Sample
	}
	var rows []row
	for _, r := range all {
		for i := 0; r.usage != nil && i < len(r.usage.Over); i++ {
			rows = append(rows, row{r, r.usage.Over[i]})
		}
	}
	return writeRows(out, "ndjson", len(rows), []sink.Column{
		column("query", sink.String, func(i int) any { return rows[i].of.query }),
		column("batch", sink.Int, func(i int) any { return int64(rows[i].of.batch) }),
		column("until_ms", sink.Float, func(i int) any { return inMS(rows[i].sample.Until) }),
		column("busy", sink.Float, func(i int) any { return math.Round(rows[i].sample.Busy*1e4) / 1e4 }),
		column("lists_bytes", sink.Int, func(i int) any { return rows[i].sample.Lists }),
	})
}
