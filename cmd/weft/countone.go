package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftgraph/weft"
)

// cutOf is interruption for a count that has its timeout from the library.
func (a *app) cutOf(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && a.ctx.Err() == nil {
		return errTimeout
	}
	return a.interruption(a.ctx, err)
}

// list is --count for the library.
func (f *searchFlags) list() []weft.Option {
	switch f.count {
	case "embeddings":
		return []weft.Option{weft.WithList(weft.Embeddings)}
	case "subgraphs":
		return []weft.Option{weft.WithList(weft.Subgraphs)}
	}
	return nil
}

// wants is the number that the query asks for: the text beats the flag.
func (f *searchFlags) wants(q *weft.Query) string {
	if w, ok := q.AsksCount(); ok {
		if w == weft.Embeddings {
			return "embeddings"
		}
		return "subgraphs"
	}
	return f.count
}

// participation writes the counts a vertex of queries that RETURN participation(v).
func (a *app) participation(f *searchFlags, queries []*weft.Query) error {
	for _, q := range queries {
		if err := q.Check(append(f.commonFlags.options(), f.list()...)...); err != nil {
			return err
		}
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
		c, err := a.participationOf(g, q, f, bar, out, len(queries) > 1)
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
	if _, err := out.partial(); err != nil {
		return err
	}
	return a.cutShort(cut)
}

// participationOf writes the counts of one query; cut is how it was cut short.
func (a *app) participationOf(g *weft.Graph, q *weft.Query, f *searchFlags, bar *progress, out *output, named bool) (cut, err error) {
	ctx, cancel := a.within(a.ctx, &f.commonFlags)
	defer cancel()
	options := append(f.commonFlags.options(), bar.options()...)
	if named {
		options = append(options, weft.WithQueryColumn())
	}
	vertex, _ := q.AsksParticipation()
	p, err := g.Participation(ctx, q, vertex, options...)
	bar.clear()
	cut = a.interruption(ctx, err)
	if err != nil && cut == nil {
		return nil, err
	}
	if p == nil { // planning was cut short
		return cut, nil
	}
	if err := p.Write(out, f.outFormat()); err != nil {
		return nil, err
	}
	a.report(&f.commonFlags, p.Result)
	if cut == nil && !p.Complete && f.limit > 0 {
		fmt.Fprintf(a.stderr, "weft: --limit %d was reached: the numbers are lower bounds\n", f.limit)
	}
	return cut, nil
}

// outFormat is the output format, table by default.
func (f *commonFlags) outFormat() string {
	if f.to == "" {
		return "table"
	}
	return f.to
}
