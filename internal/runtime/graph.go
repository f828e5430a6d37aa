package runtime

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"runtime/debug"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kind"
)

// Errors of Enter; test with errors.Is. Both are fs.ErrClosed.
var (
	ErrGraphClosed error = closedError{"the graph is closed"}
	ErrClosed      error = closedError{"the runtime is closed"}
)

type closedError struct{ text string }

func (e closedError) Error() string { return e.text }

func (closedError) Unwrap() error { return fs.ErrClosed }

// Graph is a graph of a runtime. The calls that read it hold a lease: its memory goes when it is
// closed and the last of them has ended. Safe for concurrent use.
type Graph struct {
	Runtime *Runtime
	Data    *graph.Graph

	leases Leases
	gone   func() // is called before the memory goes
}

// NewGraph returns a graph of a runtime. gone is called when the graph's memory is about to go.
func NewGraph(rt *Runtime, g *graph.Graph, gone func()) *Graph {
	return &Graph{Runtime: rt, Data: g, gone: gone}
}

// Lease is the hold of one call on the graphs that it reads.
type Lease struct {
	// Done, if not nil, says that there is a result that no later change of a file can touch.
	Done *bool

	graphs []*Graph
	held   []*Graph // those that no call around this one holds
	search bool     // it holds their runtimes, too
	faults bool     // what the goroutine did about faults before
	alone  *Runtime // held without a graph; nil: none
}

// leased is the key under which a context says that it belongs to a call on the graph.
type leased struct{ g *Graph }

// Enter takes a lease for a call on g. See the function Enter.
func (g *Graph) Enter(ctx *context.Context) (Lease, error) { return Enter(ctx, g) }

// Enter takes a lease for a call on graphs, or returns ErrGraphClosed or ErrClosed. Calls that are
// made with *ctx, which Enter replaces, share the lease: they do not fail when the graph is closed
// meanwhile. Until the lease ends, a fault of the calling goroutine in mapped memory is a panic.
func Enter(ctx *context.Context, graphs ...*Graph) (Lease, error) {
	l := Lease{graphs: graphs, search: true, faults: debug.SetPanicOnFault(true)}
	for _, g := range graphs {
		if (*ctx).Value(leased{g}) != nil {
			continue
		}
		if !g.Runtime.Leases.Take() {
			l.End()
			return Lease{}, ErrClosed
		}
		if !g.leases.Take() {
			_ = g.Runtime.Leave()
			l.End()
			return Lease{}, ErrGraphClosed
		}
		l.held = append(l.held, g)
		*ctx = context.WithValue(*ctx, leased{g}, true)
	}
	return l, nil
}

// Enter takes a lease for a call that reads no graph, or returns ErrClosed.
func (r *Runtime) Enter() (Lease, error) {
	if !r.Leases.Take() {
		return Lease{}, ErrClosed
	}
	return Lease{alone: r, faults: debug.SetPanicOnFault(true)}, nil
}

// Leave ends the lease; it is deferred. Where a graph's file turns out to be corrupt, or was
// changed during the call, *err says so, and the results, to which results points, become zero.
func (l Lease) Leave(err *error, results ...any) {
	defer l.End()
	x := recover()
	if x != nil || l.Done == nil || !*l.Done {
		if e := l.Damage(x); e != nil {
			*err, x = e, nil
		}
	}
	if x != nil {
		panic(x)
	}
	if errors.Is(*err, graph.ErrCorrupt) {
		*err = kind.With(kind.Input, *err)
		for _, r := range results {
			reflect.ValueOf(r).Elem().SetZero()
		}
	}
}

// Damage returns what is wrong with the file of one of the graphs after they were read. x is what
// a panic over it left, or nil.
func (l Lease) Damage(x any) error {
	for _, g := range l.graphs {
		if err := g.Data.Damage(x); err != nil {
			return kind.With(kind.Input, err)
		}
	}
	return nil
}

// End gives the lease back, and with the last one the memory of a closed graph, and what a closed
// runtime holds.
func (l Lease) End() {
	debug.SetPanicOnFault(l.faults)
	if l.alone != nil {
		_ = l.alone.Leave()
	}
	for _, g := range l.held {
		if g.leases.Give() {
			_ = g.free()
		}
		if l.search {
			_ = g.Runtime.Leave()
		}
	}
}

// Share takes a lease for a read without a search, also of a graph that was closed while another
// call holds it; false: its memory is gone.
func (g *Graph) Share() (Lease, bool) {
	if !g.leases.Share() {
		return Lease{}, false
	}
	return Lease{graphs: []*Graph{g}, held: []*Graph{g}, faults: debug.SetPanicOnFault(true)}, true
}

// Close lets no call begin, and frees the graph's memory, on GPUs as well, once the calls that hold
// a lease have ended: the last of them does it. Close waits for none of them. Closing twice does
// nothing.
func (g *Graph) Close() error {
	if g.leases.Close() {
		return g.free()
	}
	return nil
}

// free frees the graph's memory.
func (g *Graph) free() error {
	g.gone()
	return errors.Join(g.Runtime.Forget(g.Data), g.Data.Close())
}
