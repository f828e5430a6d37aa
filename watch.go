package weft

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/watch"
)

// Watch is a graph that changes, with standing queries. Its methods must not overlap: one that begins while another is in progress, also in
// the body of a loop over changes, returns an error of kind ErrUsage.
type Watch struct {
	set    *watch.Set
	engine route.WatchChoice
	s      *setting.Settings
	times  stream.Times
	seq    uint64
	busy   atomic.Bool
}

// Watch copies the graph into one that changes, and watches the queries in it. A query may be a CREATE WATCH, which says what it emits, or any
// other query, for which all changes are reported. A changed match is listed with the names of the query's RETURN or, without RETURN, with
// all names. The graph itself stays as it is, and may be closed.
//
// Watch accepts the options WithEngine (auto, host, cached or pipeline), WithEngineOption of these, WithDevice and WithGPUMemory for the last two,
// WithThreads, WithMemory, WithParam, WithSemantics, WithInduced, WithProduct and WithList.
func (g *Graph) Watch(ctx context.Context, qs []*Query, options ...Option) (w *Watch, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Watch, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err)
	ctx, stop := memory.Watch(ctx, s.Memory)
	defer stop()
	w, err = newWatch(ctx, g, nil, s, 0)
	for _, q := range qs {
		if err == nil {
			err = w.add(q)
		}
	}
	if err != nil {
		if w != nil {
			_ = w.set.Close()
		}
		if cause := memory.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	return w, nil
}

// newWatch returns a watch of a copy of a graph or, if it is not nil, of what the graph became. At most batch updates are made together; 0: that
// is not known.
func newWatch(ctx context.Context, of *Graph, d *dynamic.Graph, s *setting.Settings, batch int) (w *Watch, err error) {
	g := of.s.Data
	if d == nil {
		d, err = dynamic.From(ctx, g)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, kind.With(kind.Query, err)
	}
	w = &Watch{s: s, times: stream.Times{Unit: g.Read.TimeUnit, Digits: int(g.Read.TimeDigits)}}
	unit := int64(0)
	if g.Read.TimeEpoch {
		unit = w.unit()
	}
	c, err := route.Watch(ctx, route.WatchRequest{
		Runtime: of.rt.r, Engine: s.Engine, Device: s.Device, Graph: d, Workers: s.Threads, Memory: s.Memory, GPUMemory: s.GPUMemory, Batch: batch,
		Switches: s.Switches,
	})
	if err != nil {
		return nil, search.Classify(err)
	}
	w.set, w.engine = watch.NewSet(d, c.Matcher, unit), c
	return w, nil
}

// enter takes the watch for a call. The caller calls leave after it.
func (w *Watch) enter() error {
	switch {
	case w == nil:
		return errNoWatch
	case !w.busy.CompareAndSwap(false, true):
		return errBusyWatch
	case w.set == nil:
		w.busy.Store(false)
		return errNoWatch
	}
	return nil
}

func (w *Watch) leave() { w.busy.Store(false) }

// The errors of a Watch that cannot be used.
var (
	errNoWatch   = kind.With(kind.Usage, errors.New("the watch is nil, zero or closed: Graph.Watch makes watches"))
	errBusyWatch = kind.With(kind.Usage, errors.New("the watch is in use: its calls must not overlap"))
)

// Add adds a query, which is about updates from now on. Present lists its matches so far.
func (w *Watch) Add(q *Query) (err error) {
	defer func() { err = public(err) }()
	if err := w.enter(); err != nil {
		return err
	}
	defer w.leave()
	return w.add(q)
}

func (w *Watch) add(q *Query) error {
	x, err := w.standing(q, false)
	if err != nil {
		return err
	}
	return kind.With(kind.Query, search.Classify(w.set.Add(x, false)))
}

// standing makes a standing query of q.
func (w *Watch) standing(q *Query, counts bool) (*watch.Query, error) {
	a := q.question(w.s)
	if a.Query == nil {
		return nil, public(kind.With(kind.Usage, errors.New("the query is nil or zero: Parse, ParseFile and PatternByName make queries")))
	}
	a.Standing = true
	p, err := a.Pattern()
	if err != nil {
		return nil, err
	}
	if p, err = pattern.SubstituteParams(p, w.s.Params); err != nil {
		return nil, kind.With(kind.Query, a.Placed(err))
	}
	query := *a.Query
	if query.Return.Items, err = a.Items(query.Return.Items); err != nil {
		return nil, kind.With(kind.Query, err)
	}
	x, err := watch.NewQuery(&query, p, counts)
	if err != nil {
		return nil, kind.With(kind.Query, err)
	}
	if l := w.s.Lists; l != nil {
		if *l == setting.Subgraphs && p.Mode != pattern.Iso {
			return nil, kind.With(kind.Query, fmt.Errorf("subgraphs are defined under iso only, not under %s", p.Mode))
		}
		x.Embeddings = *l == setting.Embeddings
	}
	return x, nil
}

// Drop removes a query by its name.
func (w *Watch) Drop(name string) (err error) {
	defer func() { err = public(err) }()
	if err := w.enter(); err != nil {
		return err
	}
	defer w.leave()
	return kind.With(kind.Usage, w.set.Drop(name))
}

// Close frees the memory. Later calls return an error of kind ErrUsage. Close must not be called during another call.
func (w *Watch) Close() error {
	if w == nil {
		return nil
	}
	if w.busy.Load() {
		return public(errBusyWatch)
	}
	if w.set == nil {
		return nil
	}
	err := public(search.Classify(w.set.Close()))
	w.set = nil
	return err
}

// UpdateOp is a kind of update.
type UpdateOp uint8

// Kinds of updates.
const (
	AddEdge      UpdateOp = iota // Edge; ends that the graph does not have become vertices without labels
	RemoveEdge                   // Edge; its ends stay
	AddVertex                    // Vertex
	RemoveVertex                 // Vertex, with its edges
	SetLabels                    // Vertex has exactly these labels from now on
	SetVertex                    // Vertex has its one property from now on, and keeps its others
	SetEdge                      // Edge has its one property from now on, and keeps its others
)

// Update is an update of a graph.
type Update struct {
	Op     UpdateOp
	Edge   Edge   // of updates of edges
	Vertex Vertex // of updates of vertices
}

// Change is a match that an update added or removed.
type Change struct {
	Seq    uint64 // the number of the update, from 1; 0 if the match was there before
	Query  string // the name of the query
	Added  bool   // false: removed
	fields []watch.Field
	values []any
}

// Columns returns the names of Values.
func (c Change) Columns() []string {
	out := make([]string, len(c.fields))
	for i, f := range c.fields {
		out[i] = f.Name
	}
	return out
}

// Values returns the values of Columns. They have the types of Match.Values; a vertex is its id. A match that was removed has the values from
// before its update.
func (c Change) Values() []any { return slices.Clone(c.values) }

// Value returns the value of a name, as Values has it. It returns nil for a name that the match does not have.
func (c Change) Value(name string) any {
	for i, f := range c.fields {
		if f.Name == name {
			return c.values[i]
		}
	}
	return nil
}

func newChange(c *watch.Change) Change {
	out := Change{Seq: c.Seq, Query: c.Query.Name, Added: c.Added, fields: c.Query.Fields}
	for _, f := range c.Query.Fields {
		switch f.Kind {
		case watch.VertexField:
			out.values = append(out.values, idValue(c.IDs[f.At]))
			continue
		case watch.ValueField:
			out.values = append(out.values, sink.GoValue(c.Values[f.At]))
			continue
		}
		e := c.Edges[f.At]
		x := Edge{Src: idValue(e.Src), Dst: idValue(e.Dst), Label: e.Label}
		switch {
		case e.HasTime && e.Unit > 0:
			x.Time = moment(e.Time, e.Unit)
		case e.HasTime:
			x.Time = e.Time
		}
		out.values = append(out.values, x)
	}
	return out
}

// moment is n units, in nanoseconds, after 1970.
func moment(n, unit int64) time.Time {
	if unit >= int64(time.Second) {
		return time.Unix(n*(unit/int64(time.Second)), 0).UTC()
	}
	perSecond := int64(time.Second) / unit
	return time.Unix(n/perSecond, n%perSecond*unit).UTC()
}

func idValue(id dynamic.ID) any {
	if x, ok := id.Number(); ok {
		return int64(x)
	}
	return id.String()
}

// work says what a GPU did, or is "".
func (w *Watch) work() string {
	if x, ok := w.engine.Matcher.(interface{ Work() string }); ok && x.Work() != "" {
		return "engine " + w.engine.Engine + ": " + x.Work()
	}
	return ""
}

// errLeft ends a loop that its body has left.
var errLeft = errors.New("the loop was left")

// changes is a sequence of what do emits.
func (w *Watch) changes(ctx context.Context, do func(ctx context.Context, emit func(*watch.Change) error) error) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		err := w.enter()
		if err == nil {
			defer w.leave()
			ctx, stop := memory.Watch(ctx, w.s.Memory)
			defer stop()
			err = do(ctx, func(c *watch.Change) error {
				if !yield(newChange(c), nil) {
					return errLeft
				}
				return nil
			})
			if cause := memory.Cause(ctx); err != nil && cause != nil {
				err = cause
			}
		}
		if err != nil && !errors.Is(err, errLeft) {
			err = search.Classify(err)
			ends(ctx, &err)
			yield(Change{}, err)
		}
	}
}

// Apply makes updates, and yields the matches that each of them adds or removes: in the order of the updates, then of the queries. The
// updates are made when the loop begins. The updates that the loop gets have the numbers after those of earlier loops. If the loop is left,
// the rest of the changes is not reported. An error is about an update, with its number, or about the context: the updates before it were
// made, and the others were not.
//
// An update that changes nothing is not an error: an edge that the graph has is added, one that it does not have is removed, or the ends of
// an edge are one vertex.
func (w *Watch) Apply(ctx context.Context, updates ...Update) iter.Seq2[Change, error] {
	return w.changes(ctx, func(ctx context.Context, emit func(*watch.Change) error) error {
		us := make([]stream.Update, len(updates))
		for i := range updates {
			var err error
			if us[i], err = w.update(&updates[i]); err != nil {
				return kind.With(kind.Input, fmt.Errorf("update %d: %w", w.seq+uint64(i)+1, err))
			}
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		made, err := w.set.Apply(ctx, w.seq, us, emit)
		w.seq += uint64(made.Updates)
		if err != nil && made.Updates < len(us) && ctx.Err() == nil && !errors.Is(err, errLeft) {
			return kind.With(kind.Input, fmt.Errorf("update %d: %w", w.seq+1, err))
		}
		return err
	})
}

// Present yields the matches of a query in the present graph, as added ones. Their number is that of the last update.
func (w *Watch) Present(ctx context.Context, name string) iter.Seq2[Change, error] {
	return w.changes(ctx, func(ctx context.Context, emit func(*watch.Change) error) error {
		for i, q := range w.set.Queries() {
			if q != nil && q.Name == name {
				return w.set.Present(ctx, i, w.seq, emit)
			}
		}
		return kind.With(kind.Usage, fmt.Errorf("no query is called %s", name))
	})
}

// update is u in ids of the graph.
func (w *Watch) update(u *Update) (out stream.Update, err error) {
	ops := [...]stream.Op{stream.AddEdge, stream.RemoveEdge, stream.AddVertex, stream.RemoveVertex, stream.SetLabels, stream.SetProperty, stream.SetEdgeProperty}
	if int(u.Op) >= len(ops) {
		return out, fmt.Errorf("there is no kind of update %d", u.Op)
	}
	out.Op = ops[u.Op]
	props := u.Vertex.Properties
	if out.Op.OfEdge() {
		props = u.Edge.Properties
		if out.U, err = w.id(u.Edge.Src); err != nil {
			return out, err
		}
		if out.V, err = w.id(u.Edge.Dst); err != nil {
			return out, err
		}
		out.Label = u.Edge.Label
		if u.Edge.Time != nil {
			out.HasTime = true
			if out.Time, err = w.time(u.Edge.Time); err != nil {
				return out, err
			}
		}
	} else {
		if out.U, err = w.id(u.Vertex.ID); err != nil {
			return out, err
		}
		out.Labels = u.Vertex.Labels
	}
	for name, x := range props {
		v, err := propertyValue(x)
		if err != nil {
			return out, fmt.Errorf("property %s: %w", name, err)
		}
		out.Properties = append(out.Properties, stream.Property{Name: name, Value: v})
	}
	return out, nil
}

// id is a vertex id of the graph's kind.
func (w *Watch) id(x any) (dynamic.ID, error) {
	text := w.set.Graph().TextIDs()
	if s, ok := x.(string); ok {
		if !text {
			return dynamic.ID{}, fmt.Errorf("the vertex id %q is a text, and the graph's ids are numbers", s)
		}
		return dynamic.Text(s), nil
	}
	n, ok := integer(x)
	switch {
	case !ok:
		return dynamic.ID{}, fmt.Errorf("the vertex id %v is a %T, and not an integer or a string", x, x)
	case text:
		return dynamic.ID{}, fmt.Errorf("the vertex id %d is a number, and the graph's ids are texts", n)
	case n < 0:
		return dynamic.ID{}, fmt.Errorf("the vertex id %d is negative", n)
	}
	return dynamic.Num(uint64(n)), nil
}

// integer is x as an int64, if it is an integer that fits.
func integer(x any) (int64, bool) {
	switch x := x.(type) {
	case int:
		return int64(x), true
	case int8:
		return int64(x), true
	case int16:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case uint8:
		return int64(x), true
	case uint16:
		return int64(x), true
	case uint32:
		return int64(x), true
	case uint:
		return int64(x), uint64(x) <= math.MaxInt64
	case uint64:
		return int64(x), x <= math.MaxInt64
	}
	return 0, false
}

// time is a time in the graph's unit.
func (w *Watch) time(x any) (int64, error) {
	if n, ok := integer(x); ok {
		return n, nil
	}
	t, ok := x.(time.Time)
	if !ok {
		return 0, fmt.Errorf("the time %v is a %T, and not an integer or a time.Time", x, x)
	}
	unit := w.unit()
	if unit == 0 {
		return 0, errors.New("the unit of the graph's times is not known: give times as integers")
	}
	return t.UnixNano() / unit, nil
}

// unit is that of the graph's times in nanoseconds, or 0 if it is not known or smaller.
func (w *Watch) unit() int64 {
	unit := w.times.Unit
	for range w.times.Digits {
		unit /= 10
	}
	return unit
}

func propertyValue(x any) (v dynamic.Value, err error) {
	if n, ok := integer(x); ok {
		return dynamic.OfInt(n), nil
	}
	switch x := x.(type) {
	case nil:
	case string:
		v = dynamic.OfString(x)
	case bool:
		v = dynamic.OfBool(x)
	case float64:
		v = dynamic.OfFloat(x)
	case float32:
		v = dynamic.OfFloat(float64(x))
	default:
		err = fmt.Errorf("%v is a %T, and not an integer, a float, a bool or a string", x, x)
	}
	return v, err
}
