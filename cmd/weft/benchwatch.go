package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/host"
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
}

func (a *app) benchWatchCmd() *cobra.Command {
	var f benchWatchFlags
	cmd := &cobra.Command{
		Use:   "watch -g FILE --source UPDATES [flags] [QUERY]",
		Short: "measure how fast updates of a graph are matched",
		Long: `Make all updates of a stream, for each query alone, and count the matches that come and
go. The updates are read before, and each query and run begins with the graph as the
file has it. Matches are counted and not listed, as by weft watch --summary.

Columns:
  batch       updates that are made together
  added, removed
              embeddings that came and that went
  search_ms   finding matches, the least of the runs
  update_ms   changing the graph, of the same run
  searches_per_s
              updates divided by search_ms
  updates_per_s
              updates divided by both times
  p50_us, p95_us, p99_us
              times from the begin of a batch to its answer, of the same run
The last lines, "all", have the sums over the queries.

` + exitCodesNoTimeout,
		Example: `  weft bench watch -g graph.weft --source updates.txt --pattern triangle
  weft bench watch -g graph.weft --source updates.gz -f queries --batch 1,64,4096 --threads 1 --to ndjson`,
		RunE: func(_ *cobra.Command, args []string) error { return a.benchWatch(&f, args) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&f.path, "graph", "g", "", "graph `FILE`")
	f.queryFlags.add(cmd)
	f.addLoading(cmd)
	f.addWriting(cmd)
	fs.StringVar(&f.source, "source", "", "`FILE` of updates, plain, .gz or .zst")
	fs.StringVar(&f.updates, "updates", "auto", "format of the updates, as for weft watch")
	fs.IntSliceVar(&f.batches, "batch", []int{1, 4096}, "make `N` updates together (several numbers with commas)")
	fs.IntVar(&f.runs, "runs", 3, "runs of each query with each number")
	return cmd
}

// watchRun is a query over the whole stream, by batches of one size.
type watchRun struct {
	query          string
	batch, updates int
	added, removed *big.Int
	search, update time.Duration
	latency        watch.Latency
}

func (f *benchWatchFlags) check() (stream.Format, error) {
	switch {
	case f.path == "":
		return "", errNoGraph
	case f.source == "":
		return "", usagef("no updates: give a file with --source")
	case f.path == "-" || f.source == "-":
		return "", usagef("-: the graph and the updates are read before anything is measured: give files")
	case f.runs < 1:
		return "", usagef("--runs must be at least 1")
	case len(f.batches) == 0 || slices.Min(f.batches) < 1:
		return "", usagef("--batch: want numbers of updates, from 1 on")
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
	var all []*watchRun
	for _, batch := range f.batches {
		sum := &watchRun{query: "all", batch: batch, added: new(big.Int), removed: new(big.Int)}
		for i, p := range patterns {
			var best *watchRun
			for range f.runs {
				r, err := replayed(a.ctx, data, p, updates, batch, f.threads)
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
			best.query = queries[i].Name()
			all = append(all, best)
			sum.sum(best)
		}
		all = append(all, sum)
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
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, u)
	}
}

// replayed makes all updates in a copy of g, and counts what they change.
func replayed(ctx context.Context, g *graph.Graph, p *pattern.Pattern, updates []stream.Update, batch, threads int) (*watchRun, error) {
	d, err := dynamic.From(ctx, g)
	if err != nil {
		return nil, err
	}
	m := host.New(d, host.Options{Workers: threads})
	if _, err := m.Add("q", p, host.WatchOptions{CountsOnly: true}); err != nil {
		return nil, kindf(weft.ErrQuery, "%w", err)
	}
	r := &watchRun{batch: batch, added: new(big.Int), removed: new(big.Int)}
	for part := range slices.Chunk(updates, batch) {
		start := time.Now()
		res, err := m.Apply(ctx, part, nil)
		r.latency.Add(time.Since(start), uint64(len(part)))
		if wrong := (*host.UpdateError)(nil); errors.As(err, &wrong) {
			return nil, kindf(weft.ErrInput, "update %d: %w", r.updates+wrong.Index+1, wrong.Err)
		}
		if err != nil {
			return nil, err
		}
		r.updates += res.Updates
		r.search += res.Match
		r.update += res.Update
		for _, c := range res.Counts {
			r.added.Add(r.added, c.Added.Big())
			r.removed.Add(r.removed, c.Removed.Big())
		}
	}
	if p.Mode == pattern.Iso { // these were subgraphs
		each := p.Automorphisms().Order()
		r.added.Mul(r.added, each)
		r.removed.Mul(r.removed, each)
	}
	return r, nil
}

// sum adds another query to the sums.
func (r *watchRun) sum(x *watchRun) {
	r.updates += x.updates
	r.search += x.search
	r.update += x.update
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
	return writeRows(out, to, len(all), []sink.Column{
		column("query", sink.String, func(i int) any { return all[i].query }),
		column("batch", sink.Int, func(i int) any { return int64(all[i].batch) }),
		column("updates", sink.Int, func(i int) any { return int64(all[i].updates) }),
		column("added", sink.Count, func(i int) any { return all[i].added }),
		column("removed", sink.Count, func(i int) any { return all[i].removed }),
		column("search_ms", sink.Float, func(i int) any { return inMS(all[i].search) }),
		column("update_ms", sink.Float, func(i int) any { return inMS(all[i].update) }),
		column("searches_per_s", sink.Float, func(i int) any { return rate(i, all[i].search) }),
		column("updates_per_s", sink.Float, func(i int) any { return rate(i, all[i].search+all[i].update) }),
		column("p50_us", sink.Float, func(i int) any { return us(i, 0.5) }),
		column("p95_us", sink.Float, func(i int) any { return us(i, 0.95) }),
		column("p99_us", sink.Float, func(i int) any { return us(i, 0.99) }),
	})
}
