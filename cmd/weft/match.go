package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
)

func (a *app) matchCmd() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "match [-g] FILE [flags] [QUERY]",
		Short: "list the matches of a pattern",
		Long: `List the matches of a pattern. Each match is a row with the items of the query's
RETURN, or with all names of the pattern. Vertices are written with the graph's own
ids, edges with their ends, label, time and properties.

A query that returns items lists every embedding, as its count(*) would count
them. A pattern without RETURN lists each subgraph once under iso, and each
embedding under hom and trail. --count subgraphs or --count embeddings chooses one
of them.

Memory does not grow with the number of matches. The order of matches is not
defined.

With -o the file appears under its name when it is complete. A listing that
--timeout or Ctrl-C cut short is kept as FILE.partial.

` + exitCodesHelp,
		Example: `  weft match -g graph.txt.gz --pattern triangle --limit 10
  weft match -g follows.csv --directed 'MATCH (a)-->(b)-->(c) WHERE deg(b) > 100 RETURN a, c, deg(b)'
  weft match -g tx.parquet 'MATCH (a)-[e:TX]->(b) WHERE e.amount > 1e6 RETURN a, b, e' --to ndjson
  weft match -g graph.weft --pattern 'clique(5)' --to parquet -o cliques.parquet`,
		RunE: func(_ *cobra.Command, args []string) error { return a.match(&f, f.fromArgs(a.ctx, args)) },
	}
	f.add(cmd)
	f.addWhat(cmd)
	return cmd
}

func (a *app) match(f *searchFlags, args []string) error {
	queries, err := a.ready(f, args)
	if err != nil {
		return err
	}
	if explain, err := explains(queries); err != nil {
		return err
	} else if explain {
		return a.explain(f, args, false, weft.WithListing(true))
	}
	switch kind, err := f.allAsk(queries, listingOf); {
	case err != nil:
		return err
	case kind == aVertex:
		return a.participation(f, queries)
	case kind == totals:
		return a.count(f, args)
	case kind == whether:
		return a.exists(f, args)
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
	var cut error
	for _, q := range queries {
		c, err := a.matchOne(g, q, f, bar, out, len(queries) > 1)
		if err != nil {
			return out.finish(err)
		}
		if c != nil {
			cut = c
		}
		if cut == errInterrupted {
			break
		}
	}
	if cut == nil {
		return out.finish(nil)
	}
	name, err := out.partial()
	if err != nil {
		return err
	}
	if name != "" {
		fmt.Fprintf(a.stderr, "weft: the matches found so far are in %s\n", name)
	}
	return a.cutShort(cut)
}

// matchOne lists one query; cut is how it was cut short.
func (a *app) matchOne(g *weft.Graph, q *weft.Query, f *searchFlags, bar *progress, out *output, named bool) (cut, err error) {
	ctx, cancel := a.within(a.ctx, &f.commonFlags)
	defer cancel()
	out.ctx = ctx
	defer func() { out.ctx = a.ctx }()
	options := append(f.commonFlags.options(), bar.options()...)
	options = append(options, f.list()...)
	if named {
		options = append(options, weft.WithQueryColumn())
	}
	r, err := g.List(ctx, q, out, f.outFormat(), options...)
	bar.clear()
	cut = a.interruption(ctx, err)
	if err != nil && cut == nil {
		return nil, err
	}
	a.limited = cut == nil && !r.Complete
	a.report(&f.commonFlags, r)
	return cut, nil
}
