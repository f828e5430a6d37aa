package weft

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"runtime/debug"
	"sync"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/route"
)

// ErrClosed is the error of a call on a graph after Close. It wraps fs.ErrClosed.
var ErrClosed error = closedError{}

type closedError struct{}

func (closedError) Error() string { return "the graph is closed" }

func (closedError) Unwrap() error { return fs.ErrClosed }

// leases counts the calls that use a graph's memory. The memory goes back when the
// graph is closed and the last of them has returned.
type leases struct {
	mu     sync.Mutex
	held   int
	closed bool
}

// lease is the hold of one call on the graphs that it reads.
type lease struct {
	graphs []*Graph
	held   []*Graph // those that no call around this one holds
	faults bool     // what the goroutine did about faults before
}

// leased is the key under which a context says that it belongs to a call on the graph.
type leased struct{ g *Graph }

// enter takes a lease for a call on g. See the function enter.
func (g *Graph) enter(ctx *context.Context) (lease, error) { return enter(ctx, g) }

// enter takes a lease for a call on graphs, or returns ErrClosed, or errNoGraph. Calls that are made
// with *ctx, which enter replaces, share the lease: they do not fail when the graph is
// closed meanwhile. Until the lease ends, a fault of the calling goroutine in mapped
// memory is a panic.
func enter(ctx *context.Context, graphs ...*Graph) (lease, error) {
	l := lease{graphs: graphs, faults: debug.SetPanicOnFault(true)}
	for _, g := range graphs {
		if g == nil || g.g == nil {
			l.graphs = nil
			l.end()
			return lease{}, errNoGraph
		}
		if (*ctx).Value(leased{g}) != nil {
			continue
		}
		g.leases.mu.Lock()
		closed := g.leases.closed
		if !closed {
			g.leases.held++
		}
		g.leases.mu.Unlock()
		if closed {
			l.end()
			return lease{}, ErrClosed
		}
		l.held = append(l.held, g)
		*ctx = context.WithValue(*ctx, leased{g}, true)
	}
	return l, nil
}

// enterInputs is enter for the graphs among a program's inputs.
func enterInputs(ctx *context.Context, in map[string]any) (lease, error) {
	var graphs []*Graph
	for _, v := range in {
		if g, ok := v.(*Graph); ok {
			graphs = append(graphs, g)
		}
	}
	return enter(ctx, graphs...)
}

// leave ends the lease; it is deferred. Where a graph's file turns out to be corrupt, or
// was changed during the call, *err says so, and the results, to which results points,
// become zero.
func (l lease) leave(err *error, results ...any) {
	defer l.end()
	x := recover()
	for _, g := range l.graphs {
		if e := g.g.Damage(x); e != nil {
			*err, x = e, nil
			break
		}
	}
	if x != nil {
		panic(x)
	}
	if errors.Is(*err, graph.ErrCorrupt) {
		*err = withKind(ErrInput, *err)
		for _, r := range results {
			reflect.ValueOf(r).Elem().SetZero()
		}
	}
}

// end gives the lease back, and with the last one the memory of a closed graph.
func (l lease) end() {
	debug.SetPanicOnFault(l.faults)
	for _, g := range l.held {
		g.leases.mu.Lock()
		g.leases.held--
		last := g.leases.closed && g.leases.held == 0
		g.leases.mu.Unlock()
		if last {
			_ = g.release()
		}
	}
}

// reads takes a lease for a method that has no error to return. It panics with ErrClosed
// when the graph's memory is gone.
func (g *Graph) reads() lease {
	g.leases.mu.Lock()
	defer g.leases.mu.Unlock()
	if g.leases.closed && g.leases.held == 0 {
		panic(ErrClosed)
	}
	g.leases.held++
	return lease{graphs: []*Graph{g}, held: []*Graph{g}, faults: debug.SetPanicOnFault(true)}
}

// done ends a lease of reads; it is deferred. A panic over a corrupt file becomes one with
// an error that says so.
func (l lease) done() {
	defer l.end()
	if x := recover(); x != nil {
		if e := l.graphs[0].g.Damage(x); e != nil {
			panic(withKind(ErrInput, e))
		}
		panic(x)
	}
}

// Close frees the memory of the graph, on GPUs as well, and unmaps its file. Calls that
// begin later return ErrClosed. Close does not wait for calls that run, and may be called
// from the body of a loop over Match: these calls end as usual, and the last one frees the
// memory. An iteration runs until its loop ends. What a busy GPU holds of the graph is freed
// when its search ends. Closing twice does nothing.
func (g *Graph) Close() error {
	if g == nil || g.g == nil {
		return nil
	}
	g.leases.mu.Lock()
	last := !g.leases.closed && g.leases.held == 0
	g.leases.closed = true
	g.leases.mu.Unlock()
	if last {
		return g.release()
	}
	return nil
}

// release frees the graph's memory.
func (g *Graph) release() error {
	g.prepared.drop()
	return errors.Join(route.Forget(g.g), g.g.Close())
}
