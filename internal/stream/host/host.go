// Package host finds the matches that updates of a graph add and remove, on all cores.
//
// A Matcher has watches: patterns with names, which can be added and dropped between batches. Apply makes the updates of a batch in a
// window of the changing graph. Then each update is matched at its own versions: what it adds at the version that it makes, and what it
// removes at the version before. So the answers do not depend on the size of batches or the number of workers.
//
// The plans are of package plan/delta. A table from the label of a changed edge and the labels of its ends leads to the nests
// that it may concern, so an update that concerns none costs little. The search goes level by level: the candidates of a level
// are an intersection of neighbour lists, and are kept as long as the vertices stay that they depend on.
//
// The package knows plans, changing graphs and updates. It must not know formats of updates, sinks or where updates come from.
package host

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/stream"
)

// Options are those of a Matcher.
type Options struct {
	Workers int // 0: as many as there are cores
}

// Emit says which changes a watch is about.
type Emit uint8

// Changes that a watch is about.
const (
	Both Emit = iota
	Added
	Removed
)

// String returns the keyword of the language.
func (e Emit) String() string { return [...]string{"BOTH", "ADDED", "REMOVED"}[e] }

func (e Emit) has(sign int8) bool { return e == Both || (e == Added) == (sign > 0) }

// WatchOptions are those of one watch.
type WatchOptions struct {
	Emit Emit
	// CountsOnly leaves out deltas: matches are counted and never listed.
	CountsOnly bool
}

// Edge is a data edge. The ends of an undirected one ascend. ID and Time are as in dynamic.Edge.
type Edge struct {
	From, To uint32
	Label    dynamic.Label
	ID       dynamic.EdgeID
	Time     int64
}

// Delta is a match that an update adds or removes.
type Delta struct {
	Seq   uint64 // the number of the update
	Watch int    // the number that Add returned
	Sign  int8   // 1: added; -1: removed
	// Vertices are those of the match, by vertex of the pattern. Dynamic.Graph.IDOf gives the users' ids, until the sink returns.
	Vertices []uint32
	// Edges are the data edges of the pattern's Choices: its named edges, or in mode trail all edges.
	Edges []Edge
}

// Sink takes deltas, in the order of Seq, then of Watch, and then in one that depends on nothing but the updates before. It must
// not keep the slice. Calls do not overlap. An error ends Apply.
type Sink interface {
	Emit(deltas []Delta) error
}

// Count is the number of matches that a batch added to and removed from one watch. Under iso these are subgraphs; embeddings are
// |Aut| times as many.
type Count struct {
	Watch          int
	Added, Removed engine.Uint128
}

// Result is what a batch did.
type Result struct {
	Updates  int // updates that were made
	Outcomes stream.Outcomes
	Counts   []Count // of the watches that changed, by number
	// Update is the time for changing the graph, and Match that for finding matches and giving them to the sink.
	Update, Match time.Duration
}

// Matcher matches the updates of one graph. Its methods must not overlap.
type Matcher struct {
	g       *dynamic.Graph
	n       int         // workers that are asked for
	workers []*searcher // at least these
	watches []*watch    // by number; nil: dropped
	offset  uint64      // of sequence numbers, before versions
	bound   bool        // the rest is right for the watches and the form
	form    form
	table   table
	lone    bool // there are watches of a single vertex
	values  bool // some watch looks at properties
	grain   grain
	run     run
	alone   piece // the only one of a small batch
}

// New returns a matcher of g. While it is in use, g must only change by Apply.
func New(g *dynamic.Graph, o Options) *Matcher {
	n := o.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	m := &Matcher{g: g, n: n, grain: coarse}
	m.run.m = m
	m.run.change.L = &m.run.mu
	for range n {
		m.workers = append(m.workers, newSearcher(m))
	}
	return m
}

// Add adds a watch, which is about updates from now on. Its number is not used again. The error is about a name that is in use, or
// a *plan.QueryError about the pattern.
func (m *Matcher) Add(name string, p *pattern.Pattern, o WatchOptions) (int, error) {
	if m.find(name) != nil {
		return 0, plan.Errorf("there is a watch %s already", name)
	}
	pl, err := delta.Compile(p, m.g.Directed())
	if err != nil {
		return 0, err
	}
	w := &watch{id: len(m.watches), name: name, plan: pl, o: o}
	w.compile()
	m.watches = append(m.watches, w)
	m.bound = false
	if err := m.bind(); err != nil {
		m.watches = m.watches[:w.id]
		m.bound = false
		return 0, err
	}
	return w.id, nil
}

// Drop removes a watch. The error says that there is none of this name.
func (m *Matcher) Drop(name string) error {
	w := m.find(name)
	if w == nil {
		return plan.Errorf("there is no watch %s", name)
	}
	m.watches[w.id] = nil
	m.bound = false
	return nil
}

// Plan returns the plan of a watch, or nil if there is none of this name.
func (m *Matcher) Plan(name string) *delta.Plan {
	if w := m.find(name); w != nil {
		return w.plan
	}
	return nil
}

func (m *Matcher) find(name string) *watch {
	for _, w := range m.watches {
		if w != nil && w.name == name {
			return w
		}
	}
	return nil
}

// SetSeq makes seq the number of the last update. Updates are numbered from there on, and from 1 on without a call.
func (m *Matcher) SetSeq(seq uint64) { m.offset = seq - m.g.Version() }

// Seq returns the number of the last update.
func (m *Matcher) Seq() uint64 { return m.g.Version() + m.offset }

// UpdateError is the error of an update that could not be made. Those before it in the batch were made and matched.
type UpdateError struct {
	Index int // in the batch
	Err   error
}

func (e *UpdateError) Error() string { return e.Err.Error() }

// Unwrap returns the error without its place.
func (e *UpdateError) Unwrap() error { return e.Err }

// Apply makes the updates of a batch, matches each, and gives the deltas to the sink, which may be nil. The error is an *UpdateError, that
// of the sink, or the cause of ctx. After an error of the last two kinds all updates were made, and the deltas of some are missing.
func (m *Matcher) Apply(ctx context.Context, batch []stream.Update, sink Sink) (Result, error) {
	return m.apply(ctx, len(batch), func(i int) (dynamic.Result, error) { return stream.Apply(m.g, &batch[i]) }, sink)
}

// apply makes n updates by do, and matches them.
func (m *Matcher) apply(ctx context.Context, n int, do func(i int) (dynamic.Result, error), sink Sink) (Result, error) {
	i := 0
	return m.Steps(ctx, func() (done dynamic.Result, ok bool, err error) {
		if ok = i < n; ok {
			done, err = do(i)
			i++
		}
		return done, ok, err
	}, sink)
}

// Steps is Apply of the updates that next makes, until ok is false. Each call makes one version of the graph, or returns an error and leaves
// the graph as it was.
func (m *Matcher) Steps(ctx context.Context, next func() (done dynamic.Result, ok bool, err error), sink Sink) (r Result, err error) {
	if err := context.Cause(ctx); err != nil {
		return r, err
	}
	start := time.Now()
	m.g.Begin()
	defer func() {
		matched := time.Now()
		m.g.Settle()
		r.Update += time.Since(matched)
	}()
	var failed error
	for {
		done, ok, err := next()
		if err != nil {
			failed = &UpdateError{r.Updates, err}
		}
		if err != nil || !ok {
			break
		}
		r.Updates++
		r.Outcomes.Add(done)
	}
	r.Update = time.Since(start)
	if err = m.bind(); err == nil {
		m.clear()
		err = m.match(ctx, sink)
	}
	r.Counts = m.counts()
	r.Match = time.Since(start) - r.Update
	if err != nil {
		return r, err
	}
	return r, failed
}

// Present gives a sink all matches of a watch in the graph as it is, as added ones, and returns their number. If sink is nil they
// are counted.
func (m *Matcher) Present(ctx context.Context, name string, sink Sink) (engine.Uint128, error) {
	w := m.find(name)
	if w == nil {
		return engine.Uint128{}, fmt.Errorf("there is no watch %s", name)
	}
	if err := m.bind(); err != nil {
		return engine.Uint128{}, err
	}
	return m.present(ctx, w, sink)
}

// watch is a pattern that is watched.
type watch struct {
	id   int
	name string
	plan *delta.Plan
	o    WatchOptions
	// forward says that an added edge only adds matches, and a removed one only removes some.
	forward bool
	degrees []int // vertices whose degrees count
	timed   []int // edges of the pattern that are searched for in a window of time

	// What follows changes with the classes and edge labels of the graph.
	allowed              [][]bool // by vertex, also those of EXISTS, and class; nil: all
	ranges               [][]dynamic.Range
	nests                []nest // as plan.Nests
	all                  nest
	pairs                []pair // as plan.Pairs
	inner                []pair // as plan.Inner
	subs                 map[*pattern.Pattern]*sub
	filters              [][]pattern.Expr // conditions on single edges
	vertexKeys, edgeKeys []bool           // by property: some condition looks at it
}

// compile finds what the plan has.
func (w *watch) compile() {
	w.forward = true
	for _, x := range w.plan.Pairs {
		for _, r := range x.Rels {
			w.forward = w.forward && !r.Neg
		}
	}
	for _, x := range w.plan.Where {
		w.forward = w.forward && !x.Distant
	}
	for i := range w.plan.Nests {
		if n := &w.plan.Nests[i]; n.Kind == delta.Degree {
			w.degrees = append(w.degrees, n.Order[0])
		}
	}
}
