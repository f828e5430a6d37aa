package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench"
	"github.com/weftgraph/weft/internal/bench/exchange"
	"github.com/weftgraph/weft/internal/bench/queryset"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/regex"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/vfs"
)

// benchJoinFlags are the flags of bench join.
type benchJoinFlags struct {
	commonFlags
	graphs, sets, files, variants []string
	save, detail, peers, work     string
	each, runs, warmup, listing   int
	limit                         time.Duration // of one run
}

// joinVariants are the contestants of bench join, unless --variant names others.
var joinVariants = []string{
	"host:engine=host",
	"join single:engine=join,join.extend=single",
	"join multi:engine=join,join.extend=multi",
	"join interval:engine=join,join.lists=interval",
	"join hashed:engine=join,join.lists=hashed",
	"auto:engine=auto",
}

func (a *app) benchJoinCmd() *cobra.Command {
	var f benchJoinFlags
	cmd := &cobra.Command{
		Use:   "join -g FILE [-g FILE]... [flags]",
		Short: "measure sets of labelled queries, and compare the engines that join",
		Long: `Draw sets of queries from each graph, count each query with each contestant, and
write a row for each set and contestant. Contestants take turns at each query, so
that ratios come from one run. A run under 50 ms is done twice, and the second
counts, so that no contestant pays for the caches of another. All must give the
same count: a count that differs is marked, and the exit code is 1. A query that
does not end within --timeout is not finished, and is left out of that
contestant's times.

Sets:
  walk4, walk6, walk8, walk10, walk12
      random walks over 4 to 12 vertices, with their vertex labels, edge labels and
      directions, as in the papers of GSI and GENEVA; 100 queries each
  walk16, walk24, walk32
      the same over more vertices; only if asked for
  P2 P3 P4, T2 T3 T4, Ti2 Ti3 Ti4, J3 J4, Tr1 Tr2, S1 S2 S3 S4
      the shapes of the Wikidata graph pattern benchmark (paths, stars of outgoing and
      of incoming edges and of both, triangles, squares) with the edge labels of a
      random place in the graph; 50 queries each
The same graph and seed give the same queries. Each query has a match, and no two
queries of a set are the same up to names. A set has fewer queries if the graph has
fewer.

Contestants are host, join with phases of one vertex and of several, join with
interval-PCSR and with hashed PCSR, and auto. --variant names others, as for
weft bench; the first is the one that ratios refer to.

--peers names a JSON file of other programs, as for weft bench, with these parts more:
  "input"     the form of their files: tve (RapidMatch and others: one label for each
              vertex, undirected edges without labels) or gsi. weft writes the graph
              and each query in that form to the folder --work. In tve an edge that has
              a direction or a label becomes a path over vertices with labels of their
              own, so that counts stay the same
  "command"   {graph} and {query} stand for these files
  "patterns"  the names of the sets that it counts
A peer's time is the one that "seconds" finds in its output. Its time to read the
files is not part of --timeout, and may be a minute.

--listing N also has each contestant list the embeddings of a query with at most N of
them. The listings of a query must have the same rows, in any order, and as many as the
count: weft compares the numbers of rows and the sums of hashes of the rows. A listing
that differs is marked, and the exit code is 1. Listings are not measured. Other
programs (--peers) only count.

Columns:
  finished    queries that ended in time, without an error
  whole_ms    the sum of the medians of the finished queries: planning, preparation
              and search. Each run plans anew; what a graph keeps from earlier
              queries, such as lists by label and signatures, is there since the
              warm-up
  search_ms   the part of it that is search
  mean_ms     the geometric mean of the whole times
  wins        queries that this contestant finished first
  ratio       whole time divided by that of the first contestant, over the queries
              that both finished; mean_ratio is the geometric mean of the ratios
  tables      bytes of partial matches, summed over the queries, of engine join
  matches     embeddings of the finished queries, summed
  listed      with --listing, queries whose embeddings this contestant has listed

` + exitCodesHelp,
		Example: `  weft bench join -g fb15k237.weft
  weft bench join -g fb15k237.weft --set walk8 --set Tr1 --each 20 --seed 7 --detail queries.ndjson
  weft bench join -g fb15k237.weft --set T3 --listing 1000000
  weft bench join -g fb15k237.weft --save queries && weft count -g fb15k237.weft -f queries/fb15k237/P2.gql
  weft bench join -g fb15k237.weft --variant auto:engine=auto --peers peers.json --work /tmp/files
  weft bench join -g a.weft -f queries/a --variant 'host:engine=host' --variant 'no filter:engine=join,join.filter=off'`,
		Args: takes(),
		RunE: func(*cobra.Command, []string) error { return a.benchJoin(&f) },
	}
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.graphs, "graph", "g", nil, "graph `FILE` (repeatable)")
	f.addLoading(cmd)
	f.addWriting(cmd)
	fs.StringArrayVar(&f.sets, "set", nil, "`NAME` of a set of queries (repeatable; default: all but walk16, walk24 and walk32)")
	fs.IntVar(&f.each, "each", 0, "queries of a set; 0 means as many as in the papers")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the sets")
	fs.StringArrayVarP(&f.files, "file", "f", nil, "`FILE` or directory of queries to measure instead of drawn ones; a file is a set (repeatable)")
	fs.StringVar(&f.save, "save", "", "write each set to a file of `DIR`/GRAPH, and measure nothing")
	fs.StringArrayVar(&f.variants, "variant", nil, "`NAME:SETTING,…` of a contestant (repeatable)")
	fs.StringVar(&f.peers, "peers", "", "JSON `FILE` of other programs to measure too")
	fs.StringVar(&f.work, "work", "", "`DIR` for the files of other programs")
	fs.StringVar(&f.detail, "detail", "", "write a row for each query and contestant to `FILE`")
	fs.DurationVar(&f.limit, "timeout", 10*time.Second, "give up a run after this long (30s, 5m)")
	fs.IntVar(&f.runs, "runs", 3, "measured runs of each contestant at each query")
	fs.IntVar(&f.warmup, "warmup", 1, "runs before the measured ones")
	fs.IntVar(&f.listing, "listing", 0, "also compare the listings of queries with at most `N` embeddings; 0 means none")
	return cmd
}

func (a *app) benchJoin(f *benchJoinFlags) error {
	a.answers = true
	switch {
	case f.runs < 1 || f.warmup < 0:
		return usagef("--runs must be at least 1, and --warmup at least 0")
	case len(f.graphs) == 0:
		return usagef("no graph: give a file with -g")
	case f.listing < 0:
		return usagef("--listing cannot be negative")
	case f.listing > 0 && f.save != "":
		return usagef("--listing compares listings: it does not go with --save, which measures nothing")
	case f.each < 0 || f.limit <= 0:
		return usagef("--each cannot be negative, and --timeout must be positive")
	case slices.Contains(f.graphs, "-"):
		return usagef("-g -: the graph is read twice, and standard input is read once")
	case f.files != nil && (f.sets != nil || f.save != ""):
		return usagef("-f has the queries: it does not go with --set or --save")
	}
	for _, s := range f.sets {
		if !slices.Contains(queryset.Names(), s) {
			return usagef("--set %s: want one of %s%s", s, strings.Join(queryset.Names(), ", "), didYouMean(s, queryset.Names()))
		}
	}
	if f.sets == nil {
		f.sets = queryset.Usual()
	}
	if f.variants == nil {
		f.variants = joinVariants
	}
	variants, err := parseVariants(f.variants, "")
	if err != nil {
		return err
	}
	peers, err := a.peers(f.peers)
	if err != nil {
		return err
	}
	for _, p := range peers {
		if !slices.Contains(exchange.Forms(), p.Input) {
			return kindf(weft.ErrInput, "--peers: %s: input %q: want one of %s", p.Name, p.Input, strings.Join(exchange.Forms(), ", "))
		}
	}
	if peers != nil && f.work == "" {
		return usagef("--peers needs --work DIR, a folder for the files of other programs")
	}
	if err := f.check(a.ctx, a.runtime); err != nil {
		return err
	}
	if err := checkFiles(a.ctx, f.detail); err != nil {
		return err
	}
	var all []measured
	for _, path := range f.graphs {
		of, err := a.benchGraph(f, path, variants, peers)
		if err != nil {
			return err
		}
		all = append(all, of...)
	}
	if f.save != "" {
		return nil
	}
	out, err := a.open(f.out, 0)
	if err != nil {
		return err
	}
	if err := out.finish(writeJoinTotals(out, f.outFormat(), f.listing > 0, joinTotals(all))); err != nil {
		return err
	}
	if f.detail != "" {
		out, err := a.open(f.detail, 0)
		if err != nil {
			return err
		}
		if err := out.finish(writeJoinDetail(out, all)); err != nil {
			return err
		}
	}
	return a.benchJoinEnd(all)
}

// measured is one query of a set.
type measured struct {
	graph, set, query, text string
	rows                    []bench.Row
	listings                []listing // of the first contestants; nil: none was asked for
}

// benchGraph draws and measures, or saves, the sets of one graph. After an interruption it has
// measured a part of them.
func (a *app) benchGraph(f *benchJoinFlags, path string, variants []variant, peers []bench.Peer) (all []measured, err error) {
	of := graphFlags{path: path, format: "auto", setDirected: func() bool { return false }}
	g, err := a.load(&of, &f.commonFlags, a.progress(f.progress))
	if err != nil {
		return nil, err
	}
	defer a.done(g)
	memory, _ := parseBytes(f.memory)
	data, err := format.Read(a.ctx, path, format.ReadOptions{Threads: f.threads, Memory: memory, Files: vfs.From(a.ctx)}, nil)
	if err != nil {
		return nil, a.whileReading(a.ctx, path, kindf(weft.ErrInput, "%w", err))
	}
	defer data.Close()
	if f.files == nil {
		drawn, err := f.drawSets(a.ctx, data)
		for _, s := range drawn {
			if len(s.Queries) == 0 {
				fmt.Fprintf(a.stderr, "weft: %s: set %s has no queries: the graph has no such place\n", path, s.Name)
			}
		}
		if err != nil || f.save != "" {
			return nil, cmp.Or(err, a.saveSets(f, path, drawn))
		}
		for _, s := range drawn {
			for i, text := range s.Queries {
				all = append(all, measured{graph: path, set: s.Name, query: fmt.Sprintf("%s#%d", s.Name, i), text: text})
			}
		}
	}
	for _, file := range f.files {
		qs, err := queriesIn(a.ctx, file)
		if err != nil {
			return nil, err
		}
		for _, q := range qs {
			set, _, _ := strings.Cut(q.Name(), "#")
			all = append(all, measured{graph: path, set: set, query: q.Name(), text: q.String()})
		}
	}
	files := &peerFiles{app: a, f: f, data: data, name: stem(path), graphs: map[string]string{}}
	for i := range all {
		if a.ctx.Err() != nil {
			return all[:i], nil
		}
		m := &all[i]
		var contestants []bench.Contestant
		for _, v := range variants {
			contestants = append(contestants, f.contestant(g, m.text, v))
		}
		for k := range peers {
			contestants = append(contestants, files.contestant(&peers[k], m))
		}
		m.rows = bench.Measure(a.ctx, contestants, f.warmup, f.runs)
		if f.listing > 0 {
			f.list(a.ctx, g, m, variants)
		}
	}
	return all, nil
}

// stem is a file's name without folders and extensions.
func stem(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// drawSets draws the sets of a graph.
func (f *benchJoinFlags) drawSets(ctx context.Context, g *graph.Graph) (sets []queryset.Set, err error) {
	err = g.Guard(func() error {
		for _, name := range f.sets {
			s, err := queryset.Draw(ctx, g, name, f.each, f.seed)
			if err != nil {
				return err
			}
			sets = append(sets, s)
		}
		return nil
	})
	return sets, err
}

// saveSets writes each set to a file of the folder DIR/GRAPH, a query a line.
func (a *app) saveSets(f *benchJoinFlags, path string, sets []queryset.Set) error {
	dir := filepath.Join(f.save, stem(path))
	if err := vfs.From(a.ctx).MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, s := range sets {
		out, err := a.open(filepath.Join(dir, s.Name+".gql"), 0)
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, strings.Join(s.Queries, ";\n")+"\n")
		if err := out.finish(err); err != nil {
			return err
		}
	}
	return nil
}

// The lines of a result that have the phases of engine join, the rows and bytes that these handed on, and the most of them at a time.
var (
	phaseKinds  = regex.Once(`^join: (pattern 0.*)$`)
	rowsByPhase = regex.Once(`^join: rows by phase: .*; ([0-9]+) bytes in all$`)
	tables      = regex.Once(`^join: tables of partial matches had at most ([0-9]+) bytes$`)
)

// shortRun is a time of planning and search that depends on what the contestant before did to the
// processor's caches.
const shortRun = 50 * time.Millisecond

// contestant counts a query. Each run plans anew, as it has a query of its own. A short run is
// done twice, and the second counts.
func (f *benchJoinFlags) contestant(g *weft.Graph, text string, v variant) bench.Contestant {
	options := weft.Concerning("Graph.Count", slices.Concat(f.commonFlags.options(), v.options)...)
	return bench.Contestant{Name: v.name, Run: func(ctx context.Context) (bench.Sample, error) {
		runtime.GC() // garbage of the contestant before is not in this one's time
		s, err := f.count(ctx, g, text, options)
		if err == nil && s.Whole() < shortRun {
			s, err = f.count(ctx, g, text, options)
		}
		return s, err
	}}
}

// count counts a query once.
func (f *benchJoinFlags) count(ctx context.Context, g *weft.Graph, text string, options []weft.Option) (bench.Sample, error) {
	q, err := weft.Parse(text)
	if err != nil {
		return bench.Sample{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.limit, errTimeout)
	defer cancel()
	r, err := g.Count(ctx, q, options...)
	if err != nil {
		return bench.Sample{}, err
	}
	s := bench.Sample{Took: r.Search, Plan: r.Plan, Prepare: r.Prepare, Answer: r.Embeddings.String()}
	for _, line := range r.Stats {
		if m := phaseKinds().FindStringSubmatch(line); m != nil {
			s.Phases = m[1]
		}
		if m := rowsByPhase().FindStringSubmatch(line); m != nil {
			s.Bytes, _ = strconv.ParseUint(m[1], 10, 64)
		}
		if m := tables().FindStringSubmatch(line); m != nil {
			s.Peak, _ = strconv.ParseUint(m[1], 10, 64)
		}
	}
	return s, nil
}

// joinTotal is a row of the output.
type joinTotal struct {
	graph, set string
	bench.Total
	matches *big.Int
	failure error // of the first query that did not finish
	listed  int   // queries
	wrong   int   // listed ones whose rows are not those of the first contestant, or are not as many as the count
}

// joinTotals sums up each set of each graph, and all sets of a graph that has several.
func joinTotals(all []measured) (out []joinTotal) {
	for _, of := range runsOf(all, func(m *measured) string { return m.graph }) {
		sets := runsOf(of, func(m *measured) string { return m.set })
		for _, s := range sets {
			out = append(out, joinTotalsOf(s, s[0].set)...)
		}
		if len(sets) > 1 {
			out = append(out, joinTotalsOf(of, "all")...)
		}
	}
	return out
}

// runsOf splits a list between elements of different names.
func runsOf(all []measured, name func(*measured) string) (out [][]measured) {
	from := 0
	for i := range all {
		if i+1 == len(all) || name(&all[i]) != name(&all[i+1]) {
			out = append(out, all[from:i+1])
			from = i + 1
		}
	}
	return out
}

func joinTotalsOf(of []measured, set string) (out []joinTotal) {
	var questions [][]bench.Row
	for i := range of {
		questions = append(questions, of[i].rows)
	}
	for i, t := range bench.Sum(questions) {
		row := joinTotal{graph: of[0].graph, set: set, Total: t, matches: new(big.Int)}
		for _, rows := range questions {
			r := &rows[i]
			n, ok := new(big.Int).SetString(r.Answer, 10)
			if ok && r.Err == nil {
				row.matches.Add(row.matches, n)
			}
			row.failure = cmp.Or(row.failure, r.Err)
		}
		for k := range of {
			if i < len(of[k].listings) && of[k].listings[i].done {
				row.listed++
				if !of[k].listings[i].agrees {
					row.wrong++
				}
			}
		}
		out = append(out, row)
	}
	return out
}

// thousandths rounds to three digits after the point. 0 is none.
func thousandths(x float64) any {
	if x == 0 {
		return nil
	}
	return math.Round(x*1000) / 1000
}

func inMS(d time.Duration) any { return math.Round(float64(d.Microseconds())) / 1000 }

func writeJoinTotals(out *output, to string, listed bool, rows []joinTotal) error {
	columns := []sink.Column{
		column("graph", sink.String, func(i int) any { return rows[i].graph }),
		column("set", sink.String, func(i int) any { return rows[i].set }),
		column("who", sink.String, func(i int) any { return rows[i].Name }),
		column("queries", sink.Int, func(i int) any { return int64(rows[i].Questions) }),
		column("finished", sink.Int, func(i int) any { return int64(rows[i].Finished) }),
		column("whole_ms", sink.Float, func(i int) any { return inMS(rows[i].Whole) }),
		column("search_ms", sink.Float, func(i int) any { return inMS(rows[i].Search) }),
		column("mean_ms", sink.Float, func(i int) any { return inMS(rows[i].Mean) }),
		column("wins", sink.Int, func(i int) any { return int64(rows[i].Wins) }),
		column("ratio", sink.Float, func(i int) any { return thousandths(rows[i].Ratio) }),
		column("mean_ratio", sink.Float, func(i int) any { return thousandths(rows[i].MeanRatio) }),
		column("tables", sink.Int, func(i int) any { return int64(rows[i].Bytes) }),
		column("matches", sink.Count, func(i int) any { return rows[i].matches }),
		column("note", sink.String, func(i int) any {
			var notes []string
			r := &rows[i]
			if r.Differ > 0 {
				notes = append(notes, fmt.Sprintf("%d COUNTS DIFFER", r.Differ))
			}
			if r.wrong > 0 {
				notes = append(notes, fmt.Sprintf("%d LISTINGS DIFFER", r.wrong))
			}
			if notes == nil && r.failure != nil {
				notes = append(notes, r.failure.Error())
			}
			return strings.Join(notes, ", ")
		}),
	}
	if listed {
		at := len(columns) - 1 // before the note
		columns = slices.Insert(columns, at, column("listed", sink.Int, func(i int) any { return int64(rows[i].listed) }))
	}
	return writeRows(out, to, len(rows), columns)
}

// writeJoinDetail writes a line of JSON for each contestant at each query.
func writeJoinDetail(out *output, all []measured) error {
	w := &jsonWriter{w: out, to: "ndjson", many: true}
	for i := range all {
		m := &all[i]
		for k, r := range m.rows {
			line := struct {
				Graph   string  `json:"graph"`
				Set     string  `json:"set"`
				Query   string  `json:"query"`
				Text    string  `json:"text"`
				Who     string  `json:"who"`
				Whole   float64 `json:"whole_ms"`
				Plan    float64 `json:"plan_ms"`
				Prepare float64 `json:"prepare_ms"`
				Search  float64 `json:"search_ms"`
				Tables  uint64  `json:"tables"`
				Peak    uint64  `json:"peak"`
				Phases  string  `json:"phases,omitempty"`
				Count   any     `json:"count"`
				Agrees  bool    `json:"agrees"`
				Rows    *uint64 `json:"listed,omitempty"`
				Hash    string  `json:"listing,omitempty"`
				Error   string  `json:"error,omitempty"`
			}{
				m.graph, m.set, m.query, m.text, r.Name,
				r.Whole.Seconds() * 1000, r.Plan.Seconds() * 1000, r.Prepare.Seconds() * 1000, r.Median.Seconds() * 1000,
				r.Bytes, r.Peak, r.Phases, countIn(r.Answer), r.Agrees, nil, "", "",
			}
			if k < len(m.listings) && m.listings[k].done {
				line.Rows, line.Hash = &m.listings[k].rows, fmt.Sprintf("%016x", m.listings[k].sum)
			}
			if r.Err != nil {
				line.Error = r.Err.Error()
			}
			if err := w.add(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// unfinished reports whether an error only says that a contestant has no answer to a query.
func unfinished(err error) bool {
	return errors.Is(err, errTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*plan.Refusal)) || errors.As(err, new(*errNoPart))
}

// benchJoinEnd writes the errors of the runs, and returns benchEnd's. A query that takes too long, or that an
// engine refuses, is not an error.
func (a *app) benchJoinEnd(all []measured) error {
	differ, listings := false, false
	var failed error
	for i := range all {
		m := &all[i]
		for k := range m.listings {
			l := &m.listings[k]
			if l.done && !l.agrees {
				fmt.Fprintf(a.stderr, "weft: %s, %s, %s: the listing differs: %d rows\n", m.graph, m.query, m.rows[k].Name, l.rows)
				listings = true
			}
			if l.err != nil && !unfinished(l.err) {
				fmt.Fprintf(a.stderr, "weft: %s, %s, %s: listing: %v\n", m.graph, m.query, m.rows[k].Name, l.err)
				failed = cmp.Or(failed, l.err)
			}
		}
		for _, r := range m.rows {
			differ = differ || r.Err == nil && r.Answer != "" && !r.Agrees
			if r.Err != nil && !unfinished(r.Err) {
				fmt.Fprintf(a.stderr, "weft: %s, %s, %s: %v\n", m.graph, m.query, r.Name, r.Err)
				failed = cmp.Or(failed, r.Err)
			}
		}
	}
	if listings {
		fmt.Fprintln(a.stderr, "weft: listings differ")
		if !differ {
			return exitError(exitFailure)
		}
	}
	return a.benchEnd(differ, failed)
}
