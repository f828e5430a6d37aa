package main

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/sink"
)

// searchFlags are the flags of commands that ask queries of a graph.
type searchFlags struct {
	graphFlags
	commonFlags
	queryFlags
	count string
}

func (f *searchFlags) add(cmd *cobra.Command) {
	f.graphFlags.add(cmd)
	f.queryFlags.add(cmd)
	f.commonFlags.add(cmd)
}

// addWhat adds the flags of commands that count or list.
func (f *searchFlags) addWhat(cmd *cobra.Command) {
	f.addLimit(cmd)
	cmd.Flags().StringVar(&f.count, "count", "", "count or list subgraphs or embeddings; default subgraphs under iso, embeddings under hom and trail")
}

// ready checks the flags and reads the queries, so that mistakes are found
// before the graph is read.
func (a *app) ready(f *searchFlags, args []string) ([]*weft.Query, error) {
	ctx, cancel := a.reading(&f.commonFlags)
	defer cancel()
	queries, err := await(ctx, func() ([]*weft.Query, error) {
		if err := f.checkWithoutDevices(ctx); err != nil {
			return nil, err
		}
		queries, err := f.queries(ctx, args)
		if err != nil {
			return nil, err
		}
		for _, q := range queries {
			if f.standing && q.Standing() {
				continue // what reads it checks it
			}
			if err := q.Check(f.commonFlags.options()...); err != nil {
				return nil, err
			}
		}
		if err := f.checkParams(queries); err != nil {
			return nil, err
		}
		return queries, f.checkDevices(ctx, a.runtime) // last: a typo is the same mistake on a machine without a GPU
	})
	return queries, a.whileReading(ctx, "the patterns", err)
}

// withQueries reads the queries and then the graph, and opens the output.
func (a *app) withQueries(f *searchFlags, args []string, do func(queries []*weft.Query, g *weft.Graph, bar *progress, out *output) error) error {
	queries, err := a.ready(f, args)
	if err != nil {
		return err
	}
	bar := a.progress(f.progress)
	g, err := a.load(&f.graphFlags, &f.commonFlags, bar)
	if err != nil {
		return err
	}
	defer a.closes(g)
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	return do(queries, g, bar, out)
}

// checkParams refuses a --param that no query has.
func (f *searchFlags) checkParams(queries []*weft.Query) error {
	var known []string
	for _, q := range queries {
		known = append(known, q.Params()...)
	}
	for _, s := range f.params {
		name, _, _ := strings.Cut(s, "=")
		if !slices.Contains(known, name) {
			return usagef("--param %s: the query has no parameter $%s", s, name)
		}
	}
	return nil
}

// checkSubgraphs refuses to count subgraphs where they are not defined.
func (f *searchFlags) checkSubgraphs(queries []*weft.Query) error {
	for _, q := range queries {
		s, err := q.Semantics(weft.Concerning("Query.Semantics", f.commonFlags.options()...)...)
		if err != nil {
			return err
		}
		if s != "iso" && f.wants(q) == "subgraphs" {
			return kindf(weft.ErrQuery, "subgraphs are defined under iso only, not under %s: ask for --count embeddings", s)
		}
	}
	return nil
}

// answer is the kind of a query's result.
type answer string

const (
	matches answer = "matches"
	totals  answer = "totals"
	aVertex answer = "counts per vertex"
	whether answer = "whether there is a match"
)

// answerOf is the kind of result that weft count gives for a query.
func answerOf(q *weft.Query) answer {
	if _, ok := q.AsksParticipation(); ok {
		return aVertex
	}
	return totals
}

// listingOf is the kind of result that weft match gives for a query.
func listingOf(q *weft.Query) answer {
	_, count := q.AsksCount()
	switch {
	case count:
		return totals
	case q.AsksExists():
		return whether
	case answerOf(q) == aVertex:
		return aVertex
	}
	return matches
}

// allAsk is the one kind of answer that all queries ask for. Tables of different columns
// only go into one output as lines of JSON.
func (f *searchFlags) allAsk(queries []*weft.Query, of func(*weft.Query) answer) (answer, error) {
	kind := of(queries[0])
	for _, q := range queries {
		if k := of(q); k != kind {
			return "", usagef("some of the queries ask for %s and some for %s: run them apart", kind, k)
		}
	}
	if len(queries) > 1 && (kind == matches || kind == aVertex) && f.to != "ndjson" {
		return "", usagef("%d patterns do not go into one table: use --to ndjson, or one pattern", len(queries))
	}
	return kind, nil
}

// explains reports whether the queries ask, with EXPLAIN or PROFILE, how they
// are matched rather than for matches.
func explains(queries []*weft.Query) (bool, error) {
	n := 0
	for _, q := range queries {
		if explain, profile := q.AsksExplain(); explain || profile {
			n++
		}
	}
	if n > 0 && n < len(queries) {
		return false, usagef("some of the queries begin with EXPLAIN or PROFILE and some do not: run them apart")
	}
	return n > 0, nil
}

func (f *searchFlags) checkWithoutDevices(ctx context.Context) error {
	switch f.count {
	case "", "subgraphs", "embeddings":
	default:
		return usagef("--count %q: want subgraphs or embeddings", f.count)
	}
	if err := f.commonFlags.checkWithoutDevices(ctx); err != nil {
		return err
	}
	return keepInputs(ctx, slices.Concat(f.inputs(), f.files), f.out)
}

func (a *app) countCmd() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "count [-g] FILE [flags] [QUERY]",
		Short: "count the matches of patterns",
		Long: `Count the matches of each pattern, exactly, and write one result for each pattern.

Embeddings are the ways to map the pattern's names to vertices. Subgraphs are
embeddings up to the pattern's own symmetries: a triangle has 6 embeddings and is
1 subgraph. The query's RETURN or --count chooses one of the two numbers for the
first column. JSON always has both.

RETURN participation(v) writes a row for each vertex, or for each group of
vertices. With any other RETURN count writes totals.

The graph is read once for all patterns. --timeout and --limit hold for each
pattern. A result that was cut short says complete: false, and its numbers are
lower bounds.

` + exitCodesHelp,
		Example: `  weft count -g graph.txt.gz 'MATCH (a)--(b)--(c)--(a)'
  weft count -g graph.txt.gz --pattern 'clique(4)' --to json
  weft count -g graph.weft -f queries/ --count embeddings --to ndjson --timeout 60s
  weft count -g graph.weft 'MATCH (a)--(b)--(c)--(a) RETURN participation(a)' --to csv -o triangles.csv`,
		RunE: func(_ *cobra.Command, args []string) error { return a.count(&f, f.fromArgs(a.ctx, args)) },
	}
	f.add(cmd)
	f.addWhat(cmd)
	return cmd
}

func (a *app) count(f *searchFlags, args []string) error {
	queries, err := a.ready(f, args)
	if err != nil {
		return err
	}
	if explain, err := explains(queries); err != nil {
		return err
	} else if explain {
		return a.explain(f, args, false, weft.WithListing(false))
	}
	if err := f.checkSubgraphs(queries); err != nil {
		return err
	}
	switch kind, err := f.allAsk(queries, answerOf); {
	case err != nil:
		return err
	case kind == aVertex:
		return a.participation(f, queries)
	}
	bar := a.progress(f.progress)
	g, err := a.load(&f.graphFlags, &f.commonFlags, bar)
	if err != nil {
		return err
	}
	defer a.done(g)
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	w := newResultWriter(out, &f.commonFlags, f.wants(queries[0]), len(queries))
	var cut error
	options := append(f.commonFlags.options(), bar.options()...)
	options = append(options, f.list()...)
	for r, err := range g.CountEach(a.ctx, queries, append(options, weft.WithTimeout(f.timeout))...) {
		bar.clear()
		if c := a.cutOf(err); c != nil {
			cut = c
		} else if err != nil {
			_ = out.finish(err)
			return err
		}
		if err := w.add(r); err != nil {
			return out.finish(err)
		}
		a.report(&f.commonFlags, r)
		if cut == errInterrupted {
			break
		}
	}
	if err := out.finish(w.close()); err != nil {
		return err
	}
	return a.cutShort(cut)
}

// cutShort says why results are partial and chooses the exit code.
func (a *app) cutShort(cause error) error {
	switch cause {
	case nil:
		return nil
	case errTimeout:
		fmt.Fprintln(a.stderr, "weft: --timeout passed: the result is partial, its numbers are lower bounds")
		return exitError(exitTimeout)
	}
	fmt.Fprintln(a.stderr, "weft: interrupted: the result is partial, its numbers are lower bounds")
	return exitError(exitInterrupted)
}

// report writes notes, and with --stats how the result came about.
func (a *app) report(f *commonFlags, r weft.Result) {
	a.notes(r)
	if f.stats {
		a.stats(r)
	}
}

// stats writes how a result came about.
func (a *app) stats(r weft.Result) {
	if r.Engine == "" {
		a.unsearched(r.Load, r.Plan)
		return
	}
	part := func(name string, took time.Duration) string {
		if took <= 0 {
			return ""
		}
		return fmt.Sprintf(", %s %s", name, brief(took))
	}
	fmt.Fprintf(a.stderr, "weft: engine %s on %s (%s), method %s; load %s%s%s, plan %s%s, search %s; peak memory %d MiB\n",
		r.Engine, r.Device, r.Reason, r.Method, brief(r.Load), part("open devices", r.Open), part("check", r.Check), brief(r.Plan), part("prepare", r.Prepare), brief(r.Search), r.PeakMemory>>20)
	for _, s := range r.Stats {
		fmt.Fprintf(a.stderr, "weft: %s\n", s)
	}
}

func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// resultWriter writes results: JSON as they come, tables at the end.
type resultWriter struct {
	json     jsonWriter
	headline string // "" is the default of each result
	rows     []weft.Result
}

func newResultWriter(w io.Writer, f *commonFlags, headline string, queries int) *resultWriter {
	return &resultWriter{json: jsonWriter{w: w, to: f.outFormat(), many: queries > 1}, headline: headline}
}

func (w *resultWriter) add(r weft.Result) error {
	if w.json.takes() {
		return w.json.add(r)
	}
	w.rows = append(w.rows, r)
	return nil
}

func (w *resultWriter) close() error {
	if w.json.takes() {
		return w.json.close()
	}
	return writeRows(w.json.w, w.json.to, len(w.rows), w.columns())
}

// columns has the headline number first.
func (w *resultWriter) columns() []sink.Column {
	subgraphs := w.counts("subgraphs", func(r *weft.Result) *big.Int { return r.Subgraphs })
	embeddings := w.counts("embeddings", func(r *weft.Result) *big.Int { return r.Embeddings })
	cols := []sink.Column{subgraphs, embeddings}
	if len(w.rows) > 0 && headline(&w.rows[0], w.headline) == "embeddings" {
		cols[0], cols[1] = cols[1], cols[0]
	}
	return append(cols,
		w.counts("automorphisms", func(r *weft.Result) *big.Int { return r.Automorphisms }),
		column("semantics", sink.String, func(i int) any { return semantics(&w.rows[i]) }),
		column("complete", sink.Bool, func(i int) any { return w.rows[i].Complete }),
		column("seconds", sink.Float, func(i int) any { return seconds(w.rows[i].Search + w.rows[i].Plan) }),
		column("query", sink.String, func(i int) any { return w.rows[i].Query }),
	)
}

func semantics(r *weft.Result) string {
	if r.Induced {
		return r.Semantics + " induced"
	}
	return r.Semantics
}

// headline is the number that a result is about.
func headline(r *weft.Result, asked string) string {
	switch {
	case asked != "":
		return asked
	case r.Subgraphs == nil:
		return "embeddings"
	}
	return "subgraphs"
}

// counts is a column of exact counts: text where one exceeds 63 bits.
func (w *resultWriter) counts(name string, get func(*weft.Result) *big.Int) sink.Column {
	t := sink.Int
	for i := range w.rows {
		if x := get(&w.rows[i]); x != nil && !x.IsInt64() {
			t = sink.String
		}
	}
	return column(name, t, func(i int) any {
		x := get(&w.rows[i])
		switch {
		case x == nil:
			return nil
		case t == sink.String:
			return x.String()
		}
		return x.Int64()
	})
}

func seconds(d time.Duration) float64 { return float64(d.Round(time.Microsecond)) / 1e9 }
