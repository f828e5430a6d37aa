package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/sink"
)

func (a *app) existsCmd() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "exists [-g] FILE [flags] [QUERY]",
		Short: "say whether a pattern occurs",
		Long: `Say whether a pattern occurs, and stop at its first match. The exit code follows
grep: 0 if the pattern occurs, 1 if it does not, 2 for a failure. With several
patterns it is 0 if any of them occurs.

` + exitCodesHelp,
		Example: `  weft exists -g graph.weft --pattern 'clique(8)' && echo yes`,
		RunE:    func(_ *cobra.Command, args []string) error { return a.exists(&f, f.fromArgs(a.ctx, args)) },
	}
	f.add(cmd)
	return cmd
}

func (a *app) exists(f *searchFlags, args []string) error {
	a.answers = true
	queries, err := a.ready(f, args)
	if err != nil {
		return err
	}
	if explain, err := explains(queries); err != nil {
		return err
	} else if explain {
		return a.explain(f, args, false, weft.WithListing(true), weft.WithLimit(1))
	}
	bar := a.progress(f.progress)
	g, err := a.load(&f.graphFlags, &f.commonFlags, bar)
	if err != nil {
		return err
	}
	defer a.done(g)
	type answer struct {
		query         string
		found, settle bool
	}
	var answers []answer
	some := false
	var cut error
	for _, q := range queries {
		ctx, cancel := a.within(a.ctx, &f.commonFlags)
		found, r, err := g.Exists(ctx, q, append(f.commonFlags.options(), bar.options()...)...)
		bar.clear()
		c := a.interruption(ctx, err)
		cancel()
		if err != nil && c == nil {
			return err
		}
		a.report(&f.commonFlags, r)
		answers = append(answers, answer{q.Name(), found, c == nil})
		some = some || found
		if c != nil {
			cut = c
		}
		if c == errInterrupted {
			break
		}
	}
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	err = writeRows(out, f.outFormat(), len(answers), []sink.Column{
		column("exists", sink.Bool, func(i int) any {
			if !answers[i].settle {
				return nil
			}
			return answers[i].found
		}),
		column("query", sink.String, func(i int) any { return answers[i].query }),
	})
	if err := out.finish(err); err != nil {
		return err
	}
	switch {
	case some:
		return nil
	case cut == errTimeout:
		fmt.Fprintln(a.stderr, "weft: --timeout passed before a match was found")
		return exitError(exitTimeout)
	case cut != nil:
		fmt.Fprintln(a.stderr, "weft: interrupted before a match was found")
		return exitError(exitInterrupted)
	}
	return exitError(exitFailure)
}
