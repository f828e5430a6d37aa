package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/broker"
	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/plan/explain"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/watch"
)

// watchFlags are those of weft watch.
type watchFlags struct {
	graphFlags
	queryFlags
	commonFlags
	o       weft.FollowOptions
	onError string
	output  string
	sinks   []string
	log     string // the size of the log
	count   string
	metrics string
	named   bool          // an engine, or auto
	reload  time.Duration // 0: never
}

func (a *app) watchCmd() *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch [-g] FILE --source UPDATES [flags] [QUERY]",
		Short: "report how matches change while the graph does",
		Long: `Read updates of a graph, and report each match that an update adds or removes. A
query is a CREATE WATCH, which says what it emits, or any other pattern.

The updates are a file, standard input (--source -) or the messages of a broker
(--source nats://HOST/STREAM or kafka://HOST/TOPIC), in one of these formats:
  + u v [label] [time]     an edge comes; - u v [label] [time]: it goes
  e u v label              the same as RapidFlow writes it; -e u v label
  {"op":"+","u":1,"v":2}   NDJSON
  op, src, dst, …          the columns of an Arrow or Parquet table, with a row for each

A change is a line of JSON, with the number of the update:
  {"seq":7,"query":"ring","op":"+","match":{"a":1,"b":2,"c":3}}

Changes come in the order of the updates, then of the queries, then of the ids. They
do not depend on threads or on how many updates wait: updates that wait are made
together, and each is matched at its own version of the graph. A match is written
the same way when it comes and when it goes.

With --state, weft continues after any end, also a kill, where it was: no update is
lost, and in a file (-o) or a broker (--sink nats://HOST/SUBJECT) no change is
repeated. The folder has the last two checkpoints. On standard output, the changes
since the last checkpoint come again, with the same numbers.

An output file is written in place, so that it can be read while it grows. If the
reader of the output is slower than the source, weft reads the source more slowly.
Ctrl-C ends weft after the updates under way.

` + exitCodesNoTimeout,
		Example: `  weft watch -g graph.txt --source updates.txt --pattern triangle
  tail -f updates.txt | weft watch -g graph.txt --source - -f watches.gql
  weft watch -g graph.txt --source updates.txt --pattern 'clique(4)' --summary
  weft watch -g graph.txt --source updates.txt -f watches.gql --state state -o changes.ndjson
  weft watch -g graph.txt --source kafka://localhost/updates -f watches.gql --state state --sink kafka://localhost/changes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			if f.o.State == "" && (given("checkpoint") || given("snapshot")) {
				return usagef("--checkpoint and --snapshot are about the folder that --state names")
			}
			if f.log != "" {
				size, err := parseBytes(f.log)
				if err != nil {
					return usagef("--log-size: %v", err)
				}
				f.o.LogSize = size
			}
			if f.o.State == "" {
				f.o.Checkpoint = 0
			}
			f.named = given("engine")
			return a.watch(&f, f.fromArgs(a.ctx, args))
		},
	}
	f.graphFlags.add(cmd)
	f.queryFlags.add(cmd)
	f.addLoading(cmd)
	f.addMeaning(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.engine, "engine", "auto", "engine: auto, "+watchEngineNames()+"; weft says what auto chose, and why, if the flag is given")
	fs.StringVar(&f.device, "device", "auto", "device: cpu, or gpu:0 for a GPU; auto as the engine needs it")
	fs.StringVar(&f.gpuMemory, "gpu-memory", "", "have at most `MEMORY` of lists on the GPU (10G); default: half of what is free")
	fs.StringArrayVar(&f.engineOpts, "engine-opt", nil, "`NAME=VALUE`, a switch of an engine of watches (repeatable); see weft help engine-options")
	fs.StringVar(&f.o.Source, "source", "", "`UPDATES`: a file, plain, .gz or .zst, - for standard input, or the messages of a broker: nats://HOST/STREAM, kafka://HOST/TOPIC")
	fs.StringVar(&f.o.Updates, "updates", "auto", "format of the updates: "+strings.Join(stream.Formats(), ", "))
	fs.StringVar(&f.onError, "on-error", "fatal", "`WHAT` to do about an update with a mistake: fatal, or skip and count it")
	fs.StringVar(&f.o.Lateness, "lateness", "", "how much `EARLIER` than an update before it an update may be: 10m, or a number in the unit of the times; default any")
	fs.StringVar(&f.o.Window, "window", "", "remove edges when an update is more than this `TIME` later: 24h, or a number in the unit of the times; default never")
	fs.VarP(&once{to: &f.output}, "output", "o", "write changes to `FILE`, as --sink does; default standard output")
	fs.StringArrayVar(&f.sinks, "sink", nil, "write changes to `TARGET`, a file, - for standard output, or a broker: nats://HOST/SUBJECT, kafka://HOST/TOPIC; may be given several times")
	fs.StringVar(&f.to, "to", "", "format of changes: "+strings.Join(watch.Formats, ", ")+"; with --summary also json; default by the name of -o, else ndjson, and table with --summary")
	fs.StringVar(&f.count, "count", "", "list or count subgraphs or embeddings; default as weft match")
	fs.BoolVar(&f.o.Summary, "summary", false, "write one line for each query at the end instead of changes")
	fs.BoolVar(&f.o.Present, "present", false, "write the matches of the beginning first, with number 0")
	fs.DurationVar(&f.reload, "reload", 0, "read the files of -f again each `TIME`, such as 1s: queries that are new begin, and others end")
	fs.IntVar(&f.o.Batch, "batch", 0, "make at most `N` waiting updates together; default 4096")
	fs.StringVar(&f.o.State, "state", "", "`FOLDER` for checkpoints, from which the same command continues")
	fs.DurationVar(&f.o.Checkpoint, "checkpoint", time.Second, "time between checkpoints; 0 means one after each batch")
	fs.IntVar(&f.o.Snapshot, "snapshot", 0, "write the graph to --state after each `N` updates; default as many as the graph has edges, and at least a million")
	fs.StringVar(&f.log, "log-size", "", "most bytes of the log that --state has of standard input, as `256MiB`; default 1GiB")
	fs.StringVar(&f.metrics, "metrics", "", "serve metrics for Prometheus at `ADDRESS`/metrics, as localhost:9090")
	return cmd
}

// check finds mistakes in the flags.
func (f *watchFlags) check(ctx context.Context) error {
	f.out = f.output
	switch {
	case f.o.Source == "":
		return usagef("no updates: give a file with --source, or - for standard input")
	case f.o.Source == "-" && f.path == "-":
		return usagef("-g - and --source - both read standard input")
	case route.CheckWatch(f.engine) != nil:
		return usagef("--engine: %v", route.CheckWatch(f.engine))
	case f.onError != "fatal" && f.onError != "skip":
		return usagef("--on-error %q: want fatal or skip", f.onError)
	case f.count != "" && f.count != "subgraphs" && f.count != "embeddings":
		return usagef("--count %q: want subgraphs or embeddings", f.count)
	case f.o.Batch < 0 || f.o.Snapshot < 0:
		return usagef("--batch and --snapshot cannot be negative")
	case f.o.Checkpoint < 0:
		return usagef("--checkpoint cannot be negative")
	case f.reload < 0:
		return usagef("--reload cannot be negative")
	case f.reload > 0 && len(f.files) == 0:
		return usagef("--reload reads the files of -f again, and there is none")
	case f.reload > 0 && f.o.Summary:
		return usagef("--summary is about the queries of the beginning: it cannot be used with --reload")
	case f.o.Summary && f.o.Present:
		return usagef("--present lists matches, and --summary lists none")
	}
	f.o.SkipErrors = f.onError == "skip"
	formats := watch.Formats
	if f.o.Summary {
		formats = []string{"ndjson", "json", "csv", "table"}
	}
	if f.to != "" && !slices.Contains(formats, f.to) {
		return usagef("--to %q: want %s%s", f.to, strings.Join(formats, ", "), didYouMean(f.to, formats))
	}
	if err := f.checkSinks(formats); err != nil {
		return err
	}
	if err := f.checkValues(ctx); err != nil {
		return err
	}
	return keepInputs(ctx, slices.Concat([]string{f.o.Source}, f.inputs(), f.files), append(f.sinks, f.output)...)
}

// checkSinks makes the sinks, each in the format that --to or its name says, and finds mistakes in them.
func (f *watchFlags) checkSinks(formats []string) error {
	if f.o.Summary {
		if len(f.sinks) > 0 {
			return usagef("--sink gets changes, and --summary writes none; -o is for the summary")
		}
		return f.nameFormat()
	}
	targets := f.sinks
	if f.output != "" {
		targets = slices.Insert(slices.Clone(targets), 0, f.output)
	}
	if len(targets) == 0 {
		targets = []string{"-"}
	}
	to := f.to
	for _, target := range targets {
		k := weft.FollowSink{Target: target, Format: to}
		if !broker.Is(target) && target != "-" {
			f.out, f.to = target, to
			if err := f.nameFormat(); err != nil {
				return err
			}
			if _, zip := unpacked(target); zip != "" {
				return usagef("-o %s: changes are written in place, and not compressed", target)
			}
			if k.Format = f.to; to == "" && k.Format != "" && !slices.Contains(formats, k.Format) {
				return usagef("-o %s: changes are written as %s", target, strings.Join(formats, ", "))
			}
		}
		f.o.Sinks = append(f.o.Sinks, k)
	}
	f.to = to
	return nil
}

func (a *app) watch(f *watchFlags, args []string) error {
	if err := f.check(a.ctx); err != nil {
		return err
	}
	if err := f.checkDevice(a); err != nil {
		return err
	}
	ctx, cancel := a.reading(&f.commonFlags)
	defer cancel()
	queries, err := await(ctx, func() ([]*weft.Query, error) { return f.queries(ctx, args) })
	if err != nil {
		return a.whileReading(ctx, "the patterns", err)
	}
	if err := f.checkParams(queries); err != nil {
		return err
	}
	bar := a.progress(f.progress)
	g, err := a.load(&f.graphFlags, &f.commonFlags, bar)
	if err != nil {
		return err
	}
	defer a.done(g)
	f.o.Copied = func() { _ = g.Close() }
	out := &pipeOutput{ctx: a.ctx, w: ctxio.NewWriter(a.stdout)}
	defer out.w.Close()
	f.o.Stdin, f.o.Stdout = a.stdin, out
	f.o.Note = func(text string) { fmt.Fprintf(a.stderr, "weft: %s\n", text) }
	var mistakes atomic.Int64
	f.o.Mistake = func(text string) {
		n := mistakes.Add(1)
		if n <= mostMistakes {
			f.o.Note(text)
		}
		if n == mostMistakes {
			fmt.Fprintf(a.stderr, "weft: further mistakes are counted, and not shown\n")
		}
	}
	var latest atomic.Pointer[weft.FollowStatus]
	if f.metrics != "" {
		stop, err := a.serveMetrics(f.metrics, &latest)
		if err != nil {
			return err
		}
		defer stop()
	}
	if bar.mode != "none" || f.metrics != "" {
		f.o.Every = 100 * time.Millisecond
		f.o.Report = func(s weft.FollowStatus) {
			latest.Store(&s)
			bar.follow(&s)
		}
	}
	if f.reload > 0 {
		next := make(chan []*weft.Query)
		f.o.Queries = next
		reading, stop := context.WithCancel(a.ctx)
		var done sync.WaitGroup
		done.Go(func() { a.readAgain(reading, f, args, next) })
		defer done.Wait()
		defer stop()
	}
	options := weft.Concerning("Graph.Follow", f.options()...)
	s, err := g.Follow(a.ctx, queries, f.o, options...)
	bar.clear()
	cut := a.interruption(a.ctx, err)
	if err != nil && cut == nil {
		if s.Updates > 0 {
			fmt.Fprintf(a.stderr, "weft: stopped after update %d\n", s.Updates)
		}
		return err
	}
	if f.o.Summary {
		if err := a.writeWatched(f, &s, out); err != nil {
			return err
		}
	}
	a.reportFollowed(&s)
	if cut != nil {
		fmt.Fprintf(a.stderr, "weft: %v after update %d\n", cut, s.Updates)
		return exitError(codeOf(cut))
	}
	return nil
}

func watchEngineNames() string {
	var out []string
	for _, e := range route.WatchEngines() {
		out = append(out, e.Name)
	}
	return strings.Join(out, ", ")
}

// mostMistakes is the number of mistakes that are shown.
const mostMistakes = 10

// checkDevice refuses a device that is unknown, or that the machine does not have, before the graph is read.
func (f *watchFlags) checkDevice(a *app) error {
	device := f.device
	if device == "auto" && f.engine != "auto" && f.engine != "host" {
		device = "gpu:0"
	}
	return a.runtime.Check(a.ctx, weft.WithDevice(device))
}

// options are the flags for the library.
func (f *watchFlags) options() []weft.Option {
	o := f.commonFlags.options()
	if f.named {
		o = append(o, weft.WithEngine(f.engine))
	}
	switch f.count {
	case "subgraphs":
		o = append(o, weft.WithList(weft.Subgraphs))
	case "embeddings":
		o = append(o, weft.WithList(weft.Embeddings))
	}
	return o
}

// checkParams refuses a --param that no query has.
func (f *watchFlags) checkParams(queries []*weft.Query) error {
	return (&searchFlags{commonFlags: f.commonFlags}).checkParams(queries)
}

// pipeOutput is standard output, within a context.
type pipeOutput struct {
	ctx context.Context
	w   *ctxio.Writer
}

func (p *pipeOutput) Write(b []byte) (int, error) { return p.w.WriteWithin(p.ctx, b) }

// reportFollowed writes to standard error what updates did, besides changes.
func (a *app) reportFollowed(s *weft.FollowStatus) {
	if s.Resumed > 0 {
		fmt.Fprintf(a.stderr, "weft: continued after update %d\n", s.Resumed)
	}
	parts := []string{plural(s.Updates, "update")}
	add := func(n uint64, one, many string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(s.Duplicates, "duplicate", "duplicates")
	add(s.Absent, "of an absent edge or vertex", "of absent edges or vertices")
	add(s.SelfLoops, "self-loop", "self-loops")
	for _, k := range slices.Sorted(maps.Keys(s.Mistakes)) {
		parts = append(parts, fmt.Sprintf("%d passed over: %s", s.Mistakes[k], strings.ReplaceAll(k, "_", " ")))
	}
	if len(parts) > 1 {
		fmt.Fprintf(a.stderr, "weft: %s\n", strings.Join(parts, ", "))
	}
}

// watched is a line of --summary.
type watched struct {
	Query   string            `json:"query"`
	Initial explain.JSONCount `json:"initial"`
	Added   explain.JSONCount `json:"added"`
	Removed explain.JSONCount `json:"removed"`
	Updates uint64            `json:"updates"`
	Seconds float64           `json:"seconds"`
	Rate    float64           `json:"updates_per_second"`
	Latency watch.Quantiles   `json:"latency_ms"`
}

// writeWatched writes the summary.
func (a *app) writeWatched(f *watchFlags, s *weft.FollowStatus, stdout io.Writer) error {
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	var lines []watched
	for _, q := range s.Queries {
		x := watched{
			Query: q.Name, Initial: explain.JSONCount{N: q.Initial}, Added: explain.JSONCount{N: q.Added}, Removed: explain.JSONCount{N: q.Removed},
			Updates: s.Updates, Seconds: s.Seconds, Latency: watch.Quantiles{P50: ms(s.P50), P95: ms(s.P95), P99: ms(s.P99)},
		}
		if s.Seconds > 0 {
			x.Rate = float64(s.Updates) / s.Seconds
		}
		lines = append(lines, x)
	}
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	if w := (&jsonWriter{w: out, to: f.to, many: len(lines) > 1}); w.takes() {
		for _, x := range lines {
			if err := w.add(x); err != nil {
				return out.finish(err)
			}
		}
		return out.finish(w.close())
	}
	number := func(name string, of func(x *watched) *big.Int) sink.Column {
		return column(name, sink.Count, func(i int) any {
			if n := of(&lines[i]); n != nil {
				return n
			}
			return nil
		})
	}
	float := func(name string, of func(x *watched) float64) sink.Column {
		return column(name, sink.Float, func(i int) any { return of(&lines[i]) })
	}
	return out.finish(writeRows(out, f.outFormat(), len(lines), []sink.Column{
		column("query", sink.String, func(i int) any { return lines[i].Query }),
		number("initial", func(x *watched) *big.Int { return x.Initial.N }),
		number("added", func(x *watched) *big.Int { return x.Added.N }),
		number("removed", func(x *watched) *big.Int { return x.Removed.N }),
		column("updates", sink.Int, func(i int) any { return int64(lines[i].Updates) }),
		float("seconds", func(x *watched) float64 { return x.Seconds }),
		float("updates_per_second", func(x *watched) float64 { return x.Rate }),
		float("p50_ms", func(x *watched) float64 { return x.Latency.P50 }),
		float("p95_ms", func(x *watched) float64 { return x.Latency.P95 }),
		float("p99_ms", func(x *watched) float64 { return x.Latency.P99 }),
	}))
}

// millis is a time in milliseconds, with two digits that count or as a whole number.
func millis(d time.Duration) string {
	if ms := float64(d) / 1e6; ms < 10 {
		return strconv.FormatFloat(ms, 'g', 2, 64)
	}
	return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10)
}

// follow shows how far a watch is.
func (p *progress) follow(s *weft.FollowStatus) {
	detail := fmt.Sprintf("%d updates, %.0f/s, %d waiting, response p50 %s p95 %s p99 %s ms, %d MB", s.Updates, s.Rate, s.Waiting, millis(s.P50), millis(s.P95), millis(s.P99), s.Memory>>20)
	for _, q := range s.Queries {
		detail += ", " + q.Name
		if q.Added != nil {
			detail += fmt.Sprintf(" +%v", q.Added)
		}
		if q.Removed != nil {
			detail += fmt.Sprintf(" -%v", q.Removed)
		}
	}
	p.report(weft.Progress{Phase: "watch", Done: s.Updates, Detail: detail})
}
