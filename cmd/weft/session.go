package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/plan"
)

// errNoGraph says how to name a graph.
var errNoGraph = usagef("no graph: give a file with -g, or as the first argument")

// load opens the graph of the flags. It reports on standard error how many lines and edges the
// reader kept and dropped.
func (a *app) load(g *graphFlags, c *commonFlags, p *progress) (*weft.Graph, error) {
	if a.opened != nil {
		return a.opened, nil
	}
	if g.path == "" {
		return nil, errNoGraph
	}
	if g.skip < 0 {
		return nil, usagef("--skip %d: lines to skip cannot be negative", g.skip)
	}
	ctx, cancel := a.reading(c)
	defer cancel()
	graph, err := a.runtime.Open(ctx, g.path, weft.Concerning("Open", slices.Concat(g.options(), c.options(), p.options())...)...)
	p.clear()
	if err != nil {
		return nil, a.whileReading(ctx, g.path, err)
	}
	a.reportRead(graph.Read(), c.stats)
	return graph, nil
}

// reportRead reports the reader's drops and guesses and, with all, also the kept edges. For a
// converted graph the report was made at the conversion.
func (a *app) reportRead(r weft.ReadReport, all bool) {
	if r.Converted && !all {
		return
	}
	for _, n := range r.Notes {
		fmt.Fprintf(a.stderr, "weft: %s\n", n)
	}
	drop := ""
	add := func(n uint64, one, many string) {
		switch {
		case n == 1:
			drop += ", 1 " + one
		case n > 1:
			drop += fmt.Sprintf(", %d %s", n, many)
		}
	}
	add(r.SelfLoops, "self-loop dropped", "self-loops dropped")
	add(r.Duplicates, "duplicate dropped", "duplicates dropped")
	add(r.Reciprocal, "reciprocal edge merged", "reciprocal edges merged")
	if drop == "" && !all {
		return
	}
	read := "read"
	if r.Converted {
		read = "converted from"
	}
	fmt.Fprintf(a.stderr, "weft: %s %s: %s, %s kept%s\n", read, r.Format, plural(r.Lines, "line"), plural(r.Kept, "edge"), drop)
}

// interruption is how a query was cut short, or nil: by its timeout or by a
// signal. Any other error is a failure.
func (a *app) interruption(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errTimeout), errors.Is(err, errInterrupted):
		return context.Cause(ctx)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		if cause := context.Cause(ctx); cause == errTimeout || cause == errInterrupted {
			return cause
		}
	}
	return nil
}

// notes writes a result's notes to standard error. A note about the graph is the same for all
// queries, and is written once.
func (a *app) notes(r weft.Result) {
	for _, n := range r.Notes {
		if n == plan.ArrowsGuessed {
			if a.arrows {
				continue
			}
			a.arrows = true
		}
		fmt.Fprintf(a.stderr, "weft: %s\n", n)
	}
}

func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
