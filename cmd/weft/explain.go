package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
)

func (a *app) explainCmd() *cobra.Command {
	var f searchFlags
	var analyze, matcha bool
	cmd := &cobra.Command{
		Use:   "explain [-g] FILE [flags] [QUERY]",
		Short: "show how a pattern would be matched",
		Long: `Show the plan of a pattern: the loop nest with the candidate set of each level,
the restrictions that break symmetries, how the last levels are counted, the
estimates, and which engine would run it and why. With --analyze the pattern is
also matched, each level shows the actual matches and time, and a table shows how
many vertices each filter leaves.

The query's RETURN decides what is planned: a listing if it returns items, a count
if there is no RETURN. The words EXPLAIN and PROFILE before a query do the same in
weft count, match and exists; PROFILE also matches, as --analyze does.

Of a CREATE WATCH the plan is how the matches are found that an update changes.

With --matcha the plan is written as a program in Matcha. The program gives the
query's answer when it is run on the graph. docs/matcha.md describes the language.

` + exitCodesHelp,
		Example: `  weft explain -g graph.weft --pattern house
  weft explain -g graph.weft --pattern house --analyze --order gsi
  weft explain -g graph.weft --pattern house --matcha | weft matcha run - -g graph.weft`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.program = matcha; matcha {
				if analyze {
					return usagef("--analyze runs an engine, and --matcha writes a program: see weft matcha run")
				}
				if err := onlyWritten(cmd); err != nil {
					return err
				}
				return a.explainMatcha(&f, f.fromArgs(a.ctx, args))
			}
			f.standing = true
			return a.explain(&f, f.fromArgs(a.ctx, args), analyze)
		},
	}
	f.add(cmd)
	toIs(cmd, "table, json, ndjson")
	cmd.Flags().BoolVar(&matcha, "matcha", false, "write the plan as a Matcha program; weft matcha run of it gives the query's answer")
	cmd.Flags().BoolVar(&analyze, "analyze", false, "match, and show actual matches and times per level, and what filters leave")
	return cmd
}

// explain shows how the queries are matched: as their RETURN asks, or as more
// options say.
func (a *app) explain(f *searchFlags, args []string, analyze bool, more ...weft.Option) error {
	if err := f.nameFormat(); err != nil {
		return err
	}
	if f.to != "" && f.to != "table" && f.to != "json" && f.to != "ndjson" {
		return usagef("--to %s: explain writes table, json or ndjson", f.to)
	}
	return a.withQueries(f, args, func(queries []*weft.Query, g *weft.Graph, bar *progress, out *output) error {
		w := jsonWriter{w: out, to: f.outFormat(), many: len(queries) > 1}
		var cut error
		for _, q := range queries {
			ctx, cancel := a.within(a.ctx, &f.commonFlags)
			options := slices.Concat(f.commonFlags.options(), bar.options(), f.list(), more)
			if _, profile := q.AsksExplain(); analyze || profile {
				options = append(options, weft.WithLevels())
			}
			e, err := g.Explain(ctx, q, options...)
			bar.clear()
			c := a.interruption(ctx, err)
			cancel()
			if err != nil && c == nil {
				return out.finish(err)
			}
			if e != nil { // not where planning was cut short
				if w.takes() {
					err = w.add(e)
				} else {
					err = writeExplanation(out, e)
				}
				if err != nil {
					return out.finish(err)
				}
				if f.stats {
					a.explainStats(g, e)
				}
			}
			if c != nil {
				cut = c
			}
			if c == errInterrupted {
				break
			}
		}
		if err := out.finish(w.close()); err != nil {
			return err
		}
		return a.cutShort(cut)
	})
}

// explainStats is stats for a planned query that may not have been run.
func (a *app) explainStats(g *weft.Graph, e *weft.Explanation) {
	if e.Result != nil {
		a.stats(*e.Result)
		return
	}
	a.unsearched(g.LoadTime(), e.Took)
}

// unsearched is stats where no search began.
func (a *app) unsearched(load, plan time.Duration) {
	fmt.Fprintf(a.stderr, "weft: load %s, plan %s; nothing was searched\n", brief(load), brief(plan))
}

func writeExplanation(out *output, e *weft.Explanation) error {
	if err := e.Write(out); err != nil {
		return err
	}
	name, reason := e.Engine()
	_, err := fmt.Fprintf(out, "engine %s: %s\n", name, reason)
	for i, phase := range e.Phases() {
		if err == nil {
			_, err = fmt.Fprintf(out, "phase %d: %s\n", i, phase)
		}
	}
	for _, line := range e.Memory() {
		if err == nil {
			_, err = fmt.Fprintf(out, "memory: %s\n", line)
		}
	}
	if err == nil && e.Result != nil {
		r := e.Result
		for _, line := range r.Stats {
			if err == nil && rowsByPhase().MatchString(line) {
				_, err = fmt.Fprintln(out, strings.TrimPrefix(line, "join: "))
			}
		}
		if err == nil {
			_, err = fmt.Fprintf(out, "found %v embeddings in %s, complete: %v\n", r.Embeddings, brief(r.Search), r.Complete)
		}
	}
	return err
}

// onlyWritten refuses the flags of runs where --matcha writes a program instead.
func onlyWritten(cmd *cobra.Command) error {
	for _, name := range []string{"engine", "device", "gpu-memory", "timeout", "stats"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s is about a run, and --matcha writes a program: see weft matcha run", name)
		}
	}
	return nil
}

// explainMatcha writes the programs of the queries' plans.
func (a *app) explainMatcha(f *searchFlags, args []string) error {
	if err := f.nameFormat(); err != nil {
		return err
	}
	if f.to != "" {
		return usagef("--to %s: a program is text", f.to)
	}
	return a.withQueries(f, args, func(queries []*weft.Query, g *weft.Graph, bar *progress, out *output) error {
		for i, q := range queries {
			m, err := g.Matcha(a.ctx, q, weft.Concerning("Graph.Matcha", append(f.commonFlags.options(), f.list()...)...)...)
			bar.clear()
			if err != nil {
				return out.finish(err)
			}
			if i > 0 {
				fmt.Fprintln(out)
			}
			fmt.Fprint(out, m)
		}
		return out.finish(nil)
	})
}
