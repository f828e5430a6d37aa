package main

import (
	"context"

	"github.com/weftgraph/weft"
)

// outcome is the error of a query with the context that it ran under.
type outcome struct {
	ctx context.Context
	err error
}

// countOne counts one query under its own timeout.
func (a *app) countOne(g *weft.Graph, q *weft.Query, f *searchFlags, bar *progress) (weft.Result, outcome) {
	ctx, cancel := f.within(a.ctx)
	defer cancel()
	options := append(f.commonFlags.options(), bar.options()...)
	r, err := g.Count(ctx, q, append(options, f.list()...)...)
	bar.clear()
	return r, outcome{ctx, err}
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

// participation writes the counts a vertex of RETURN participation(v).
func (a *app) participation(f *searchFlags, q *weft.Query, vertex string) error {
	bar := a.progress(f.progress)
	g, err := a.load(&f.graphFlags, &f.commonFlags, bar)
	if err != nil {
		return err
	}
	defer a.done(g)
	ctx, cancel := f.within(a.ctx)
	defer cancel()
	p, err := g.Participation(ctx, q, vertex, append(f.commonFlags.options(), bar.options()...)...)
	bar.clear()
	cut := a.interruption(ctx, err)
	if err != nil && cut == nil {
		return err
	}
	out, err := a.open(f.out)
	if err != nil {
		return err
	}
	if err := p.Write(out, f.outFormat()); err != nil {
		return out.finish(err)
	}
	a.report(&f.commonFlags, p.Result)
	if cut == nil {
		return out.finish(nil)
	}
	if _, err := out.partial(); err != nil {
		return err
	}
	return a.cutShort(cut)
}

// outFormat is the output format, table by default.
func (f *commonFlags) outFormat() string {
	if f.to == "" {
		return "table"
	}
	return f.to
}
