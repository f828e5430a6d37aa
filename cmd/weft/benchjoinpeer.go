package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/bench"
	"github.com/weftgraph/weft/internal/bench/exchange"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// peerFiles writes the files of other programs for one graph.
type peerFiles struct {
	app    *app
	f      *benchJoinFlags
	data   *graph.Graph
	name   string
	graphs map[string]string // files of the graph that were written, by form
}

// errNoPart is the error of a query that another program does not have.
type errNoPart struct{ why string }

func (e *errNoPart) Error() string { return e.why }

// readingTime is the time that another program may take to read its files.
const readingTime = time.Minute

// contestant is another program at one query. Its files are written when it first runs.
func (x *peerFiles) contestant(p *bench.Peer, m *measured) bench.Contestant {
	var run func(context.Context) (bench.Sample, error)
	return bench.Contestant{Name: p.Name, Run: func(ctx context.Context) (bench.Sample, error) {
		if len(p.Patterns) > 0 && !slices.Contains(p.Patterns, m.set) {
			return bench.Sample{}, &errNoPart{"it does not take part in this set"}
		}
		if run == nil {
			of, query, err := x.write(p, m)
			if err != nil {
				return bench.Sample{}, err
			}
			run = p.Contestant(of, m.query, query).Run
		}
		ctx, cancel := context.WithTimeoutCause(ctx, x.f.limit+readingTime, errTimeout)
		defer cancel()
		s, err := run(ctx)
		if err == nil && s.Took > x.f.limit {
			return bench.Sample{}, errTimeout
		}
		return s, err
	}}
}

// write writes a query, and the graph if it is not there yet, and returns the names of both files.
func (x *peerFiles) write(p *bench.Peer, m *measured) (of, query string, err error) {
	form := exchange.Form(p.Input)
	q, err := gql.ParseText(m.text)
	if err != nil {
		return "", "", err
	}
	if err := vfs.From(x.app.ctx).MkdirAll(x.f.work, 0o777); err != nil {
		return "", "", err
	}
	file := func(name string, write func(io.Writer) error) (string, error) {
		name = filepath.Join(x.f.work, name+"."+p.Input)
		out, err := x.app.open(name, 0)
		if err != nil {
			return "", err
		}
		// The graph's file may have changed, and then reading it panics.
		return name, out.finish(x.data.Guard(func() error { return write(out) }))
	}
	query, err = file("query", func(w io.Writer) error {
		err := exchange.WriteQuery(w, x.data, q.Pattern, form)
		if errors.Is(err, exchange.ErrForm) {
			return &errNoPart{err.Error()}
		}
		return err
	})
	if err != nil || x.graphs[p.Input] != "" {
		return x.graphs[p.Input], query, err
	}
	of, err = file(x.name, func(w io.Writer) error { return exchange.WriteGraph(w, x.data, form) })
	if err == nil {
		x.graphs[p.Input] = of
	}
	return of, query, err
}
