package main

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/vfs"
)

// benchFlags are the flags of bench besides those of every search.
type benchFlags struct {
	searchFlags
	graphs       []string
	variants     []string
	peers        string
	runs, warmup int
}

func (a *app) benchCmd() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [-g] FILE [-g FILE]... [flags] [QUERY]",
		Short: "measure counts, and compare variants and other programs",
		Long: `Count each pattern on each graph several times, after warming up. Write the median
and the spread of the search time, and the medians of the times for planning and
for preparing a device. Variants of weft, and the other programs that --peers
describes, take turns with it, so that ratios come from one run. A count that
differs from weft's is marked, and the exit code is 1. The rows of a pattern are
written as soon as it is measured, and a file of -o has them all at the end.

A variant is a name and settings: "NAME:SETTING,SETTING…", where a setting is
engine=…, device=…, order=…, threads=… or an engine option.

--peers names a JSON file with a list of programs. Each program is an object:
  "name"      its name in the output
  "command"   ["program", "{graph}", …], run as it is: use files that you trust
  "patterns"  the names of the patterns that it counts
  "graphs"    {"weft's file": "its file"}
  "seconds"   a regular expression over its output, with one group for the time;
              without it the time of the whole command is taken
  "scale"     the factor from that time to seconds: 0.001 for milliseconds
  "count"     a regular expression over its output, with one group for the count

` + exitCodesHelp,
		Example: `  weft bench -g a.weft -g b.weft --pattern gmatch:P1 --pattern gmatch:P2 --runs 7
  weft bench -g a.weft --pattern house --variant 'no tail:plan.tail=off' --variant 'gsi:order=gsi'
  weft bench -g a.weft --pattern triangle --peers peers.json --to json`,
		RunE: func(_ *cobra.Command, args []string) error { return a.bench(&f, args) },
	}
	cmd.AddCommand(a.benchMatchaCmd(), a.benchJoinCmd(), a.benchOutOfCoreCmd(), a.benchWatchCmd(), a.benchServeCmd(), a.benchAblationCmd())
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.graphs, "graph", "g", nil, "graph `FILE` (repeatable); without -g the first argument is the graph")
	f.graphFlags.addReading(cmd)
	f.queryFlags.add(cmd)
	f.commonFlags.add(cmd)
	fs.StringArrayVar(&f.variants, "variant", nil, "`NAME:SETTING,…` of a variant to measure too (repeatable)")
	fs.StringVar(&f.peers, "peers", "", "JSON `FILE` of other programs to measure too")
	fs.IntVar(&f.runs, "runs", 5, "measured runs of each contestant")
	fs.IntVar(&f.warmup, "warmup", 1, "runs before the measured ones")
	return cmd
}

// benchRow is a row of the output.
type benchRow struct {
	graph, pattern string
	bench.Row
}

func (a *app) bench(f *benchFlags, args []string) error {
	a.answers = true
	if f.runs < 1 || f.warmup < 0 {
		return usagef("--runs must be at least 1, and --warmup at least 0")
	}
	if len(f.graphs) == 0 {
		if args = f.fromArgs(a.ctx, args); f.path == "" {
			return errNoGraph
		}
		f.graphs = []string{f.path}
	}
	queries, err := a.ready(&f.searchFlags, args)
	if err != nil {
		return err
	}
	variants, err := parseVariants(f.variants, "weft ")
	if err != nil {
		return err
	}
	variants = append([]variant{{name: "weft"}}, variants...)
	peers, err := a.peers(f.peers)
	if err != nil {
		return err
	}
	var rows []benchRow
	var differ bool
	var failed error
	err = a.streamRows(f.out, f.outFormat(), f.timeout, benchColumns(&rows), func(upTo func(n int) error) (err error) {
		differ, failed, err = a.benchAll(f, queries, variants, peers, &rows, upTo)
		return err
	})
	if err != nil {
		return err
	}
	return a.benchEnd(differ, failed)
}

// benchAll measures all queries on all graphs, and writes the rows of each as soon as they are there. It returns whether counts differ, the
// first failure of a run, and an error that ended it.
func (a *app) benchAll(f *benchFlags, queries []*weft.Query, variants []variant, peers []bench.Peer, rows *[]benchRow, upTo func(n int) error) (differ bool, failed, err error) {
	for _, path := range f.graphs {
		f.path = path
		g, err := a.load(&f.graphFlags, &f.commonFlags, a.progress(f.progress))
		if err != nil {
			return differ, failed, err
		}
		for _, q := range queries {
			contestants := a.contestants(g, q, f, variants)
			for i := range peers {
				if peers[i].Plays(q.Name()) {
					contestants = append(contestants, peers[i].Contestant(path, q.Name(), ""))
				}
			}
			for _, r := range bench.Measure(a.ctx, contestants, f.warmup, f.runs) {
				*rows = append(*rows, benchRow{path, q.Name(), r})
				differ = differ || r.Err == nil && r.Answer != "" && !r.Agrees
				if r.Err != nil {
					fmt.Fprintf(a.stderr, "weft: %s, %s, %s: %v\n", path, q.Name(), r.Name, r.Err)
					failed = cmp.Or(failed, r.Err)
				}
			}
			if err := upTo(len(*rows)); err != nil {
				g.Close()
				return differ, failed, err
			}
			if a.ctx.Err() != nil {
				break
			}
		}
		g.Close()
	}
	return differ, failed, nil
}

// benchEnd returns the error of a benchmark, whose messages are written: counts that differ, or else the
// first failure of a run, or else an interruption.
func (a *app) benchEnd(differ bool, failed error) error {
	if differ {
		fmt.Fprintln(a.stderr, "weft: counts differ")
		return exitError(exitFailure)
	}
	if failed != nil {
		return exitError(a.failure(codeOf(failed)))
	}
	return context.Cause(a.ctx)
}

// peers reads the file that --peers names. It returns nil for an empty name.
func (a *app) peers(file string) ([]bench.Peer, error) {
	if file == "" {
		return nil, nil
	}
	peers, err := await(a.ctx, func() ([]bench.Peer, error) { return bench.ReadPeers(vfs.From(a.ctx), file) })
	if err != nil {
		return nil, kindf(weft.ErrInput, "--peers: %w", err)
	}
	return peers, nil
}

// variant is a name with options.
type variant struct {
	name    string
	options []weft.Option
}

// parseVariants reads texts "NAME:SETTING,…". Names get a prefix.
func parseVariants(texts []string, prefix string) (out []variant, err error) {
	for _, text := range texts {
		name, settings, ok := strings.Cut(text, ":")
		if !ok {
			return nil, usagef("--variant %q: want NAME:SETTING,…", text)
		}
		v := variant{name: prefix + name}
		for s := range strings.SplitSeq(settings, ",") {
			key, value, ok := strings.Cut(strings.TrimSpace(s), "=")
			threads := 0
			switch {
			case !ok:
				return nil, usagef("--variant %q: %q is not a NAME=VALUE", text, s)
			case key == "engine":
				v.options = append(v.options, weft.WithEngine(value))
			case key == "device":
				v.options = append(v.options, weft.WithDevice(value))
			case key == "order":
				v.options = append(v.options, weft.WithOrder(value))
			case key == "threads":
				if _, err := fmt.Sscan(value, &threads); err != nil || threads < 1 {
					return nil, usagef("--variant %q: %q is not a number of threads", text, value)
				}
				v.options = append(v.options, weft.WithThreads(threads))
			default:
				v.options = append(v.options, weft.WithEngineOption(key, value))
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// contestants are the variants of weft on one case.
func (a *app) contestants(g *weft.Graph, q *weft.Query, f *benchFlags, variants []variant) []bench.Contestant {
	var out []bench.Contestant
	for _, v := range variants {
		options := append(f.commonFlags.options(), v.options...)
		out = append(out, bench.Contestant{Name: v.name, Run: func(ctx context.Context) (bench.Sample, error) {
			ctx, cancel := f.within(ctx)
			defer cancel()
			r, err := g.Count(ctx, q, options...)
			if err != nil {
				return bench.Sample{}, err
			}
			answer := r.Embeddings
			if headline(&r, f.wants(q)) == "subgraphs" {
				answer = r.Subgraphs
			}
			return bench.Sample{Took: r.Search, Plan: r.Plan, Prepare: r.Prepare, Answer: answer.String()}, nil
		}})
	}
	return out
}

// countIn is an answer for a column of counts. It is text if a peer, or a program with several
// results, gives an answer other than one whole number, and nil if there is none.
func countIn(answer string) any {
	if answer == "" {
		return nil
	}
	if n, ok := new(big.Int).SetString(answer, 10); ok && n.String() == answer {
		return n
	}
	return answer
}

// benchColumns are the columns of the rows that there are so far.
func benchColumns(rows *[]benchRow) []sink.Column {
	of := func(get func(*benchRow) any) func(int) any {
		return func(i int) any { return get(&(*rows)[i]) }
	}
	ms := func(get func(*benchRow) time.Duration) func(int) any {
		return of(func(r *benchRow) any {
			if r.Runs == 0 {
				return nil
			}
			return float64(get(r).Microseconds()) / 1000
		})
	}
	return []sink.Column{
		column("graph", sink.String, of(func(r *benchRow) any { return r.graph })),
		column("pattern", sink.String, of(func(r *benchRow) any { return r.pattern })),
		column("who", sink.String, of(func(r *benchRow) any { return r.Name })),
		column("median_ms", sink.Float, ms(func(r *benchRow) time.Duration { return r.Median })),
		column("least_ms", sink.Float, ms(func(r *benchRow) time.Duration { return r.Least })),
		column("most_ms", sink.Float, ms(func(r *benchRow) time.Duration { return r.Most })),
		column("plan_ms", sink.Float, ms(func(r *benchRow) time.Duration { return r.Plan })),
		column("prepare_ms", sink.Float, ms(func(r *benchRow) time.Duration { return r.Prepare })),
		column("ratio", sink.Float, of(func(r *benchRow) any {
			if r.Ratio == 0 {
				return nil
			}
			return float64(int64(r.Ratio*1000+0.5)) / 1000
		})),
		column("count", sink.Count, of(func(r *benchRow) any { return countIn(r.Answer) })),
		column("note", sink.String, of(func(r *benchRow) any {
			switch {
			case r.Err != nil:
				return r.Err.Error()
			case r.Answer == "":
				return "no count"
			case !r.Agrees:
				return "COUNT DIFFERS"
			}
			return ""
		})),
	}
}
