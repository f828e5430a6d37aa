package weft

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"runtime/debug"

	"github.com/weftgraph/weft/internal/graph"
)

// ErrClosed is the error of a call on a graph after Close of it, or of its Runtime. It wraps
// fs.ErrClosed.
var ErrClosed error = closedError{"the graph is closed"}

// errRuntimeClosed is an ErrClosed.
var errRuntimeClosed error = closedError{"the runtime is closed"}

type closedError struct{ text string }

func (e closedError) Error() string { return e.text }

func (closedError) Is(target error) bool { return target == ErrClosed }

func (closedError) Unwrap() error { return fs.ErrClosed }

// lease is the hold of one call on the graphs that it reads.
type lease struct {
	graphs []*Graph
	held   []*Graph // those that no call around this one holds
	search bool     // it holds their runtimes, too
	faults bool     // what the goroutine did about faults before
	result *bool    // whether there is a result that no later change of a file can touch; or nil
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
	l := lease{graphs: graphs, search: true, faults: debug.SetPanicOnFault(true)}
	for _, g := range graphs {
		if g == nil || g.g == nil {
			l.graphs = nil
			l.end()
			return lease{}, errNoGraph
		}
		if (*ctx).Value(leased{g}) != nil {
			continue
		}
		if !g.rt.r.Leases.Take() {
			l.end()
			return lease{}, errRuntimeClosed
		}
		if !g.leases.Take() {
			_ = g.rt.r.Leave()
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
		if x == nil && l.result != nil && *l.result {
			break
		}
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

// end gives the lease back, and with the last one the memory of a closed graph, and what a
// closed runtime holds.
func (l lease) end() {
	debug.SetPanicOnFault(l.faults)
	for _, g := range l.held {
		if g.leases.Give() {
			_ = g.release()
		}
		if l.search {
			_ = g.rt.r.Leave()
		}
	}
}

// reads takes a lease for a method that has no error to return. It panics with ErrClosed
// when the graph's memory is gone.
func (g *Graph) reads() lease {
	if !g.leases.Share() {
		panic(ErrClosed)
	}
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
	if g.leases.Close() {
		return g.release()
	}
	return nil
}

// release frees the graph's memory.
func (g *Graph) release() error {
	g.prepared.drop()
	return errors.Join(g.rt.r.Forget(g.g), g.g.Close())
}
