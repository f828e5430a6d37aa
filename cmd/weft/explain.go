package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
)

func (a *app) explainCmd() *cobra.Command {
	var f searchFlags
	var analyze bool
	cmd := &cobra.Command{
		Use:   "explain [-g] FILE [flags] [QUERY]",
		Short: "show how a pattern would be matched",
		Long: `Show the plan of a pattern: the loop nest with the candidate set of each level,
the restrictions that break symmetries, how the last levels are counted, the
estimates, and which engine would run it and why. With --analyze the pattern is
counted as well, and each level shows the actual matches and time.

` + exitCodesHelp,
		Example: `  weft explain -g graph.weft --pattern house
  weft explain -g graph.weft --pattern house --analyze --order gsi`,
		RunE: func(_ *cobra.Command, args []string) error { return a.explain(&f, f.fromArgs(args), analyze) },
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&analyze, "analyze", false, "count, and show actual matches and times per level")
	return cmd
}

func (a *app) explain(f *searchFlags, args []string, analyze bool) error {
	if f.to != "" && f.to != "table" && f.to != "json" && f.to != "ndjson" {
		return usagef("--to %s: explain writes table, json or ndjson", f.to)
	}
	queries, err := f.ready(args)
	if err != nil {
		return err
	}
	bar := a.progress(f.progress)
	g, err := a.load(&f.graphFlags, &f.commonFlags, bar)
	if err != nil {
		return err
	}
	defer g.Close()
	out, err := a.open(f.out)
	if err != nil {
		return err
	}
	var cut error
	for _, q := range queries {
		ctx, cancel := f.within(a.ctx)
		options := append(f.commonFlags.options(), bar.options()...)
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
		if err := writeExplanation(out, e, f.to); err != nil {
			return out.finish(err)
		}
		if cut = c; cut != nil {
			break
		}
	}
	if err := out.finish(nil); err != nil {
		return err
	}
	return a.cutShort(cut)
}

func writeExplanation(out *output, e *weft.Explanation, to string) error {
	switch to {
	case "json":
		text, err := json.MarshalIndent(e, "", "  ")
		if err != nil {
			return err
		}
		_, err = out.Write(append(text, '\n'))
		return err
	case "ndjson":
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = out.Write(append(text, '\n'))
		return err
	}
	if err := e.Write(out); err != nil {
		return err
	}
	name, reason := e.Engine()
	_, err := fmt.Fprintf(out, "engine %s: %s\n", name, reason)
	if err == nil && e.Result != nil {
		r := e.Result
		_, err = fmt.Fprintf(out, "found %v embeddings in %s, complete: %v\n", r.Embeddings, brief(r.Search), r.Complete)
	}
	return err
}
