// Package split makes a stream of updates from a graph that does not change. Some edges are taken out of the graph and added
// again, and others are removed, as in the papers on continuous matching.
//
// RapidFlow, GCSM and DCSM draw the edges at random. The initial graph is the rest.
//
// It knows graphs and updates. It must not know files.
package split

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
)

// Spec says which updates are made.
type Spec struct {
	// Insert and Delete are the shares of the graph's edges that updates add and remove, from 0 to 1.
	Insert, Delete float64
	// ByTime adds the latest edges, in the order of their times. Otherwise edges and their order are random.
	ByTime bool
	Seed   uint64
	// Rate is the number of updates in a second. If it is not 0, updates have times of arrival, in microseconds since 1970.
	Rate float64
	// Poisson makes arrivals a Poisson process. Otherwise the time between them is always the same.
	Poisson bool
	// Batch is the number of updates that arrive together. 0 means 1.
	Batch int
	// Start is the time before the first arrival.
	Start int64
}

// ErrSpec means that a Spec is wrong, or does not fit the graph.
var ErrSpec = errors.New("these updates cannot be made")

// Split is a graph split into an initial graph and updates.
type Split struct {
	g       *graph.Graph
	spec    Spec
	rng     *rand.Rand
	chosen  []edge // in the order of the updates
	removed []uint64
	columns []string
}

// edge is an edge that an update is about.
type edge struct {
	id   uint64
	u, v uint32
	add  bool
}

// New draws the edges. The same graph and Spec give the same updates on every machine. The error wraps ErrSpec, or is the cause
// of ctx.
func New(ctx context.Context, g *graph.Graph, spec Spec) (*Split, error) {
	wrong := func(format string, a ...any) (*Split, error) {
		return nil, fmt.Errorf("%w: %s", ErrSpec, fmt.Sprintf(format, a...))
	}
	spec.Batch = max(spec.Batch, 1)
	timed := g.Edges != nil && g.Edges.Time != nil
	bad := func(x float64) bool { return !(x >= 0 && x <= 1) }
	switch {
	case bad(spec.Insert) || bad(spec.Delete) || spec.Insert+spec.Delete > 1:
		return wrong("the shares of edges to add and to remove are %v and %v; they are at least 0, and together at most 1", spec.Insert, spec.Delete)
	case spec.ByTime && !timed:
		return wrong("edges cannot be in the order of their times: the graph has no times")
	case spec.Rate != 0 && timed:
		return wrong("updates have the times of the graph's edges, and cannot have times of arrival too")
	case !(spec.Rate >= 0) || math.IsInf(spec.Rate, 0):
		return wrong("%v updates in a second", spec.Rate)
	}
	m := g.NumEdges()
	share := func(x float64) uint64 { return min(uint64(math.Round(x*float64(m))), m) }
	adds := share(spec.Insert)
	dels := min(share(spec.Delete), m-adds)
	s := &Split{g: g, spec: spec, rng: newRand(spec.Seed, 0), removed: make([]uint64, m/64+1)}
	if g.Edges != nil && g.Edges.Props != nil {
		for _, f := range g.Edges.Props.Schema().Fields() {
			s.columns = append(s.columns, f.Name)
		}
	}
	var added, deleted []edge
	if spec.ByTime {
		added = s.latest(adds)
		for _, e := range added {
			s.take(e.id)
		}
		adds = 0
	}
	left := m - uint64(len(added)) // edges that are not seen yet
	n, ended := 0, false
	g.EachEdge(func(id uint64, u, v uint32) bool {
		if n++; n&0xffff == 0 && ctx.Err() != nil {
			ended = true
			return false
		}
		if s.Added(id) {
			return true
		}
		if s.rng.Uint64N(left) < adds+dels {
			e := edge{id: id, u: u, v: v, add: s.rng.Uint64N(adds+dels) < adds}
			if e.add {
				s.take(id)
				added = append(added, e)
				adds--
			} else {
				deleted = append(deleted, e)
				dels--
			}
		}
		left--
		return true
	})
	if ended {
		return nil, context.Cause(ctx)
	}
	shuffle := func(es []edge) { s.rng.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] }) }
	if !spec.ByTime {
		s.chosen = append(added, deleted...)
		shuffle(s.chosen)
		return s, nil
	}
	shuffle(deleted)
	s.chosen = make([]edge, 0, len(added)+len(deleted))
	for a, d := added, deleted; len(a)+len(d) > 0; {
		if s.rng.IntN(len(a)+len(d)) < len(a) {
			s.chosen, a = append(s.chosen, a[0]), a[1:]
		} else {
			s.chosen, d = append(s.chosen, d[0]), d[1:]
		}
	}
	return s, nil
}

// newRand returns one of the independent generators of a seed.
func newRand(seed, number uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, number)) }

// latest returns the n latest edges, in the order of their times.
func (s *Split) latest(n uint64) []edge {
	t := s.g.Edges
	rows := make([]uint32, len(t.Time))
	for i := range rows {
		rows[i] = uint32(i)
	}
	slices.SortFunc(rows, func(x, y uint32) int { return cmp.Or(cmp.Compare(t.Time[x], t.Time[y]), cmp.Compare(x, y)) })
	es := make([]edge, 0, n)
	for _, r := range rows[uint64(len(rows))-n:] {
		es = append(es, edge{uint64(r), t.Src[r], t.Dst[r], true})
	}
	return es
}

func (s *Split) take(id uint64) { s.removed[id/64] |= 1 << (id % 64) }

// Added reports whether an edge of the graph is added by an update. Edges have the numbers of graph.EachEdge.
func (s *Split) Added(edge uint64) bool { return s.removed[edge/64]>>(edge%64)&1 != 0 }

// Initial returns the graph before the first update.
func (s *Split) Initial(ctx context.Context, threads int) (*graph.Graph, error) {
	return s.g.Without(ctx, s.Added, threads)
}

// Len returns the numbers of updates that add an edge and that remove one.
func (s *Split) Len() (adds, removes uint64) {
	for _, e := range s.chosen {
		if e.add {
			adds++
		}
	}
	return adds, uint64(len(s.chosen)) - adds
}

// Each calls yield with the updates, in their order, until it returns an error, which Each returns. The update is valid until yield
// returns.
func (s *Split) Each(ctx context.Context, yield func(*stream.Update) error) error {
	t := s.g.Edges
	clock := arrivals{rng: newRand(s.spec.Seed, 1), s: &s.spec}
	id := func(v uint32) dynamic.ID {
		if s.g.IDs.Numeric() {
			return dynamic.Num(uint64(s.g.IDs.Int(v)))
		}
		return dynamic.Text(s.g.IDs.String(v))
	}
	var u stream.Update
	for i, e := range s.chosen {
		if i&0xfff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		u = stream.Update{Op: stream.RemoveEdge, U: id(e.u), V: id(e.v), Properties: u.Properties[:0]}
		if e.add {
			u.Op = stream.AddEdge
		}
		if t != nil && t.Label != nil && t.Label[e.id] != graph.NoLabel {
			u.Label = s.g.EdgeLabels[t.Label[e.id]]
		}
		switch {
		case t != nil && t.Time != nil:
			u.Time, u.HasTime = t.Time[e.id], true
		case s.spec.Rate > 0:
			var err error
			if u.Time, err = clock.next(i); err != nil {
				return err
			}
			u.HasTime = true
		}
		if e.add {
			for c, name := range s.columns {
				x, err := value(t.Props.Column(c), int(e.id))
				if err != nil {
					return fmt.Errorf("property %s: %w", name, err)
				}
				if x.Kind() != dynamic.Null {
					u.Properties = append(u.Properties, stream.Property{Name: name, Value: x})
				}
			}
		}
		if err := yield(&u); err != nil {
			return err
		}
	}
	return nil
}

// arrivals gives updates their times of arrival.
type arrivals struct {
	rng *rand.Rand
	s   *Spec
	at  float64 // seconds since the start
}

// next returns the time of the i-th update, in microseconds since 1970.
func (a *arrivals) next(i int) (int64, error) {
	if i%a.s.Batch == 0 {
		switch batch := float64(a.s.Batch); {
		case a.s.Poisson: // so many updates come on average in a second, in batches
			a.at += a.rng.ExpFloat64() * batch / a.s.Rate
		default:
			a.at = float64(i/a.s.Batch) * batch / a.s.Rate
		}
	}
	if a.at*1e6 > math.MaxInt64/2 {
		return 0, fmt.Errorf("%w: a rate of %v updates in a second is too low for times in microseconds", ErrSpec, a.s.Rate)
	}
	return a.s.Start + int64(math.Round(a.at*1e6)), nil
}

// value returns a value of a column of properties.
func value(c arrow.Array, i int) (dynamic.Value, error) {
	if c.IsNull(i) {
		return dynamic.Value{}, nil
	}
	switch c := c.(type) {
	case *array.Int64:
		return dynamic.OfInt(c.Value(i)), nil
	case *array.Timestamp:
		return dynamic.OfInt(int64(c.Value(i))), nil
	case *array.Float64:
		return dynamic.OfFloat(c.Value(i)), nil
	case *array.Boolean:
		return dynamic.OfBool(c.Value(i)), nil
	case *array.String:
		return dynamic.OfString(c.Value(i)), nil
	}
	return dynamic.Value{}, fmt.Errorf("%w: updates cannot have values of type %s", ErrSpec, c.DataType())
}
