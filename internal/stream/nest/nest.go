// Package nest binds delta plans to a graph that changes, for the matchers of streams.
//
// Watches has patterns with names, which can be added and dropped between batches. Each has a delta plan. Bind gives the plan the
// numbers that the graph has for labels, and the ranges of ids that its classes have. A Table leads from the label of a changed edge and
// the classes of its ends to the nests that the edge may concern.
//
// The package says what a matcher is and what it answers: signed matches, each with the number of its update.
//
// The package knows plans and changing graphs. It must not know how nests are searched, or on which device.
package nest

import (
	"context"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/stream"
)

// Matcher matches the updates of one graph. While it is in use, the graph must only change by Steps. Its methods must not overlap.
type Matcher interface {
	// Add adds a watch, which is about updates from now on. Its number is not used again. The error is about a name that is in
	// use, or a *plan.QueryError about the pattern.
	Add(name string, p *pattern.Pattern, o WatchOptions) (int, error)
	// Drop removes a watch. The error says that there is none of this name.
	Drop(name string) error
	// Plan returns the plan of a watch, or nil if there is none of this name.
	Plan(name string) *delta.Plan
	// SetSeq makes seq the number of the last update. Updates are numbered from there on, and from 1 on without a call.
	SetSeq(seq uint64)
	// Seq returns the number of the last update.
	Seq() uint64
	// Steps makes the updates of a batch by calls of next, until ok is false, matches each, and gives the deltas to the sink, which may be nil.
	// Each call of next makes one version of the graph, or returns an error and leaves the graph as it was. The error is an
	// *UpdateError, that of the sink, the cause of ctx, or one about a device. After an error of another kind than the first all updates
	// were made, and the deltas of some are missing.
	Steps(ctx context.Context, next func() (done dynamic.Result, ok bool, err error), sink Sink) (Result, error)
	// Present gives a sink all matches of a watch in the graph as it is, as added ones, and returns their number. If sink is nil they
	// are counted.
	Present(ctx context.Context, name string, sink Sink) (engine.Uint128, error)
	// Close gives back what the matcher holds outside of the Go heap. The matcher must not be used afterwards.
	Close() error
}

// Batcher is a Matcher that makes the updates of a batch by itself, which may be faster than by Steps.
type Batcher interface {
	Matcher
	// Apply makes and matches updates as Steps does. Each makes one version of the graph, as stream.Apply makes it.
	// It may put off changes that no watch looks at. Result.Outcomes leaves these out.
	Apply(ctx context.Context, batch []stream.Update, sink Sink) (Result, error)
	// Late makes the changes that were put off, and returns what all those did that were put off and made since the last call.
	Late() stream.Outcomes
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

func (e Emit) Has(sign int8) bool { return e == Both || (e == Added) == (sign > 0) }

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

// Reading is a Sink that may read lists of the graph at a delta's version. A matcher may otherwise change lists before their versions, where no
// delta depends on them.
type Reading interface {
	Sink
	ReadsLists() bool
}

// Following is a Sink that is told how far the deltas are.
type Following interface {
	Sink
	// Answered says that the sink has got all deltas of the updates up to a number. Numbers ascend, and some are left out.
	Answered(seq uint64)
}

// Count is the number of matches that a batch added to and removed from one watch. Under iso these are subgraphs; embeddings are
// |Aut| times as many.
type Count struct {
	Watch          int
	Added, Removed engine.Uint128
}

// Result is what a batch did.
type Result struct {
	Updates  int             // updates that were made
	Outcomes stream.Outcomes // without those of changes that were put off
	Counts   []Count         // of the watches that changed, by number
	// Update is the time for changing the graph, and Match that for finding matches and giving them to the sink. Together they are the time of the
	// batch. One worker may measure a part of the updates, so that only sums over many of them mean something.
	Update, Match time.Duration
}

// UpdateError is the error of an update that could not be made. Those before it in the batch were made and matched.
type UpdateError struct {
	Index int // in the batch
	Err   error
}

func (e *UpdateError) Error() string { return e.Err.Error() }

// Unwrap returns the error without its place.
func (e *UpdateError) Unwrap() error { return e.Err }

// Watch is a pattern that is watched.
type Watch struct {
	ID      int
	Name    string
	Plan    *delta.Plan
	Options WatchOptions
	// forward says that an added edge only adds matches, and a removed one only removes some.
	Forward bool
	Degrees []int // vertices whose degrees count
	Alone   bool  // a vertex that comes makes or breaks matches without an edge
	Timed   []int // edges of the pattern that are searched for in a window of time

	// What follows changes with the classes and edge labels of the graph.
	Allowed              [][]bool // by vertex, also those of EXISTS, and class; nil: all
	Ranges               [][]dynamic.Range
	Nests                []Nest // as plan.Nests
	All                  Nest
	Every                Nest   // finds all matches as All does, to compare two versions
	Pairs                []Pair // as plan.Pairs
	Inner                []Pair // as plan.Inner
	Subs                 map[*pattern.Pattern]*Sub
	Filters              [][]pattern.Expr // conditions on single edges
	VertexKeys, EdgeKeys []bool           // by property: some condition looks at it
}

// compile finds what the plan has.
func (w *Watch) compile() {
	w.Forward, w.Alone = true, w.Plan.Alone
	for _, x := range w.Plan.Pairs {
		for _, r := range x.Rels {
			w.Forward = w.Forward && !r.Neg
		}
	}
	for _, x := range w.Plan.Where {
		w.Forward = w.Forward && !x.Distant
	}
	for i := range w.Plan.Nests {
		switch n := &w.Plan.Nests[i]; n.Kind {
		case delta.Degree:
			w.Degrees = append(w.Degrees, n.Order[0])
		case delta.Lone:
			w.Alone = true
		}
	}
}

// Watches are patterns that are watched on one graph.
type Watches struct {
	List   []*Watch // by number; nil: dropped
	Table  Table
	Alone  bool // some watch looks at vertices that come
	Values bool // some watch looks at properties

	g     *dynamic.Graph
	bound bool // the rest is right for the watches and the form
	form  form
}

// NewWatches returns the watches of a graph: none.
func NewWatches(g *dynamic.Graph) *Watches { return &Watches{g: g} }

// Add adds a watch. Its number is not used again. The error is about a name that is in use, or a *plan.QueryError about the pattern.
func (x *Watches) Add(name string, p *pattern.Pattern, o WatchOptions) (*Watch, error) {
	if x.Find(name) != nil {
		return nil, plan.Errorf("there is a watch %s already", name)
	}
	pl, err := delta.Compile(p, x.g.Directed())
	if err != nil {
		return nil, err
	}
	w := &Watch{ID: len(x.List), Name: name, Plan: pl, Options: o}
	w.compile()
	x.List = append(x.List, w)
	x.Unbind()
	return w, nil
}

// Undo takes back the last Add.
func (x *Watches) Undo() {
	x.List = x.List[:len(x.List)-1]
	x.Unbind()
}

// Drop removes a watch. The error says that there is none of this name.
func (x *Watches) Drop(name string) error {
	w := x.Find(name)
	if w == nil {
		return plan.Errorf("there is no watch %s", name)
	}
	x.List[w.ID] = nil
	x.Unbind()
	return nil
}

// Find returns the watch of a name, or nil.
func (x *Watches) Find(name string) *Watch {
	for _, w := range x.List {
		if w != nil && w.Name == name {
			return w
		}
	}
	return nil
}

// Plan returns the plan of a watch, or nil if there is none of this name.
func (x *Watches) Plan(name string) *delta.Plan {
	if w := x.Find(name); w != nil {
		return w.Plan
	}
	return nil
}

// IsTime reports whether a property of edges is their time.
func IsTime(g *dynamic.Graph, key string) bool {
	_, other := KeyOf(g.EdgeColumns(), key)
	return g.Timed() && !other && (key == "" || slices.Contains((&graph.Graph{Read: g.Read}).TimeKeys(), key))
}

// KeyOf returns the number of a property, and whether there is one of this name.
func KeyOf(columns []dynamic.Column, name string) (dynamic.Key, bool) {
	i := slices.IndexFunc(columns, func(c dynamic.Column) bool { return c.Name == name })
	return dynamic.Key(max(i, 0)), i >= 0
}
