package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench"
	"github.com/weftgraph/weft/internal/gpu"
	memlimit "github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/sink"
)

// benchOutOfCoreFlags are the flags of bench outofcore besides those of every search.
type benchOutOfCoreFlags struct {
	searchFlags
	budgets, ways []string
	runs          int
}

// inCore is the name of the contestant that has all arrays on the device, and of its budget.
const inCore = "in core"

// defaultWays are the ways of bench outofcore, unless --variant names others: those of the engines
// that there are.
func defaultWays() []string {
	ways := []string{"cached:gpu.adjacency=cached", "zero copy:gpu.adjacency=host", "managed:gpu.adjacency=managed"}
	for _, name := range []string{"join", "partition"} {
		if route.GPUEngine(name) {
			ways = append(ways, name+":engine="+name)
		}
	}
	return ways
}

var defaultBudgets = []string{inCore, "1/2", "1/4", "1/8"}

func (a *app) benchOutOfCoreCmd() *cobra.Command {
	var f benchOutOfCoreFlags
	cmd := &cobra.Command{
		Use:   "outofcore [-g] FILE [flags] [QUERY]",
		Short: "measure counts on a GPU with less memory than the graph takes",
		Long: `Count each pattern on a GPU with all of the graph's arrays there, and then with less and
less memory, in each way to search a graph that does not fit. Without patterns these are
gmatch:P1 to gmatch:P9. All must give the same count: a count that differs is marked, and
the exit code is 1. A way that a budget is too small for, or that does not end within
--timeout, has a note.

Budgets are shares of the memory that the graph's arrays take in core, or sizes. The rounds
go over all budgets, patterns and ways in turn. In each, a count is done twice, and the second
is measured: a change of budget closes the GPU, so that the first copies the graph.

Ways are "cached" (lists in host memory, those that are read most in a cache on the GPU), "zero
copy" (without the cache), "managed" (managed memory, whose pages move to the GPU), and the
engines join and partition. --variant names others, as for
weft bench.

Columns:
  budget      bytes of --gpu-memory; none for in core
  median_ms   of the search, and least_ms and most_ms
  whole_ms    median of planning, preparation and search
  first_ms    median of the same of the first count after the GPU is opened
  ratio       median_ms divided by that of in core
  arrays, cache, search, host
              bytes of arrays on the GPU, of its cache, of the search's own memory, and of
              arrays in host memory
  lists, reads
              lists in the cache, and the share of the expected reads that they serve
  copied      bytes copied to the GPU by the first count
  moved, rate, overlap
              bytes that the measured search copied to the GPU, GiB a second while it copied,
              and the share of that time in which kernels ran; of join and partition, which
              copy while they search
  peak_host   the most memory that the process had during both counts, with the part of the
              graph's file that is mapped; none where the system does not measure it

` + exitCodesHelp,
		Example: `  weft bench outofcore -g large.weft --device gpu:0
  weft bench outofcore -g large.weft --pattern triangle --budget 1/4 --budget 2G --variant 'by degree:gpu.adjacency=cached,gpu.cache=degree'
  weft bench outofcore -g large.weft --runs 3 --to ndjson -o outofcore.ndjson`,
		RunE: func(_ *cobra.Command, args []string) error { return a.benchOutOfCore(&f, args) },
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringArrayVar(&f.budgets, "budget", nil, "`BUDGET` of memory: a share of what in core takes (1/4), or a size (2G) (repeatable; default: 1/2, 1/4, 1/8)")
	fs.StringArrayVar(&f.ways, "variant", nil, "`NAME:SETTING,…` of a way to search (repeatable)")
	fs.IntVar(&f.runs, "runs", 3, "measured runs of each way")
	return cmd
}

// share is a part of what in core takes, or a number of bytes.
type share struct {
	name  string
	part  float64
	bytes int64
}

func parseShare(text string) (share, error) {
	if over, under, ok := strings.Cut(text, "/"); ok {
		x, err1 := strconv.ParseFloat(over, 64)
		y, err2 := strconv.ParseFloat(under, 64)
		if err := errors.Join(err1, err2); err != nil || !(x > 0 && y > 0) {
			return share{}, usagef("--budget %q: want a share, as 1/4, or a size, as 2G", text)
		}
		return share{name: text, part: x / y}, nil
	}
	bytes, err := parseBytes(text)
	if err != nil || bytes == 0 {
		return share{}, usagef("--budget %q: want a share, as 1/4, or a size, as 2G", text)
	}
	return share{name: text, bytes: bytes}, nil
}

// outOfCoreCase is a way to count a pattern with a budget.
type outOfCoreCase struct {
	pattern, budget, way string
	bytes                int64
	run                  func(ctx context.Context) (weft.Result, error)

	samples []bench.Sample
	first   []time.Duration
	memory  gpu.Figures
	copies  gpu.Copies // of the last measured search
	peak    int64      // bytes of the process; 0: not known
	err     error
	bench.Row
	firstMedian time.Duration
}

func (a *app) benchOutOfCore(f *benchOutOfCoreFlags, args []string) error {
	a.answers = true
	if f.runs < 1 {
		return usagef("--runs must be at least 1")
	}
	if f.gpuMemory != "" {
		return usagef("--gpu-memory: --budget says how much memory a GPU has here")
	}
	if args = f.fromArgs(a.ctx, args); f.path == "" {
		return errNoGraph
	}
	if len(args) == 0 && f.names == nil && f.files == nil {
		for i := range 9 {
			f.names = append(f.names, fmt.Sprintf("gmatch:P%d", i+1))
		}
	}
	switch f.device {
	case "", "auto":
		f.device = "gpu:0"
	case "cpu":
		return usagef("--device cpu: bench outofcore measures counts on GPUs")
	}
	if f.budgets == nil {
		f.budgets = defaultBudgets[1:]
	}
	var shares []share
	for _, text := range f.budgets {
		s, err := parseShare(text)
		if err != nil {
			return err
		}
		shares = append(shares, s)
	}
	if f.ways == nil {
		f.ways = defaultWays()
	}
	ways, err := parseVariants(f.ways, "")
	if err != nil {
		return err
	}
	queries, err := a.ready(&f.searchFlags, args)
	if err != nil {
		return err
	}
	g, err := a.load(&f.graphFlags, &f.commonFlags, a.progress(f.progress))
	if err != nil {
		return err
	}
	defer a.done(g)
	count := func(ctx context.Context, q *weft.Query, w variant, bytes int64) (weft.Result, error) {
		options := weft.Concerning("Graph.Count", slices.Concat(f.commonFlags.options(), w.options)...)
		if bytes > 0 {
			options = append(options, weft.WithGPUMemory(bytes))
		}
		ctx, cancel := f.within(ctx)
		defer cancel()
		return g.Count(ctx, q, options...)
	}
	all := a.measureOutOfCore(count, queries, shares, ways, f.runs)
	out, err := a.open(f.out, 0)
	if err != nil {
		return err
	}
	if err := out.finish(writeOutOfCore(out, f.outFormat(), f.path, all)); err != nil {
		return err
	}
	differ := false
	var failed error
	for _, c := range all {
		differ = differ || c.Err == nil && !c.Agrees
		if c.Err != nil && !unfinished(c.Err) && !errors.Is(c.Err, weft.ErrMemory) {
			fmt.Fprintf(a.stderr, "weft: %s, %s, %s: %v\n", c.pattern, c.budget, c.way, c.Err)
			failed = cmp.Or(failed, c.Err)
		}
	}
	return a.benchEnd(differ, failed)
}

// counting counts a pattern once. It searches in the given way and may use that number of bytes of a GPU, or with 0 all of them.
type counting func(ctx context.Context, q *weft.Query, way variant, bytes int64) (weft.Result, error)

// measureOutOfCore runs all cases in rounds.
func (a *app) measureOutOfCore(count counting, queries []*weft.Query, shares []share, ways []variant, runs int) []*outOfCoreCase {
	newCase := func(q *weft.Query, budget string, way variant, bytes int64) *outOfCoreCase {
		return &outOfCoreCase{pattern: q.Name(), budget: budget, way: way.name, bytes: bytes, run: func(ctx context.Context) (weft.Result, error) {
			return count(ctx, q, way, bytes)
		}}
	}
	var core, all []*outOfCoreCase
	for _, q := range queries {
		core = append(core, newCase(q, inCore, variant{inCore, []weft.Option{weft.WithEngineOption(gpu.Adjacency, "device")}}, 0))
	}
	var need int64
	for _, c := range core {
		c.once(a.ctx)
		need = max(need, c.memory.Arrays)
	}
	all = append(all, core...)
	for _, s := range shares {
		bytes := s.bytes
		if bytes == 0 {
			bytes = int64(s.part * float64(need))
		}
		for _, q := range queries {
			for _, w := range ways {
				c := newCase(q, s.name, w, bytes)
				if bytes == 0 {
					c.err = errors.New("no count in core says how much memory a share is")
				}
				all = append(all, c)
			}
		}
	}
	for round := range runs {
		for _, c := range all {
			if a.ctx.Err() != nil {
				break
			}
			if round > 0 || c.way != inCore {
				c.once(a.ctx)
			}
			a.reportOutOfCore(c, round)
		}
	}
	answers := map[string]string{}
	medians := map[string]time.Duration{}
	for _, c := range all {
		if c.err == nil && len(c.samples) == 0 { // its turn did not come
			c.err = context.Cause(a.ctx)
		}
		c.Row = bench.Of(c.way, c.samples, c.err)
		if c.Err == nil && answers[c.pattern] == "" {
			answers[c.pattern] = c.Answer
		}
		c.Agrees = c.Agrees && c.Answer == answers[c.pattern]
		if c.way == inCore {
			medians[c.pattern] = c.Median
		}
		if m := medians[c.pattern]; m > 0 {
			c.Ratio = float64(c.Median) / float64(m)
		}
		if n := len(c.first); n > 0 {
			slices.Sort(c.first)
			c.firstMedian = (c.first[(n-1)/2] + c.first[n/2]) / 2
		}
	}
	return all
}

// once counts twice, and keeps the figures: memory and the bytes copied of the first count, the times and copies of the second.
func (c *outOfCoreCase) once(ctx context.Context) {
	if c.err != nil {
		return
	}
	whole := func(r *weft.Result) time.Duration { return r.Plan + r.Prepare + r.Search }
	var r weft.Result
	known := memlimit.ResetPeak()
	for again := range 2 {
		var err error
		if r, err = c.run(ctx); err != nil {
			c.err = err
			return
		}
		if again == 0 {
			c.memory = gpu.Figures{}
			c.memory.Read(r.Stats)
			c.first = append(c.first, whole(&r))
		}
	}
	c.copies.Read(r.Stats)
	if known {
		c.peak = max(c.peak, int64(memlimit.Peak()))
	}
	c.samples = append(c.samples, bench.Sample{Took: r.Search, Plan: r.Plan, Prepare: r.Prepare, Answer: r.Embeddings.String()})
}

// reportOutOfCore says on a terminal how far the measurement is.
func (a *app) reportOutOfCore(c *outOfCoreCase, round int) {
	if n := len(c.samples); n > 0 && c.err == nil {
		fmt.Fprintf(a.stderr, "weft: round %d: %s, %s, %s: %s\n", round+1, c.pattern, c.budget, c.way, brief(c.samples[n-1].Took))
	}
}

func writeOutOfCore(out io.Writer, to, graph string, all []*outOfCoreCase) error {
	ms := func(get func(*outOfCoreCase) time.Duration) func(int) any {
		return func(i int) any {
			if all[i].Runs == 0 {
				return nil
			}
			return inMS(get(all[i]))
		}
	}
	bytes := func(get func(*gpu.Figures) int64) func(int) any {
		return func(i int) any {
			if all[i].Runs == 0 {
				return nil
			}
			return get(&all[i].memory)
		}
	}
	moved := func(get func(gpu.Copies) any) func(int) any {
		return func(i int) any {
			if all[i].copies.Took == 0 {
				return nil
			}
			return get(all[i].copies)
		}
	}
	return writeRows(out, to, len(all), []sink.Column{
		column("graph", sink.String, func(int) any { return graph }),
		column("pattern", sink.String, func(i int) any { return all[i].pattern }),
		column("share", sink.String, func(i int) any { return all[i].budget }),
		column("budget", sink.Int, func(i int) any {
			if all[i].bytes == 0 {
				return nil
			}
			return all[i].bytes
		}),
		column("way", sink.String, func(i int) any { return all[i].way }),
		column("median_ms", sink.Float, ms(func(c *outOfCoreCase) time.Duration { return c.Median })),
		column("least_ms", sink.Float, ms(func(c *outOfCoreCase) time.Duration { return c.Least })),
		column("most_ms", sink.Float, ms(func(c *outOfCoreCase) time.Duration { return c.Most })),
		column("whole_ms", sink.Float, ms(func(c *outOfCoreCase) time.Duration { return c.Whole })),
		column("first_ms", sink.Float, ms(func(c *outOfCoreCase) time.Duration { return c.firstMedian })),
		column("ratio", sink.Float, func(i int) any { return thousandths(all[i].Ratio) }),
		column("arrays", sink.Int, bytes(func(m *gpu.Figures) int64 { return m.Arrays })),
		column("cache", sink.Int, bytes(func(m *gpu.Figures) int64 { return m.Cache })),
		column("lists", sink.Int, bytes(func(m *gpu.Figures) int64 { return int64(m.Lists) })),
		column("reads", sink.Float, func(i int) any { return thousandths(all[i].memory.Reads) }),
		column("search", sink.Int, bytes(func(m *gpu.Figures) int64 { return m.Search })),
		column("host", sink.Int, bytes(func(m *gpu.Figures) int64 { return m.Host })),
		column("copied", sink.Int, bytes(func(m *gpu.Figures) int64 { return m.Copied })),
		column("moved", sink.Int, moved(func(c gpu.Copies) any { return c.Bytes })),
		column("rate", sink.Float, moved(func(c gpu.Copies) any { return thousandths(c.Rate()) })),
		column("overlap", sink.Float, moved(func(c gpu.Copies) any { return thousandths(c.Overlap()) })),
		column("peak_host", sink.Int, func(i int) any {
			if all[i].peak == 0 {
				return nil
			}
			return all[i].peak
		}),
		column("count", sink.Count, func(i int) any { return countIn(all[i].Answer) }),
		column("note", sink.String, func(i int) any {
			switch c := all[i]; {
			case c.Err != nil:
				return c.Err.Error()
			case !c.Agrees:
				return "COUNT DIFFERS"
			}
			return ""
		}),
	})
}
